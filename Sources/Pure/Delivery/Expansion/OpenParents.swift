import Basics
public import PushModel

/// The large requests of one partition of the topic of parents whose parts have not all ended: what is in the log, summed up.
///
/// It gets every record of the partition from the committed position on, and says when the last part of a request has ended. Two numbers
/// make it exact across restarts; the transaction that writes the results commits both. They are `lowWaterMark`, before which everything
/// belongs to requests that are finished, and `position`, up to which everything was taken into account. A request whose last part stands
/// before the committed position was finished by the transaction that committed it. Reading it once more, between its parent record and
/// the tombstones, must not finish it again. The exceptions are those that the transaction left out; the position names them by the digests
/// of their keys.
///
/// Where the group has no position, or lost what was read, nothing says what is finished but the records themselves: a request was finished
/// by the transaction that deleted its record. So up to where the partition ended then, `unknownBefore`, a request whose parts have all
/// ended is finished only when all of that was read and its record is still there.
///
/// For each open request it keeps its record and a bit for each of its parts. `byteCount` says what they take.
public struct OpenParents: Sendable {
    /// A request whose parts have all ended.
    public struct Finished: Sendable {
        /// Its key.
        public let key: ParentKey
        /// Its record's value.
        public let record: [UInt8]
        /// The place of its record.
        public let offset: Int64
        /// The time of its record.
        public let timestamp: Timestamp
        /// The number of parts that it had.
        public let chunks: Int
        /// The sum of what they came to.
        public let totals: PartTotals
    }

    private struct Open: Sendable {
        let record: [UInt8]
        let offset: Int64
        let timestamp: Timestamp
        let chunks: Int
        /// The offset of the record that ended it, while it is unknown whether it is finished.
        var end: Int64?
        var totals = PartTotals()
        /// A bit for each part that was counted.
        var counted: [UInt64]

        /// The memory that it takes under a key, about.
        func byteCount(under key: ParentKey) -> Int {
            OpenParents.fixedByteCount + key.text.utf8.count + record.count + counted.count * MemoryLayout<UInt64>.stride
                + totals.notSent.count * MemoryLayout<Int>.stride
        }

        /// Counts a part in. Returns the memory that it takes more now, or nil if the part was counted before.
        mutating func count(_ tally: PartTally) -> Int? {
            guard (0..<chunks).contains(tally.chunk) else { return nil }
            let (word, bit) = (tally.chunk / 64, UInt64(1) << UInt64(tally.chunk % 64))
            guard counted[word] & bit == 0 else { return nil }
            counted[word] |= bit
            let named = totals.notSent.count
            totals.add(tally)
            return (totals.notSent.count - named) * MemoryLayout<Int>.stride
        }
    }

    /// The memory of an open request beside what is as long as it likes: its places in lists that are up to three times as long as they
    /// need be, and the heads of its own. 1 KiB.
    public static let fixedByteCount = 1024

    /// The open requests.
    private var open: [ParentKey: Open] = [:]
    /// The memory that they take, about.
    public private(set) var byteCount = 0
    /// They and some that are open no more, in the order of their records. The first is open.
    private var order = FIFO<(offset: Int64, key: ParentKey)>()
    /// Up to where requests were finished by whoever had the partition before, but for those that were left out and have not ended again.
    private let finishedBefore: Int64
    /// Up to where it is unknown, from there on, which requests were finished.
    private let unknownBefore: Int64
    /// Those that have ended between the two, in the order of their last parts, and some whose records were deleted since. The
    /// first was not.
    private(set) var doubtful = FIFO<(offset: Int64, key: ParentKey)>()
    private var leftOut: Set<UInt64> = []
    /// The requests that have ended and are not committed, by the offset of the record that ended each: the digest of its key,
    /// and from where on it must be read again without a commit.
    private var unrecorded: [Int64: (digest: UInt64, from: Int64)] = [:]
    /// Those of them that are being committed.
    private var beingCommitted: [Int64] = []
    /// Behind the last record that ended something which is committed.
    private var recordedBefore = Int64.min
    private let start: Int64
    /// The offset behind the last record that was read.
    private var readTo: Int64
    /// The offset behind the last record that was taken into account, by whoever had the partition before too.
    public private(set) var position: Int64
    /// The latest time of a record that was taken in, by whoever had the partition before too, or nil if that is
    /// unknown.
    var latest: Timestamp?

