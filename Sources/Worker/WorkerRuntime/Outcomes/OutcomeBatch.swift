import Delivery
import Kafka
import PushModel

/// Records that wait for the next commit: final results, dead letters and requests that have to wait, one behind another in pieces of memory.
///
/// A batch is handed to the committer and comes back, to be emptied and filled again. Under load it has thousands of records, and how many
/// goes by how long the last commit took. One block of memory for all of them would be copied whenever it grows, and would be twice as
/// large as what it holds.
struct OutcomeBatch: Sendable {
    /// The destination of a record.
    enum Destination: Sendable, Equatable {
        case results, deadLetters
        /// A delay lane, by its place in `DelayLanes.lengths`.
        case delay(Int)
        /// The same for a telemetry poll. Those of one commit stay together.
        case poll(Int)
        /// A partition of the topic of held requests.
        case held(Int32)
        /// Our own lane, where parts of requests are spread by this number.
        case own(UInt32)
        /// A partition of the topic of parents.
        case parents(Int32)
        /// The topic of dead handles.
        case handles

        /// The topic itself.
        var topic: CommitTopic {
            switch self {
            case .results: .results
            case .deadLetters: .deadLetters
            case .delay(let lane), .poll(let lane): .delay(lane)
            case .held: .held
            case .own: .own
            case .parents: .parents
            case .handles: .handles
            }
        }

        /// True if workers read it back.
        var isReadBack: Bool {
            switch self {
            case .delay, .poll, .held, .own, .parents: true
            case .results, .deadLetters, .handles: false
            }
        }
    }

    /// The consumed record whose outcome a record is.
    struct Origin: Sendable, Hashable {
        /// The partition's slot in the assignment.
        var slot: Int
        var offset: Int64
    }

    /// The marks that set a consumed record apart from another at its offset, beside its request's id.
    struct Source: Sendable, Equatable {
        /// The time when it was published.
        var time: Timestamp
        /// The bytes of its value.
        var byteCount: Int
        /// The identity of the request's id, or nil if the record's key is the id.
        var id: RequestIdentity?
    }

    /// One record, as places in one of the batch's pieces.
    struct Record: Sendable {
        var destination: Destination
        var origin: Origin
        /// The piece that holds it.
        var piece: Int
        var key: Range<Int>?
        var value: Range<Int>?
        var headers: Range<Int>
        /// The place where the headers begin that were added to those of the record's origin.
        var ownHeaders: Int
        /// That of its origin, if it is the result or the history of a request that a device may have heard of.
        var source: Source?
    }

    /// One header of a record.
    typealias Header = HeaderList.Place

    private(set) var records: [Record] = []
    private(set) var headers: [Header] = []
    /// Those up to `current` hold records. The others are room.
    private var pieces = [ByteWriter()]
    private var current = 0
    /// The bytes in the pieces before `current`.
    private var earlierByteCount = 0
    /// The place in the current piece where the text begins that its records share, if it is there.
    private var sharedText: Int?

    /// The bytes of a piece, 256 KiB. More where one record needs them.
    private static let pieceSize = 256 << 10
    /// The next record begins another piece behind so many bytes: most find room for all of theirs.
    private static let fullPiece = pieceSize - (16 << 10)
    /// The number of pieces that an empty batch keeps: 8 MiB.
    private static let mostKept = 32

    /// The bytes of all records.
    var byteCount: Int { earlierByteCount + pieces[current].count }

    /// Finished records that may wait for the commit before them.
    private static let maximumCount = 16_384

    /// True if there is room for more, in a batch of `mostBytes`.
    func hasRoom(mostBytes: Int) -> Bool { records.count < Self.maximumCount && byteCount < mostBytes }

    var isEmpty: Bool { records.isEmpty }

    /// The final results and dead letters among the records.
    var resultCount: Int { records.count { $0.destination == .results || $0.destination == .deadLetters } }

    /// Bytes of one of its records.
    @_lifetime(borrow self)
    borrowing func span(_ range: Range<Int>, of record: Record) -> Span<UInt8> {
        let piece = pieces[record.piece]
        // The batch holds the piece, too, and changes none while it is borrowed.
        return _overrideLifetime(piece.span.extracting(range), borrowing: self)
    }

    /// The headers of one of its records.
    borrowing func headers(of record: Record) -> HeaderList {
        let piece = pieces[record.piece]
        return HeaderList(headers.span.extracting(record.headers), of: piece.span)
    }

