import Delivery
import TestSupport
import Testing

/// Logs as lists of records, and what becomes of a group's position in them: what is sent twice, what is skipped, and what waits for an
/// operator.
struct LogTailTests {
    /// A partition: its first retained offset, and its records from there. Each has a name and a time; nil is an offset without a record.
    private struct Log {
        var low: Int64 = 0
        var records: [(name: String, time: Int64)?]

        var high: Int64 { low + Int64(records.count) }

        func mark(at offset: Int64) -> RecordMark? {
            guard offset >= low, offset < high, let record = records[Int(offset - low)] else { return nil }
            let value = Array(record.name.utf8)
            return RecordMark(offset: offset, time: record.time, key: nil, value: value.span)
        }

        func look(at mark: RecordMark) -> LogTail.Finding {
            if mark.offset >= high { return low < high && mark.offset > high ? .absent : .unknown }
            guard let found = self.mark(at: mark.offset) else { return .absent }
            return found == mark ? .same : .other
        }
    }

    /// Records with names in order, published a second apart.
    private static func records(_ names: Range<Int>, from prefix: String = "n") -> [(name: String, time: Int64)?] {
        names.map { (name: "\(prefix)\($0)", time: 1_000_000 + Int64($0) * 1_000) }
    }

    /// What a worker that has read all of `log` keeps.
    private static func marks(of log: Log) -> ReadMarks? {
        var marks: ReadMarks?
        for offset in log.low..<log.high {
            guard let mark = log.mark(at: offset) else { continue }
            if marks == nil { marks = ReadMarks(mark) } else { marks?.read(mark) }
        }
        return marks
    }

    /// What becomes of a position at the end of `old`, now that the partition is `new`.
    private static func ruling(
        _ old: Log, _ new: Log, rule: StartRule = .safe, knowsMarks: Bool = true, position: Int64? = nil,
        wasBeyondEnd: Bool = false
    ) -> AssignmentPlan.Ruling? {
        let marks = knowsMarks ? Self.marks(of: old) : nil
        let tail = LogTail(
            position: position ?? old.high, marks: marks, low: new.low, high: new.high, wasBeyondEnd: wasBeyondEnd,
            last: marks.map { new.look(at: $0.last) } ?? .unknown, first: marks.map { new.look(at: $0.first) } ?? .unknown)
        return tail.ruling(rule, since: nil)
    }

    private static func isRefused(_ ruling: AssignmentPlan.Ruling?) -> Bool { matches(ruling, .refused, .lostRecord) }

    private static func matches(
        _ ruling: AssignmentPlan.Ruling?, _ decision: StartRule.Decision, _ cause: StartRule.Cause
    ) -> Bool {
        guard let ruling else { return false }
        return ruling.decision == decision && ruling.cause == cause
    }

    private static let rules: [StartRule] = [.safe, .beginning, .end, .moment(5)]

    // What was seen on running workers before positions kept marks.

    /// 27 of 27 pushes were made twice in a delay lane, and in the topic of held requests, which were read from their starts.
    @Test(arguments: rules)
    func whatALaneHoldsThatHasLostItsEndIsNotSentAgain(rule: StartRule) {
        let old = Log(records: Self.records(0..<30))
        let new = Log(records: Array(old.records.prefix(27)))
        #expect(Self.isRefused(Self.ruling(old, new, rule: rule)))
        #expect(Self.isRefused(Self.ruling(old, new, rule: rule, wasBeyondEnd: true)))
    }

    /// 4 of 20 new requests were skipped: the log had grown past the position again.
    @Test(arguments: rules)
    func whatIsPublishedOverALostEndIsNotSkipped(rule: StartRule) {
        let old = Log(records: Self.records(0..<20))
        let new = Log(records: Array(old.records.prefix(16)) + Self.records(0..<20, from: "new"))
        #expect(Self.isRefused(Self.ruling(old, new, rule: rule)))
    }