    /// No request is open.
    ///
    /// - Parameters:
    ///   - start: Where reading begins: the committed low-water mark.
    ///   - position: The committed position; `start` when none is known.
    ///   - unknownBefore: Where the partition ended when it was unknown what was finished from `position` on; 0 when that is known.
    public init(start: Int64 = 0, position: Int64 = 0, unknownBefore: Int64 = 0) {
        self.start = start
        self.position = max(start, position)
        finishedBefore = max(start, position)
        self.unknownBefore = max(start, position, unknownBefore)
        readTo = start
    }

    /// True if this version may go on from a position. It writes no metadata, or an offset in digits and perhaps notes behind a blank.
    /// Where nothing but an offset was known, a position has the form of requests.
    ///
    /// - Parameter metadata: The committed metadata.
    /// - Returns: Whether this version can have written it.
    public static func isKnown(_ metadata: String) -> Bool {
        if (try? FinishedOffsets(decoding: metadata)) != nil { return true }
        let words = metadata.split(separator: " ", omittingEmptySubsequences: false)
        return words.count <= 2 && words.allSatisfy { !$0.isEmpty } && words[0].utf8.allSatisfy(\.isDigit)
            && Int64(words[0]) != nil
    }

    /// The state that a position of the group gives.
    ///
    /// - Parameters:
    ///   - start: The committed offset.
    ///   - metadata: The committed metadata, as `commit` writes it and `isKnown` knows it; the position is `start` where it is not that.
    public init(start: Int64, metadata: String) {
        let words = metadata.split(separator: " ")
        let notes = words.count == 2 ? words[1].split(separator: ",") : []
        let unknown = notes.first { $0.first == Self.unknownSign }.flatMap { Int64($0.dropFirst()) }
        self.init(start: start, position: words.first.flatMap { Int64($0) } ?? start, unknownBefore: unknown ?? 0)
        leftOut = Set(notes.compactMap { UInt64($0, radix: 16) })
        latest = Self.latestTime(in: metadata)
    }

    /// The number of open requests.
    public var count: Int { open.count }

    /// Before this offset everything belongs to requests that are finished: where reading may begin after a restart.
    public var lowWaterMark: Int64 { order.first?.offset ?? readTo }

    /// True if reading began behind `offset`, at which a record is after all: the topic was recreated.
    public func begins(after offset: Int64) -> Bool { offset < start }

    /// Notes the record of a request.
    ///
    /// - Parameters:
    ///   - key: The request's key.
    ///   - record: The record's value.
    ///   - chunks: The number of parts, as the record has it.
    ///   - offset: The record's offset.
    ///   - timestamp: The record's time.
    public mutating func opened(_ key: ParentKey, record: [UInt8], chunks: Int, at offset: Int64, timestamp: Timestamp) {
        read(offset)
        // A second record of the same request, which only at-least-once delivery can make, changes nothing.
        guard open[key] == nil, chunks > 0, chunks <= ParentRecord.maximumChunks else { return }
        let new = Open(
            record: record, offset: offset, timestamp: timestamp, chunks: chunks,
            counted: [UInt64](repeating: 0, count: (chunks + 63) / 64))
        open[key] = new
        byteCount += new.byteCount(under: key)
        order.append((offset, key))
    }

