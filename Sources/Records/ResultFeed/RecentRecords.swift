import Basics

/// The last records of a topic in the order of their arrival, limited in bytes.
///
/// Of each partition it holds every record from `low` to before `high`. A reading costs the records that it looks at and one look at each
/// partition, however many are held.
struct RecentRecords {
    /// The places that can be read.
    enum Rule {
        /// Every partition must be held from its place on, and no place lies behind what is known.
        case known
        /// Every partition that is held must be so from its place on. Places behind that, and partitions that are not held, stay as they are.
        case checked
        /// Partitions that are not held from their places on stay as they are.
        case partly
    }

    private struct Mark {
        let offset: Int64
        let number: Int
    }

    private struct Part {
        var low: Int64
        var high: Int64
        /// The records that are held, in order.
        var marks = FIFO<Mark>()

        init(start: Int64) { (low, high) = (start, start) }

        /// The first mark of which `isBehind` says so, where it does of all after it. Looks from the end on, which is where most readers are.
        func firstMark(where isBehind: (Mark) -> Bool) -> Mark? {
            var (end, step) = (marks.count, 1)
            while end > 0 {
                let probe = max(0, end - step)
                if isBehind(marks[probe]) {
                    (end, step) = (probe, 2 * step)
                    continue
                }
                var start = probe + 1
                while start < end {
                    let middle = (start + end) / 2
                    if isBehind(marks[middle]) { end = middle } else { start = middle + 1 }
                }
                break
            }
            return end < marks.count ? marks[end] : nil
        }
    }

    /// The records that a reading looks at under a lock before it lets others in.
    static let scanLimit = 2000

    private let byteLimit: Int
    private var records = FIFO<FeedRecord>()
    /// The number of the first record. Each that arrives gets the next one.
    private var firstNumber = 0
    /// The bytes of the records that are held.
    private(set) var byteCount = 0
    private var parts: [Part] = []

    /// Nothing yet, of no partition.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The offsets that are held of each partition.
    var windows: [Range<Int64>] { parts.map { $0.low..<$0.high } }

    /// The place behind everything.
    var end: FeedPlaces {
        FeedPlaces(Dictionary(uniqueKeysWithValues: parts.enumerated().map { (Int32($0.offset), $0.element.high) }))
    }

    /// Goes on at these offsets, one for each partition. What they do not join is dropped.
    mutating func begin(at starts: [Int64]) {
        let isShorter = starts.count < parts.count
        if isShorter { parts.removeSubrange(starts.count...) }
        var dropped: Set<Int32> = []
        for (index, start) in starts.enumerated() {
            if index == parts.count {
                parts.append(Part(start: start))
            } else if parts[index].high != start {
                parts[index] = Part(start: start)
                dropped.insert(Int32(index))
            }
        }
        if isShorter || !dropped.isEmpty { keep { $0.partition < starts.count && !dropped.contains($0.partition) } }
    }

    /// Takes the next record of its partition.
    ///
    /// - Returns: False for one that stands before the last one, so that the topic is another one by now. It is not taken.
    mutating func take(_ record: FeedRecord) -> Bool {
        let index = Int(record.partition)
        guard parts.indices.contains(index), record.offset >= parts[index].high else { return false }
        parts[index].high = record.offset + 1
        guard record.byteCount <= byteLimit else {
            parts[index].low = parts[index].high
            keep { $0.partition != record.partition }
            return true
        }
        append(record)
        while byteCount > byteLimit, let first = records.popFirst() {
            firstNumber += 1
            byteCount -= first.byteCount
            parts[Int(first.partition)].low = first.offset + 1
            _ = parts[Int(first.partition)].marks.popFirst()
        }
        return true
    }

    /// Notes that nothing more stands before an offset: aborted records, marks of transactions, or records that are no results.
    ///
    /// - Returns: False if the partition was known further, so that the topic is another one by now.
    mutating func advance(_ partition: Int32, to offset: Int64) -> Bool {
        let index = Int(partition)
        guard parts.indices.contains(index), offset >= parts[index].high else { return false }
        parts[index].high = offset
        return true
    }