    /// 16 requests were made twice behind a record that was dated an hour ahead.
    @Test func behindARecordThatIsDatedAheadNothingIsSentAgain() {
        var old = Log(records: Self.records(0..<20))
        old.records[2] = (name: "n2", time: 9_000_000)
        let new = Log(records: Array(old.records.prefix(18)))
        #expect(Self.isRefused(Self.ruling(old, new)))
    }

    /// 4 of 4 were skipped behind the loss, because their publisher's clock was behind.
    @Test func whatIsDatedBackIsNotSkipped() {
        let old = Log(records: Self.records(0..<20))
        let late: [(name: String, time: Int64)?] = (0..<4).map { number in
            (name: "late\(number)", time: Int64(500_000 + number))
        }
        #expect(Self.isRefused(Self.ruling(old, Log(records: Array(old.records.prefix(10)) + late))))
        #expect(Self.isRefused(Self.ruling(old, Log(records: Array(old.records.prefix(18)) + late))))
    }

    /// The record in the last one's place is another, although its publisher gave it the same time.
    @Test func aTimeIsNoProof() {
        let old = Log(records: Self.records(0..<5))
        var new = old
        new.records[4] = (name: "other", time: 1_004_000)
        new.records += Self.records(5..<9)
        #expect(Self.isRefused(Self.ruling(old, new)))
    }

    // What goes on without a word.

    @Test(arguments: rules)
    func aPartitionThatHoldsTheLastRecordGoesOn(rule: StartRule) {
        let old = Log(records: Self.records(0..<20))
        #expect(Self.ruling(old, old, rule: rule) == nil)
        #expect(Self.ruling(old, Log(records: old.records + Self.records(20..<30)), rule: rule) == nil)
        #expect(Self.ruling(old, Log(low: 12, records: Array(old.records.suffix(8))), rule: rule) == nil, "retention")
        #expect(Self.ruling(old, old, rule: rule, position: 3) == nil, "with a map of what is finished")
        #expect(Self.ruling(old, old, rule: rule, wasBeyondEnd: true) == nil, "it was not, in truth")
    }

    /// The ends of transactions take offsets behind the last record: they may be lost, and it does not matter.
    @Test func aPartitionThatHasLostOnlyEndsOfTransactionsGoesOn() {
        let old = Log(records: Self.records(0..<10) + [nil, nil])
        #expect(Self.ruling(old, Log(records: Self.records(0..<10))) == nil)
        #expect(Self.ruling(old, Log(records: Self.records(0..<10) + Self.records(90..<95))) == nil)
    }

    @Test(arguments: [(25, 30), (20, 20), (20, 40), (25, 25)] as [(Int64, Int64)])
    func whatRetentionHasRemovedIsNoLostEnd(low: Int64, high: Int64) {
        let old = Log(records: Self.records(0..<20))
        let new = Log(low: low, records: Self.records(Int(low)..<Int(high)))
        #expect(Self.ruling(old, new) == nil)
    }

    // What is certain although something is lost.

    @Test(arguments: rules)
    func anEmptyPartitionBeginsAtItsEnd(rule: StartRule) {
        let old = Log(records: Self.records(0..<20))
        for low in [0, 7, 19] as [Int64] {
            let ruling = Self.ruling(old, Log(low: low, records: []), rule: rule)
            #expect(Self.matches(ruling, .offset(low), .lostEnd), "\(low)")
        }
        let unknown = Self.ruling(old, Log(records: []), rule: rule, knowsMarks: false)
        #expect(Self.matches(unknown, .offset(0), .lostEnd))
    }

    @Test(arguments: rules)
    func aRecreatedTopicIsReadFromItsStart(rule: StartRule) {
        let old = Log(records: Self.records(0..<20))
        for count in [1, 5, 20, 40] {
            let new = Log(records: Self.records(0..<count, from: "new"))
            let ruling = Self.ruling(old, new, rule: rule)
            #expect(Self.matches(ruling, .offset(0), .recreated), "\(count)")
        }
    }