    /// Forgets the records. A batch that had grown far beyond the usual gives room back.
    mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        headers.removeAll(keepingCapacity: true)
        if pieces.count > Self.mostKept { pieces.removeLast(pieces.count - Self.mostKept) }
        for index in pieces.indices {
            if pieces[index].room.count > 2 * Self.pieceSize { pieces[index] = ByteWriter() } else { pieces[index].removeAll() }
        }
        current = 0
        earlierByteCount = 0
        sharedText = nil
    }

    /// Goes on to another piece if the current one is full.
    private mutating func findRoom() {
        guard pieces[current].count > Self.fullPiece else { return }
        earlierByteCount += pieces[current].count
        current += 1
        sharedText = nil
        if current == pieces.count { pieces.append(ByteWriter(capacity: Self.pieceSize)) }
    }

    /// Appends a record, whose parts `write` adds. Returns what `write` does.
    mutating func add<Result>(_ destination: Destination, of origin: Origin, write: (inout Builder) -> Result) -> Result {
        var builder = begin()
        let result = write(&builder)
        end(&builder, for: destination, of: origin)
        return result
    }

    /// Begins a record, for which `end` must be called before another one. This is for results: a closure copies all that it is lent.
    mutating func begin() -> Builder {
        findRoom()
        var builder = Builder(firstHeader: headers.count)
        builder.sharedText = sharedText
        swap(&builder.headers, &headers)
        swap(&builder.bytes, &pieces[current])
        return builder
    }

    /// Appends the record that was begun.
    mutating func end(_ builder: inout Builder, for destination: Destination, of origin: Origin) {
        if NextFormat.isOn, destination.isReadBack { builder.addHeader("pushfan-format") { $0.append("2") } }
        sharedText = builder.sharedText
        swap(&builder.headers, &headers)
        swap(&builder.bytes, &pieces[current])
        records.append(
            Record(
                destination: destination, origin: origin, piece: current, key: builder.key, value: builder.value,
                headers: builder.firstHeader..<headers.count, ownHeaders: builder.ownHeaders, source: builder.source))
    }

    /// True if a record is a large dead letter that still has more than what says where its record stands.
    private func canBeCut(_ record: Record) -> Bool {
        record.destination == .deadLetters && byteCount(of: record) > 256 << 10
            && (record.key != nil || record.value != nil || record.headers.lowerBound < record.ownHeaders)
    }

    /// Leaves of each large dead letter only what says where its record stands, because the broker finds the whole too large.
    /// Returns how many were cut.
    @discardableResult
    mutating func cutLargeDeadLetters() -> Int {
        var count = 0
        for index in records.indices where canBeCut(records[index]) {
            let record = records[index]
            let byteCount = byteCount(of: record)
            count += 1
            let start = headers.count
            headers += headers[record.ownHeaders..<record.headers.upperBound]
            let name = pieces[record.piece].count
            pieces[record.piece].append(DeadLetterHeader.cutBytes.name)
            let value = pieces[record.piece].count
            pieces[record.piece].append(decimal: byteCount)
            let end = pieces[record.piece].count
            headers.append(Header(name: name..<value, value: value..<end))
            if record.piece < current { earlierByteCount += end - name }
            records[index] = Record(
                destination: .deadLetters, origin: record.origin, piece: record.piece, key: nil, value: nil,
                headers: start..<headers.count,
                ownHeaders: start)
        }
        return count
    }

    /// The bytes of a record: key, value and headers.
    func byteCount(of record: Record) -> Int {
        (record.key?.count ?? 0) + (record.value?.count ?? 0)
            + headers[record.headers].reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
    }

    /// Appends the records of another batch.
    mutating func append(contentsOf other: borrowing OutcomeBatch) {
        for record in other.records { append(record, of: other) }
    }

    /// The units of the batch, in the order of partitions and offsets.
    func units() -> [CommitUnit] {
        let order = records.indices.sorted {
            let (first, second) = (records[$0].origin, records[$1].origin)
            return (first.slot, first.offset, $0) < (second.slot, second.offset, $1)
        }
        var units: [CommitUnit] = []
        for index in order {
            let record = records[index]
            let id = CommitUnit.ID(slot: record.origin.slot, offset: record.origin.offset)
            if units.last?.id != id { units.append(CommitUnit(id)) }
            let last = units.count - 1
            units[last].places.append(index)
            units[last].byteCount += byteCount(of: record)
            units[last].topics.insert(record.destination.topic)
            if canBeCut(record) { units[last].canBeCut = true }
        }
        return units
    }

    /// Takes records out by their places in `records`, and returns them.
    mutating func remove(_ places: Set<Int>) -> OutcomeBatch {
        var taken = OutcomeBatch()
        var rest = OutcomeBatch()
        for index in records.indices {
            if places.contains(index) { taken.append(records[index], of: self) } else { rest.append(records[index], of: self) }
        }
        self = rest
        return taken
    }

    /// Copies some of the records by their places in `records`.
    func copy(of places: [Int]) -> OutcomeBatch {
        var copy = OutcomeBatch()
        for place in places { copy.append(records[place], of: self) }
        return copy
    }

    /// Says that the partition of the records' origins has another slot.
    mutating func move(to slot: Int) {
        for index in records.indices { records[index].origin.slot = slot }
    }

    private mutating func append(_ record: Record, of other: borrowing OutcomeBatch) {
        findRoom()
        var copy = record
        copy.piece = current
        copy.key = record.key.map { append(other.span($0, of: record)) }
        copy.value = record.value.map { append(other.span($0, of: record)) }
        copy.headers = headers.count..<headers.count + record.headers.count
        copy.ownHeaders = headers.count + record.ownHeaders - record.headers.lowerBound
        for index in record.headers {
            let header = other.headers[index]
            let name = append(other.span(header.name, of: record))
            headers.append(Header(name: name, value: header.value.map { append(other.span($0, of: record)) }))
        }
        records.append(copy)
    }

    private mutating func append(_ span: Span<UInt8>) -> Range<Int> {
        let start = pieces[current].count
        pieces[current].append(span)
        return start..<pieces[current].count
    }

    /// The parts of one record under construction.
    struct Builder {
        let firstHeader: Int
        /// The place where the headers begin that are not copied. The builder sets it.
        fileprivate(set) var ownHeaders: Int
        var key: Range<Int>?
        var value: Range<Int>?
        var source: Source?
        fileprivate(set) var headers: [Header] = []
        /// The piece that the record is written to. The value's bytes may be appended to it.
        var bytes = ByteWriter()
        fileprivate var sharedText: Int?

        fileprivate init(firstHeader: Int) {
            self.firstHeader = firstHeader
            ownHeaders = firstHeader
        }

        /// Says that all headers of the record's origin are copied.
        mutating func beginOwnHeaders() { ownHeaders = headers.count }

        mutating func setKey(_ write: (inout ByteWriter) -> Void) { key = append(write) }

        mutating func setValue<Result>(_ write: (inout ByteWriter) -> Result) -> Result {
            let start = bytes.count
            let result = write(&bytes)
            value = start..<bytes.count
            return result
        }

        mutating func addHeader(_ name: StaticString, write: (inout ByteWriter) -> Void) {
            let name = append { $0.append(name) }
            headers.append(Header(name: name, value: append(write)))
        }

        /// The place where `text` begins in the piece, which holds it once for all its records: names and values of headers can
        /// point into it. All records of a batch that ask must ask for the same.
        mutating func share(_ text: Span<UInt8>) -> Int {
            if let start = sharedText { return start }
            let start = bytes.count
            bytes.append(text)
            sharedText = start
            return start
        }

        /// Adds a header whose name, and value if it is not given, stand in the shared text, which begins at `start`.
        mutating func addHeader(_ shared: Header, from start: Int, value: Range<Int>? = nil) {
            let own = value ?? shared.value.map { $0.lowerBound + start..<$0.upperBound + start }
            headers.append(Header(name: shared.name.lowerBound + start..<shared.name.upperBound + start, value: own))
        }

        /// Adds a header whose name stands in the shared text, which begins at `start`.
        mutating func addHeader(_ shared: Header, from start: Int, write: (inout ByteWriter) -> Void) {
            addHeader(shared, from: start, value: append(write))
        }

        /// Copies a header as it was received.
        mutating func copyHeader(_ name: Span<UInt8>, value: Span<UInt8>?) {
            let nameStart = bytes.count
            bytes.append(name)
            let nameRange = nameStart..<bytes.count
            guard let value else {
                headers.append(Header(name: nameRange, value: nil))
                return
            }
            let start = bytes.count
            bytes.append(value)
            headers.append(Header(name: nameRange, value: start..<bytes.count))
        }

        mutating func copyKey(_ span: Span<UInt8>) {
            let start = bytes.count
            bytes.append(span)
            key = start..<bytes.count
        }

        mutating func copyValue(_ span: Span<UInt8>) {
            let start = bytes.count
            bytes.append(span)
            value = start..<bytes.count
        }

        private mutating func append(_ write: (inout ByteWriter) -> Void) -> Range<Int> {
            let start = bytes.count
            write(&bytes)
            return start..<bytes.count
        }
    }
}