    /// True if records or positions that come next leave out so many offsets of a partition, or more.
    func hasGap(of width: Int64, before records: [FeedRecord], upTo positions: [Int32: Int64]) -> Bool {
        var next = parts.map(\.high)
        let places = records.map { ($0.partition, $0.offset, $0.offset + 1) } + positions.map { ($0.key, $0.value, $0.value) }
        return places.contains { partition, offset, behind in
            guard next.indices.contains(Int(partition)) else { return false }
            defer { next[Int(partition)] = behind }
            return offset - next[Int(partition)] >= width
        }
    }

    /// Reads from a place on. Where few records are wanted it ends behind many looks, and then it is not at the end.
    ///
    /// - Parameters:
    ///   - places: The place.
    ///   - onlyNamed: True to read the partitions that `places` names and no others.
    ///   - rule: The places that can be read.
    ///   - room: What the reader has room for. The first record is always taken.
    ///   - isWanted: Whether a record is wanted.
    /// - Returns: The reading, or nil where `rule` does not allow it.
    func read(
        from places: FeedPlaces, onlyNamed: Bool, by rule: Rule, room: FeedRoom, where isWanted: (FeedRecord) -> Bool
    ) -> FeedReading? {
        guard let begin = findBeginning(of: places, onlyNamed: onlyNamed, by: rule) else { return nil }
        var (taken, byteCount): ([FeedRecord], Int) = ([], 0)
        let end = firstNumber + records.count
        var number = begin.number
        // A slice belongs to one thread, and is forgotten soon.
        let limit = rule == .partly ? end : min(end, number + Self.scanLimit)
        while number < limit {
            let record = records[number - firstNumber]
            if record.offset >= begin.offsets[Int(record.partition)], isWanted(record) {
                guard taken.isEmpty || (taken.count < room.records && byteCount < room.bytes) else { break }
                taken.append(record)
                byteCount += record.line.count
            }
            number += 1
        }
        var behind = places
        for (index, offset) in begin.offsets.enumerated() where offset != .max {
            let next = number < end ? parts[index].firstMark { $0.number >= number }?.offset : nil
            behind.offsets[Int32(index)] = max(offset, next ?? parts[index].high)
        }
        return FeedReading(records: taken, places: behind, isAtEnd: number == end)
    }

    /// The number of the first record to look at, and the place in each partition, or `.max` in those that are not read.
    private func findBeginning(
        of places: FeedPlaces, onlyNamed: Bool, by rule: Rule
    ) -> (number: Int, offsets: [Int64])? {
        var number = firstNumber + records.count
        var offsets = [Int64](repeating: .max, count: parts.count)
        var namedCount = 0
        for index in parts.indices {
            let named = places.offsets[Int32(index)]
            if named != nil { namedCount += 1 }
            guard let place = named ?? (onlyNamed ? nil : 0) else { continue }
            let isHeld = place >= parts[index].low && (rule == .checked || place <= parts[index].high)
            guard isHeld || rule == .partly else { return nil }
            guard isHeld else { continue }
            offsets[index] = place
            if place < parts[index].high, let mark = parts[index].firstMark(where: { $0.offset >= place }) {
                number = min(number, mark.number)
            }
        }
        return rule == .known && namedCount < places.offsets.count ? nil : (number, offsets)
    }

    private mutating func append(_ record: FeedRecord) {
        parts[Int(record.partition)].marks.append(Mark(offset: record.offset, number: firstNumber + records.count))
        records.append(record)
        byteCount += record.byteCount
    }

    /// Drops the other records, and numbers those that stay from 0 on.
    private mutating func keep(_ isKept: (FeedRecord) -> Bool) {
        let kept = records.filter(isKept)
        (records, firstNumber, byteCount) = (FIFO(), 0, 0)
        for index in parts.indices { parts[index].marks = FIFO() }
        for record in kept { append(record) }
    }
}
