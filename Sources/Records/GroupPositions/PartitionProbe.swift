public import Delivery
public import Kafka
import PushModel

/// The facts about a partition from which it follows where it begins, as far as they are known.
///
/// Some of them only its records tell: whether it still holds what was read, and where there is no position, whether a worker of the group
/// may have gone on with what waits there. It keeps how far it was read, so that whoever reads on does not start over.
public struct PartitionProbe: Sendable {
    /// The group's position.
    public let position: CommittedOffset
    /// The kind of the partition's records.
    public let kind: AssignmentPlan.Kind
    /// True if the partition was seen to end before its position.
    public let wasBeyondEnd: Bool
    /// True if another worker decides where the partition begins.
    let isOther: Bool
    /// The next offset, open transactions included, or nil if that is not known.
    public internal(set) var end: Int64?
    /// The first offset that is retained, or nil if that is not known.
    public internal(set) var low: Int64?
    /// The first offset that is not older than the rule's `time(now:)`, or nil if all are older.
    public internal(set) var since: Int64?
    /// The offset of the next record to read.
    public internal(set) var next: Int64
    /// The bytes of the records that were read and are no answer.
    public private(set) var byteCount: Int64 = 0

    /// The delay lane, by its place in `DelayLanes.lengths`, or nil if it is none.
    private let lane: Int?
    /// The records that were read when the position was committed, or nil if it names none.
    private let marks: ReadMarks?
    /// The latest time of a record that was read then, milliseconds since 1970, or nil if the topic keeps none.
    private let latest: Int64?
    /// True while records before the last one that was read are looked at, because compaction may have removed that one.
    private var readsEarlier = false
    /// The finding in place of the last record that was read, or nil while that is not known.
    var last: LogTail.Finding?
    /// The finding in place of the first one, or nil while that is not known, or does not matter.
    var first: LogTail.Finding?
    /// True if the group's first record may have been gone on with, or nil while that is not known. All behind it were written later.
    var mayHaveGoneOn: Bool?

    /// The facts that are known before anything is asked.
    ///
    /// - Parameters:
    ///   - position: The group's position.
    ///   - terms: The group.
    ///   - wasBeyondEnd: Whether the partition was seen to end before its position.
    ///   - isOther: Whether another worker decides where the partition begins.
    public init(_ position: CommittedOffset, terms: GroupTerms, wasBeyondEnd: Bool = false, isOther: Bool = false) {
        self.position = position
        self.wasBeyondEnd = wasBeyondEnd
        self.isOther = isOther
        kind = terms.kind(of: position.partition.topic)
        lane = terms.delays.firstIndex(of: position.partition.topic)
        marks = position.offset == nil ? nil : ReadMarks(metadata: position.metadata)
        let noted = OpenParents.latestTime(in: position.metadata)?.milliseconds
        latest = [marks?.first.time, marks?.last.time, noted].compactMap(\.self).max()
        next = marks?.last.offset ?? 0
        // Whatever may have been gone on with, it is read from its beginning.
        if kind == .requests || kind == .parents || terms.start == .beginning || wasForgotten { mayHaveGoneOn = false }
    }

    /// The partition.
    public var partition: TopicPartition { position.partition }

    /// True if its records have said all that matters, or cannot be read.
    public var isAnswered: Bool {
        if position.offset != nil { return marks == nil || last == .same || last != nil && first != nil }
        return mayHaveGoneOn != nil || low == nil
    }

    /// The number of offsets that were passed, and of all that there are to pass.
    public var progress: (count: Int64, total: Int64) {
        guard marks == nil, let low, let end else { return (isAnswered ? 1 : 0, 1) }
        return (min(max(0, next - low), max(0, end - low)), max(0, end - low))
    }

    /// True if the partition may have lost what was read.
    var isDoubtful: Bool { last.map { $0 != .same } ?? wasBeyondEnd }

    /// True if the group has no position where it had one when the partition was seen to hold other records: brokers forget it with the
    /// topic. All that is there came later.
    var wasForgotten: Bool { wasBeyondEnd && position.offset == nil }

    /// True if the position names records that were read.
    var hasMarks: Bool { marks != nil }

    /// True if its end matters: a position may lie beyond it, and who holds requests has to know whether any are held already.
    var needsEnd: Bool { isAnswered && (kind == .requests || kind == .held || mustBeDecided) }

    /// True if it cannot begin at the position without knowing more.
    var mustBeDecided: Bool { position.offset == nil || isDoubtful }