    /// Takes in what became of a part. One of a request that is not open, and a second one of the same part, count for nothing.
    ///
    /// - Parameters:
    ///   - key: The request's key.
    ///   - tally: What became of the part.
    ///   - offset: Where the record stands.
    /// - Returns: The request, when its last part has ended and its result must be written; it is not open any more.
    public mutating func notePart(_ key: ParentKey, tally: PartTally, at offset: Int64) -> Finished? {
        read(offset)
        // In place: a copy of the bits for each part would be too many.
        guard let added = open[key]?.count(tally) else { return nil }
        byteCount += added
        guard let state = open[key], state.totals.count == state.chunks else { return nil }
        if leftOut.remove(key.digest) != nil || offset >= unknownBefore { return finish(key, state: state, at: offset) }
        guard offset >= finishedBefore else {
            remove(key)
            return nil
        }
        open[key]?.end = offset
        doubtful.append((offset, key))
        return nil
    }

    /// Takes the next request of those that have ended while it was unknown whether they are finished, once all of that was read and its
    /// record was not deleted. To be asked for until there is none, before anything else is read.
    ///
    /// - Returns: The request, whose result must be written, and the offset of the record that ended it.
    public mutating func takeUnfinished() -> (parent: Finished, offset: Int64)? {
        guard readTo >= unknownBefore, let (offset, key) = doubtful.first, let state = open[key] else { return nil }
        return (finish(key, state: state, at: offset), offset)
    }

    private mutating func finish(_ key: ParentKey, state: Open, at offset: Int64) -> Finished {
        remove(key)
        unrecorded[offset] = (key.digest, state.offset)
        return Finished(
            key: key, record: state.record, offset: state.offset, timestamp: state.timestamp, chunks: state.chunks,
            totals: state.totals)
    }

    /// True if a part belongs to no open request of the key, or to none with such a part: then its record is deleted, as nothing
    /// else would. What was read before is left to whoever did that.
    ///
    /// - Parameters:
    ///   - key: The request's key.
    ///   - chunk: Which part it is.
    ///   - offset: Where the record stands.
    /// - Returns: Whether to delete it.
    public func isStray(_ key: ParentKey, chunk: Int, at offset: Int64) -> Bool {
        guard offset >= unknownBefore || leftOut.contains(key.digest) else { return false }
        guard let chunks = open[key]?.chunks else { return true }
        return !(0..<chunks).contains(chunk)
    }

    /// Notes that the record of such a part will be deleted.
    public mutating func deletes(_ key: ParentKey, at offset: Int64) {
        unrecorded[offset] = (key.digest, offset)
    }

    /// The position to commit so that the requests that have ended count as finished, except some that a later commit takes.
    ///
    /// Its offset is the low-water mark. Its metadata has the end of what is known to be finished, the digests of the keys that are
    /// left out before that end, and the marks.
    ///
    /// - Parameters:
    ///   - left: The offsets of the records that ended the requests left out, ascending.
    ///   - marks: The first and the last record that were read, or nil when they are not known.
    /// - Returns: The position with its metadata.
    public func commit(leavingOut left: [Int64] = [], marks: ReadMarks? = nil) -> LedgerCommit {
        let missing = Set(left)
        let taken = unrecorded.keys.filter { !missing.contains($0) }.max() ?? Int64.min
        // Before this there is something that is committed, so that the position cannot go back behind it.
        let settled = max(finishedBefore, recordedBefore, taken.addingSaturated(1))
        var mark = lowWaterMark
        var reach = readTo >= unknownBefore ? min(position, doubtful.first?.offset ?? position) : finishedBefore
        var digests = leftOut
        for offset in left {
            guard let ended = unrecorded[offset] else { continue }
            mark = min(mark, ended.from)
            if offset < settled { digests.insert(ended.digest) } else { reach = min(reach, offset) }
        }
        return LedgerCommit(offset: mark, metadata: metadata(reach, digests: digests, marks: marks))
    }

    /// Notes that a commit is in flight which leaves something out.
    public mutating func offered(leavingOut left: [Int64]) {
        let missing = Set(left)
        beingCommitted = unrecorded.keys.filter { !missing.contains($0) }
    }

    /// Notes that the commit took place.
    public mutating func recorded() {
        for offset in beingCommitted {
            unrecorded[offset] = nil
            recordedBefore = max(recordedBefore, offset.addingSaturated(1))
        }
        beingCommitted = []
    }

