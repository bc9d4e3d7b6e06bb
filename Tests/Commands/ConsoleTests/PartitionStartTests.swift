import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console
@testable import Groups
@testable import KafkaCare
@testable import Results
@testable import GroupPositions

/// Where a partition begins is decided once: `pushfan doctor`, `group start` and workers say the same of a log.
@Suite struct PartitionStartTests {
    /// What becomes of a partition.
    enum Verdict: Equatable {
        case reads(from: Int64)
        case awaitsOperator
        case isLeftToAnotherVersion
        case waits
    }

    /// A log, and what becomes of it.
    struct Log: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var low: Int64 = 0
        var high: Int64 = 9
        var committed: Int64?
        /// The first and the last record that were read.
        var marks: ClosedRange<Int64>?
        var metadata: String?
        let sample: StartSample
        let verdict: Verdict

        var position: GroupPosition { position(committed, metadata ?? encodedMarks) }

        func position(_ committed: Int64?, _ metadata: String) -> GroupPosition {
            GroupPosition(
                TopicPartition(topic: "t", partition: 0), low: low, high: high, committed: committed, metadata: metadata)
        }

        private var encodedMarks: String {
            guard let marks else { return "" }
            func mark(_ offset: Int64) -> RecordMark { RecordMark(offset: offset, time: 1000, key: nil, value: nil) }
            var read = ReadMarks(mark(marks.lowerBound))
            read.read(mark(marks.upperBound))
            if sample.kind == .parents { return OpenParents(start: committed ?? 0).commit(marks: read).metadata }
            var finished = FinishedOffsets()
            finished.marks = read
            return finished.encoded()
        }
    }

    private static let withoutPosition: [Log] = [
        Log(testDescription: "empty", high: 0, sample: .init(), verdict: .reads(from: 0)),
        Log(testDescription: "young", sample: .init(since: [0]), verdict: .reads(from: 0)),
        Log(testDescription: "old", sample: .init(), verdict: .awaitsOperator),
        Log(testDescription: "one is old", sample: .init(since: [1]), verdict: .reads(from: 0)),
        Log(testDescription: "two are old", sample: .init(since: [2]), verdict: .awaitsOperator),
        Log(testDescription: "some were deleted", low: 3, sample: .init(since: [3]), verdict: .reads(from: 3)),
        Log(testDescription: "all were deleted", low: 9, sample: .init(), verdict: .reads(from: 9)),
        Log(testDescription: "its leader is away", sample: .init(isLeaderAway: true), verdict: .waits),
        Log(testDescription: "lane, gone on with", sample: .init(kind: .delayed, mayHaveGoneOn: true), verdict: .awaitsOperator),
        Log(testDescription: "lane, not due", sample: .init(kind: .delayed, mayHaveGoneOn: false), verdict: .reads(from: 0)),
        Log(testDescription: "lane, unread", sample: .init(kind: .delayed), verdict: .waits),
        Log(testDescription: "held, gone on with", sample: .init(kind: .held, mayHaveGoneOn: true), verdict: .awaitsOperator),
        Log(testDescription: "large requests", sample: .init(kind: .parents), verdict: .reads(from: 0)),
    ]

    private static let withPosition: [Log] = [
        Log(testDescription: "within", committed: 5, sample: .init(), verdict: .reads(from: 5)),
        Log(testDescription: "at the end", committed: 9, sample: .init(), verdict: .reads(from: 9)),
        Log(testDescription: "beyond the end", committed: 12, sample: .init(), verdict: .awaitsOperator),
        Log(testDescription: "beyond an empty log", high: 0, committed: 12, sample: .init(), verdict: .reads(from: 0)),
        Log(
            testDescription: "last record is there", committed: 7, marks: 1...6, sample: .init(last: .same),
            verdict: .reads(from: 7)),
        Log(
            testDescription: "last record is lost", committed: 7, marks: 1...6, sample: .init(last: .absent, first: .same),
            verdict: .awaitsOperator),
        Log(
            testDescription: "topic was recreated", committed: 7, marks: 0...6, sample: .init(last: .other, first: .other),
            verdict: .reads(from: 0)),
        Log(
            testDescription: "recreated, or lost", low: 1, committed: 7, marks: 2...6, sample: .init(last: .other, first: .other),
            verdict: .awaitsOperator),
        Log(
            testDescription: "all that was read was deleted", low: 8, committed: 7, marks: 1...6,
            sample: .init(last: .absent, first: .absent), verdict: .reads(from: 7)),
        Log(
            testDescription: "nothing can be read behind it", committed: 7, marks: 1...6,
            sample: .init(last: .unknown, first: .same),
            verdict: .reads(from: 7)),
        Log(testDescription: "records do not come", committed: 7, marks: 1...6, sample: .init(), verdict: .waits),
        Log(
            testDescription: "lane has lost its end", committed: 12, marks: 1...11,
            sample: .init(kind: .delayed, last: .absent, first: .same), verdict: .awaitsOperator),
        Log(
            testDescription: "large requests have lost their end", committed: 12, marks: 1...11,
            sample: .init(kind: .parents, last: .absent, first: .same), verdict: .awaitsOperator),
        Log(
            testDescription: "another version's", committed: 5, metadata: "9x", sample: .init(),
            verdict: .isLeftToAnotherVersion),
    ]

    /// What a worker does that plans its assignment.
    private static func worker(_ log: Log, _ position: GroupPosition) -> Verdict {
        let committed = position.committed.map { LedgerCommit(offset: $0, metadata: position.metadata) }
        let assigned = log.sample.starts(of: [position]).assigned(position.partition, as: log.sample.kind, committed: committed)
        let plan = AssignmentPlan([assigned], window: 64, heldWindow: 64, reach: nil)
        let partition = plan.partitions[0]
        if let left = partition.left { return left.needsOperator ? .isLeftToAnotherVersion : .waits }
        if partition.refusal != nil { return .awaitsOperator }
        return .reads(from: partition.firstOffset)
    }

    private static func findings(_ log: Log, _ position: GroupPosition) -> [Finding] {
        let facts = GroupFacts(
            id: "pushfan", positions: .success(log.sample.kind == .parents ? [] : [position]),
            description: .success(
                .init(state: .stable, members: [.init(name: "w", host: "h", partitions: [position.partition])])),
            starts: .success(log.sample.groupStarts(of: [position])))
        return GroupFindings.of(facts, tool: KafkaTool(brokers: "b:9092"))
    }

    @Test(arguments: withoutPosition + withPosition) func workersAndDoctorSayTheSame(log: Log) {
        #expect(Self.worker(log, log.position) == log.verdict)
        let findings = Self.findings(log, log.position)
        let commands = findings.compactMap { $0.state == .failed ? $0.remedy : nil }.filter { $0.contains("group start") }
        let isLeft = log.verdict == .isLeftToAnotherVersion
        #expect(commands.isEmpty == (log.verdict != .awaitsOperator && !isLeft), "\(findings)")
        // Without it only partitions that have no position are chosen.
        #expect(commands.allSatisfy { $0.contains("--replace t:0") == (log.committed != nil) })
        #expect(findings.contains { $0.text.contains("it is not known yet") } == (log.verdict == .waits), "\(findings)")
        #expect(findings.contains { $0.text.contains("written by a newer pushfan (form 9)") } == isLeft)
        let reasons = StatusReport(
            now: Timestamp(milliseconds: 0), groupID: "pushfan", group: .success(.init(state: .stable, members: [])),
            partitions: [], workers: [], starts: log.sample.groupStarts(of: [log.position])
        ).reasons
        #expect(reasons.contains { $0.text.contains("group start") } == (log.verdict == .awaitsOperator), "\(reasons)")
    }

    /// A log of requests without a position, where `group start` says the same as a worker with that `kafka.start`.
    @Test(
        arguments: withoutPosition.filter { $0.sample.kind == .requests && !$0.sample.isLeaderAway },
        [StartRule.beginning, .end, .moment(5)])
    func aPlaceIsThatOfTheWorkersRule(log: Log, rule: StartRule) throws {
        let ruled = Log(
            testDescription: log.testDescription, low: log.low, high: log.high,
            sample: .init(rule: rule, since: log.sample.since), verdict: log.verdict)
        let offset = try #require(rule.offset(in: log.position, since: log.sample.since.first ?? nil))
        #expect(Self.worker(ruled, ruled.position) == .reads(from: offset))
    }

    /// Whatever an operator decides, workers begin there, and doctor has nothing more to say.
    @Test(arguments: (withoutPosition + withPosition).filter { $0.verdict == .awaitsOperator }, [StartRule.beginning, .end])
    func whatAnOperatorDecidesCounts(log: Log, rule: StartRule) throws {
        let offset = try #require(rule.offset(in: log.position, since: nil))
        let commit = GroupStart.commit(at: offset, of: log.position, isOfParents: log.sample.kind == .parents)
        let decided = Log(
            testDescription: log.testDescription, low: log.low, high: log.high, sample: .init(kind: log.sample.kind),
            verdict: .reads(from: offset))
        let position = log.position(commit.offset, commit.metadata)
        #expect(Self.worker(decided, position) == .reads(from: offset))
        #expect(Self.findings(decided, position).allSatisfy { $0.state != .failed })
    }
}