    /// The group's first record was not the topic's first, so that the new topic need not be new as a whole.
    @Test func aTopicIsNotTakenForARecreatedOneByWhatCouldBeOld() {
        let all = Log(records: Self.records(0..<20))
        let old = Log(low: 5, records: Array(all.records.suffix(15)))
        var new = Log(records: Array(all.records.prefix(5)) + Self.records(0..<30, from: "new"))
        #expect(Self.isRefused(Self.ruling(old, new)))
        new.records.removeLast(32)
        #expect(Self.isRefused(Self.ruling(old, new)))
    }

    /// No record has the first one's offset: compaction may have removed it.
    @Test func aRemovedFirstRecordProvesNothing() {
        let old = Log(records: Self.records(0..<20))
        var new = Log(records: Self.records(0..<15))
        new.records[0] = nil
        #expect(Self.isRefused(Self.ruling(old, new)))
    }

    /// In a topic that is compacted it is: the end is where it was, and the first record is there, or gone too.
    @Test(
        arguments: [
            (25, false, .same, true), (25, false, .absent, true), (25, false, .unknown, true), (25, false, .other, false),
            (25, true, .same, false), (20, false, .same, true), (19, false, .same, false), (5, false, .same, false),
        ] as [(Int64, Bool, LogTail.Finding, Bool)])
    func compactionIsNoLostEnd(high: Int64, wasBeyondEnd: Bool, first: LogTail.Finding, goesOn: Bool) {
        let marks = Self.marks(of: Log(records: Self.records(0..<20)))
        var tail = LogTail(
            position: 12, marks: marks, low: 0, high: high, wasBeyondEnd: wasBeyondEnd, isCompacted: true, last: .absent,
            first: first)
        #expect((tail.ruling(.safe, since: nil) == nil) == goesOn)
        tail.last = .other
        #expect(tail.ruling(.safe, since: nil) != nil)
    }

    // What is known of no record.

    @Test(
        arguments: [
            (.safe, .refused), (.beginning, .offset(0)), (.end, .offset(16)), (.moment(5), .offset(16)),
        ] as [(StartRule, StartRule.Decision)])
    func whereThePositionSaysNothingOfRecordsTheRuleDecidesBeyondTheEnd(rule: StartRule, decision: StartRule.Decision) {
        let old = Log(records: Self.records(0..<20))
        let new = Log(records: Self.records(0..<16))
        let ruling = Self.ruling(old, new, rule: rule, knowsMarks: false)
        #expect(Self.matches(ruling, decision, .unknownEnd))
        let grown = Self.ruling(old, Log(records: Self.records(0..<30)), rule: rule, knowsMarks: false)
        #expect(grown == nil, "it cannot be seen")
        let seen = Self.ruling(old, Log(records: Self.records(0..<16)), rule: rule, knowsMarks: false, wasBeyondEnd: true)
        #expect(Self.matches(seen, decision, .unknownEnd))
    }

    /// No broker answered, so that nothing is refused by what was not seen; but a log that ends before the record has lost it.
    @Test(arguments: [(20, true), (25, true), (19, false), (5, false)] as [(Int, Bool)])
    func whatWasNotLookedAtGoesOnUnlessTheLogIsTooShort(count: Int, goesOn: Bool) {
        let marks = Self.marks(of: Log(records: Self.records(0..<20)))
        let tail = LogTail(position: 20, marks: marks, low: 0, high: Int64(count))
        #expect((tail.ruling(.safe, since: nil) == nil) == goesOn)
        let behind = LogTail(position: 20, marks: marks, low: 0, high: 25, wasBeyondEnd: true)
        let withMap = LogTail(position: 3, marks: marks, low: 0, high: 10)
        #expect(Self.isRefused(behind.ruling(.safe, since: nil)) && Self.isRefused(withMap.ruling(.safe, since: nil)))
    }
}