    /// True if it may begin elsewhere than at the position, as far as its end says.
    var isOpen: Bool { end.map { end in isDoubtful || position.offset.map { $0 > end } ?? true } ?? false }

    /// True if the age of its records may matter.
    var needsTime: Bool { marks == nil && low ?? 0 < end ?? 0 }

    /// The partition as a rule for topics sees it.
    var content: StartRule.Partition {
        guard position.offset == nil else { return StartRule.Partition(low: 0, high: 0, since: nil, hasPosition: true) }
        guard let low, let end else { return .away }
        return StartRule.Partition(low: low, high: end, since: since, hasPosition: false, isOther: isOther)
    }

    /// The decision about a partition without a position whose records workers wrote. What is finished of large requests, their records
    /// say when they are read.
    func decision(_ rule: StartRule) -> StartRule.Decision {
        guard let low, let end else { return .undecided }
        return rule.decision(low: low, high: end, since: since, by: .workers(mayBeFinished: mayHaveGoneOn ?? false))
    }

    /// The decision about a partition with a position, or nil if it begins there.
    func ruling(_ rule: StartRule) -> AssignmentPlan.Ruling? {
        guard let offset = position.offset, isOpen, let low, let end else { return nil }
        let tail = LogTail(
            position: offset, marks: marks, low: low, high: end, wasBeyondEnd: wasBeyondEnd, isCompacted: isCompacted,
            last: last ?? .unknown, first: first ?? .unknown)
        return tail.ruling(rule, since: since)
    }
}

extension PartitionProbe {
    /// Takes the retained part of the partition for what has to be read, behind what was read before.
    mutating func beginReading(from progress: Int64?) {
        guard !isAnswered, let low, let end else { return }
        next = min(max(low, progress ?? low), max(low, end))
        if next >= end { mayHaveGoneOn = false }
    }

    /// Takes a record in: the next that can be read at `next` or behind it, or before it, where the partition ends before.
    /// Returns whether reading has to go back to `next`.
    mutating func take(_ record: borrowing ConsumedRecord, of group: String, now: Timestamp) -> Bool {
        if let marks { return take(RecordMark(record), of: marks) }
        let headers = WaitingHeaders(record, group: group)
        // What came since the end was asked for is not what a position was lost for.
        if record.offset >= end ?? 0 {
            mayHaveGoneOn = false
        } else if headers.isOurs ?? false {
            mayHaveGoneOn = DelayLanes.mayHaveGoneOn(
                in: lane, written: record.timestamp.map { Timestamp(milliseconds: $0) },
                due: headers.due.map { Timestamp(milliseconds: $0) }, now: now)
        } else {
            next = record.offset + 1
            byteCount += Int64((record.key?.count ?? 0) + (record.value?.count ?? 0))
        }
        return false
    }

    /// Notes that there is no record at `next`, nor behind it. Returns whether reading has to go back to `next`.
    mutating func reachedEnd() -> Bool {
        guard let marks else {
            mayHaveGoneOn = false
            return false
        }
        return take(finding: readsEarlier ? .absent : .unknown, of: marks)
    }

    /// True if compaction removes records of the partition.
    private var isCompacted: Bool { kind == .parents }
    /// The most offsets before a record that compaction may have removed which are looked at.
    private static let earlierCount: Int64 = 1000

    /// Takes in the record that was read in search of a mark. Returns whether reading has to go back to `next`.
    ///
    /// Offsets without records are in all logs: ends of transactions have them, too. So where the last record that was read is gone, those
    /// before it are looked at as well. All of them were read, unless the log is another from there on: then they came later.
    mutating func take(_ found: RecordMark, of marks: ReadMarks) -> Bool {
        guard readsEarlier else {
            let mark = last == nil ? marks.last : marks.first
            guard found.offset != mark.offset else { return take(finding: found == mark ? .same : .other, of: marks) }
            guard last == nil, isCompacted, found.offset > mark.offset else { return take(finding: .absent, of: marks) }
            readsEarlier = true
            next = max(marks.first.offset, mark.offset - Self.earlierCount)
            return true
        }
        if found.offset >= marks.last.offset { return take(finding: .absent, of: marks) }
        if let latest, let time = found.time, time > latest { return take(finding: .other, of: marks) }
        next = found.offset + 1
        return false
    }

    private mutating func take(finding: LogTail.Finding, of marks: ReadMarks) -> Bool {
        guard last == nil else {
            first = finding
            return false
        }
        last = finding
        readsEarlier = false
        next = marks.first.offset
        return finding != .same
    }
}