    /// Notes that a request's record was deleted: the partition's previous owner has finished it.
    public mutating func deleted(_ key: ParentKey, at offset: Int64) {
        read(offset)
        remove(key)
        leftOut.remove(key.digest)
    }

    /// Takes in a record that says nothing about open requests, or that there is none before `offset`.
    public mutating func passed(_ offset: Int64) { read(offset.addingSaturated(-1)) }

    private mutating func read(_ offset: Int64) {
        readTo = max(readTo, offset.addingSaturated(1))
        position = max(position, readTo)
        // What was left out would have ended again by now: another worker has deleted it.
        if offset >= finishedBefore && !leftOut.isEmpty { leftOut.removeAll() }
    }

    private mutating func remove(_ key: ParentKey) {
        guard let removed = open.removeValue(forKey: key) else { return }
        byteCount -= removed.byteCount(under: key)
        // A burst's room is given back.
        if open.isEmpty, open.capacity > Self.mostEnded { open = [:] }
        // A request of the same key may have been opened again behind it.
        while let first = order.first, open[first.key]?.offset != first.offset { _ = order.popFirst() }
        while let first = doubtful.first, open[first.key]?.end != first.offset { _ = doubtful.popFirst() }
        // Behind one that stays open for long there would be all that have ended since.
        let (left, most) = (open, 2 * open.count + Self.mostEnded)
        if order.count > most { order.removeAll { left[$0.key]?.offset != $0.offset } }
        if doubtful.count > most { doubtful.removeAll { left[$0.key]?.end != $0.offset } }
    }

    /// Those that have ended of which the lists are not freed at once.
    private static let mostEnded = 64
}

/// The metadata of a position: where requests are finished before, and notes that commas divide. A note is the digest of a key, or it begins
/// with a sign that no digest has, so that versions that do not know it pass over it.
extension OpenParents {
    /// Begins the note up to where it is unknown what is finished.
    private static let unknownSign: Character = "u"
    /// Begins the note of the marks.
    private static let marksSign: Character = "m"
    /// Begins the note of the latest time of a record, milliseconds since 1970.
    private static let timeSign: Character = "t"

    /// The metadata that says this.
    func metadata(_ reach: Int64, digests: Set<UInt64>, marks: ReadMarks?) -> String {
        var notes = digests.sorted().map { String($0, radix: 16) }
        if reach < unknownBefore { notes.append("\(Self.unknownSign)\(unknownBefore)") }
        if let marks { notes.append("\(Self.marksSign)\(marks.text.replacing(",", with: ":"))") }
        if marks != nil, let latest { notes.append("\(Self.timeSign)\(latest.milliseconds)") }
        return notes.isEmpty ? String(reach) : "\(reach) " + notes.joined(separator: ",")
    }

    /// The marks in a position of the records that were read.
    ///
    /// - Parameter metadata: The committed metadata.
    /// - Returns: The first and the last record; nil when it does not say.
    public static func marks(in metadata: String) -> ReadMarks? {
        note(marksSign, in: metadata).flatMap { ReadMarks($0.replacing(":", with: ",")) }
    }

    /// The latest time of the records that were read, as a position says.
    ///
    /// - Parameter metadata: The committed metadata.
    /// - Returns: That time, or nil when it does not say.
    public static func latestTime(in metadata: String) -> Timestamp? {
        note(timeSign, in: metadata).flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
    }

    /// The text of a note behind its sign.
    private static func note(_ sign: Character, in metadata: String) -> Substring? {
        let words = metadata.split(separator: " ")
        guard words.count == 2 else { return nil }
        return words[1].split(separator: ",").first { $0.first == sign }?.dropFirst()
    }
}

extension ReadMarks {
    /// The marks in the metadata of a position, in any topic, of the records that were read. Nil when it does not say.
    public init?(metadata: String) {
        guard let marks = (try? FinishedOffsets(decoding: metadata))?.marks ?? OpenParents.marks(in: metadata) else { return nil }
        self = marks
    }
}
