import PushModel

/// Requests that are added to an index at once. What is kept of them stands in two pieces of memory.
struct RequestRows {
    /// One request at one moment.
    struct Row {
        /// The number of its lane, its partition and its offset.
        let lane: Int
        let partition: Int32
        let offset: Int64
        /// The moment under which it is found, in milliseconds since 1970.
        let time: Int64
        /// The moment of its publication where that is another one.
        let published: Int64?
        /// True for the moment at which it is due, false for that of its publication.
        let isDue: Bool
        /// The places of its facts and of its tokens.
        let facts: Range<Int>
        let tokens: Range<Int>
    }

    /// So many are added at once. With 10,000 names each they take some 64 MiB, and usual ones 6.
    private static let countLimit = 20_000
    private static let byteLimit = 32 << 20

    private(set) var rows: [Row] = []
    private(set) var facts = ByteWriter()
    private(set) var tokens: [UInt8] = []

    /// It is time to add them.
    var isFull: Bool { rows.count >= Self.countLimit || facts.count + tokens.count >= Self.byteLimit }
    /// There is none.
    var isEmpty: Bool { rows.isEmpty }

    /// Takes a request, under one moment or several. `write` writes its tokens, with blanks between them.
    mutating func append(
        lane: Int, partition: Int32, offset: Int64, moments: [(time: Int64, isDue: Bool)], published: Int64, json: [UInt8],
        tokens write: (inout [UInt8]) -> Void
    ) {
        let start = (facts: facts.count, tokens: tokens.count)
        facts.append(json.span)
        write(&tokens)
        for moment in moments {
            rows.append(
                Row(
                    lane: lane, partition: partition, offset: offset, time: moment.time,
                    published: published == moment.time ? nil : published, isDue: moment.isDue,
                    facts: start.facts..<facts.count, tokens: start.tokens..<tokens.count))
        }
    }

    /// Forgets all. Room that a rare giant made is given back.
    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        if facts.room.count > Self.byteLimit / 4 { facts = ByteWriter() } else { facts.removeAll() }
        tokens.removeAll(keepingCapacity: tokens.capacity <= Self.byteLimit / 4)
    }

    /// The numbers of the rows of each hour, the oldest first and by time.
    var hours: [(hour: Int64, rows: [Int])] {
        let order = rows.indices.sorted { (rows[$0].time, $0) < (rows[$1].time, $1) }
        var hours: [(hour: Int64, rows: [Int])] = []
        for index in order {
            let hour = IndexHour.hour(of: rows[index].time)
            if hours.last?.hour != hour { hours.append((hour, [])) }
            hours[hours.count - 1].rows.append(index)
        }
        return hours
    }
}

/// Arithmetic with the hours by which requests are kept, and with the ids of their rows.
enum IndexHour {
    static let milliseconds: Int64 = 3_600_000
    /// The bits of an id behind its millisecond, which count those of one millisecond.
    private static let countBits: Int64 = 20

    /// The hour since 1970 of a moment.
    static func hour(of time: Int64) -> Int64 { max(0, time) / milliseconds }

    /// The first moment of an hour.
    static func start(of hour: Int64) -> Int64 { hour * milliseconds }

    /// The ids of the rows of some moments, in milliseconds since 1970. Ids grow with moments.
    static func ids(of moments: ClosedRange<Int64>) -> ClosedRange<Int64> {
        let most = Int64.max >> countBits
        let (first, last) = (min(max(0, moments.lowerBound), most), min(max(0, moments.upperBound), most))
        return first << countBits...(last << countBits | (1 << countBits - 1))
    }

    /// The moment of a row.
    static func time(ofID id: Int64) -> Int64 { id >> countBits }
}
