import Delivery
import GroupPositions
import JobSupport
import Kafka
import PushModel
import Testing

@testable import Console
@testable import Groups

@Suite struct StatusReportTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func partition(
        _ number: Int32 = 0, of topic: String = "t", high: Int64 = 10, committed: Int64? = 10, metadata: String = "",
        waitsSince: Int64? = nil, owner: String? = "w1"
    ) -> StatusReport.Partition {
        StatusReport.Partition(
            position: GroupPosition(
                TopicPartition(topic: topic, partition: number), low: 0, high: high, committed: committed, metadata: metadata),
            oldest: waitsSince.map { Timestamp(milliseconds: $0) }, owner: owner, fromWorker: nil, isDelayed: topic == "delay")
    }

    private static func report(
        _ partitions: [StatusReport.Partition], state: GroupDescription.State = .stable, members: Int = 1, page: String? = nil
    ) throws -> StatusReport {
        let list = [GroupMember](repeating: .init(name: "w1", host: "h", partitions: []), count: members)
        var workers: [StatusReport.Worker] = []
        if let page {
            workers = [.init(name: "http://w", page: .success(try #require(WorkerPage(Array(page.utf8)))), raw: Array(page.utf8))]
        }
        return StatusReport(
            now: now, groupID: "g", group: .success(.init(state: state, members: list)), partitions: partitions, workers: workers)
    }

    @Test func lagIsTheOldestOfAllPartitionsAndTheSumOfTheirRecords() throws {
        let report = try Self.report([
            Self.partition(committed: 7, waitsSince: 990_000), Self.partition(1, committed: 5, waitsSince: 940_000),
            Self.partition(2, high: 12, committed: 10), Self.partition(3, committed: 9, waitsSince: 2_000_000),
        ])
        #expect(report.lag == 9)
        #expect(report.lagMilliseconds == 60_000)
        let future = try #require(report.partitions.dropFirst(3).first)
        #expect(report.age(of: future) == 0)
        #expect(report.reasons.isEmpty)
        #expect(StatusFormatter(report: report).heading == "group g: stable, 1 member; 9 requests wait, the oldest for 1 min 0 s")
    }

    @Test(arguments: [(4999, nil), (5000, false), (900_000, false), (900_001, true)] as [(Int64, Bool?)])
    func anOpenTransactionIsAReasonOnceItIsLong(age: Int64, isStuck: Bool?) throws {
        let since = Self.now.adding(milliseconds: -age)
        var partition = Self.partition(high: 15)
        partition.counted = WaitingCount(
            requests: 5, oldest: since,
            transaction: OpenTransaction(
                partition: partition.position.partition, offset: 10, recordCount: 5, since: since, source: "shop"))
        let report = try Self.report([partition])
        #expect(report.lag == 5 && report.reasons.map(\.isStuck) == (isStuck.map { [$0] } ?? []))
        let words = "t[0]: 5 records behind an open transaction since \(since.text), from offset 10 on, of requests from shop: "
        #expect(report.reasons.allSatisfy { $0.text.hasPrefix(words) })
        let json = String(decoding: report.json { _ in "" }, as: UTF8.self)
        let object = #"{"offset":10,"records":5,"since":"\#(since.text)","source":"shop"}"#
        #expect(json.contains(#""open_transaction":\#(object)"#), "\(json)")
    }

    @Test func aPartitionFromWhichTheLastRecordIsGoneIsAReason() throws {
        var report = try Self.report([Self.partition(committed: 10)])
        var finished = FinishedOffsets()
        finished.marks = ReadMarks(RecordMark(offset: 9, time: 1000, key: nil, value: nil))
        let position = GroupPosition(
            TopicPartition(topic: "t", partition: 4), low: 0, high: 20, committed: 10, metadata: finished.encoded())
        report.starts = StartSample(last: .absent, first: .absent).groupStarts(of: [position])
        let reason = try #require(report.reasons.first)
        #expect(reason.isStuck && report.reasons.count == 1)
        #expect(reason.text.contains("is gone from") && reason.text.contains("stop the workers, then `pushfan group start"))
        #expect(reason.text.contains("--at finished --replace t:4`"))
    }

    @Test(arguments: [
        (GroupDescription.State.empty, 0, true, "no worker is in the group, and 3 requests wait"),
        (.rebalancing, 2, false, "the group is rebalancing"),
    ])
    func aGroupWithoutReadersIsAReason(state: GroupDescription.State, members: Int, isStuck: Bool, text: String) throws {
        let report = try Self.report([Self.partition(committed: 7, waitsSince: 0)], state: state, members: members)
        #expect(report.reasons.map(\.isStuck) == [isStuck])
        #expect(report.reasons.first?.text.contains(text) == true)
    }

    @Test(arguments: [
        (GroupDescription.State.stable, 1, "stable, 1 member; 1 request waits, the oldest for 1.0 s"),
        (.rebalancing, 2, "rebalancing, 2 members; 1 request waits, the oldest for 1.0 s"),
        (.empty, 0, "no members; 1 request waits, the oldest for 1.0 s"),
        (.absent, 0, "not there yet; 1 request waits, the oldest for 1.0 s"),
        (.unknown, 3, "3 members; 1 request waits, the oldest for 1.0 s"),
    ])
    func theHeadingSaysHowTheGroupIs(state: GroupDescription.State, members: Int, text: String) throws {
        let report = try Self.report([Self.partition(committed: 9, waitsSince: 999_000)], state: state, members: members)
        #expect(StatusFormatter(report: report).heading == "group g: \(text)")
    }

    @Test func partitionsThatNobodyReadsAreNamed() throws {
        let report = try Self.report([
            Self.partition(owner: nil), Self.partition(1), Self.partition(4, owner: nil), Self.partition(of: "u"),
            Self.partition(of: "v", owner: nil), Self.partition(1, of: "v", owner: nil),
        ])
        #expect(
            report.reasons == [
                .init(.noReader, text: "no consumer for partition 0, 4 of t", isStuck: true),
                .init(.noReader, text: "no consumer for v", isStuck: true),
            ])
        #expect(StatusFormatter(report: report).partitions(all: false)?.csv.map { $0.prefix(3) } == ["top", "t,0", "t,4"])
    }

    @Test func aPartitionThatWaitsForItsLeaderIsNamed() throws {
        let page =
            #"{"loops":[{"worker":"w1","mode":"running","partitions":[{"topic":"t","partition":1,"waits_for_leader":true}]}]}"#
        let report = try Self.report([Self.partition(), Self.partition(1)], page: page)
        #expect(
            report.reasons == [
                .init(
                    .start,
                    text:
                        "t[1]: the group has no position there, and its worker waits for a leader, or for other workers, to begin"
                )
            ])
    }

    @Test func aPartitionWhoseRecordsSayWhereToBeginIsNamedWithHowFarTheyAreRead() throws {
        let reading = #"{"topic":"t","partition":1,"reading":{"records":40000,"of":120000,"bytes":40500000}}"#
        let page = #"{"loops":[{"worker":"w1","mode":"running","partitions":[\#(reading)]}]}"#
        let report = try Self.report([Self.partition(), Self.partition(1)], page: page)
        let text =
            "t[1]: its worker reads records that say where to begin (40000 of 120000 records, 40 MB), and begins by itself"
        #expect(report.reasons == [.init(.start, text: text)])
    }

    @Test func whatAWorkerDoesNotHeedIsSaidInItsWords() throws {
        let trouble = "no leader of the control topic c answers; requests go on, and cancellations are not seen"
        let page = #"{"loops":[{"worker":"w1","mode":"running","trouble":"\#(trouble)","partitions":[]}]}"#
        let report = try Self.report([Self.partition()], page: page)
        #expect(report.reasons == [.init(.problem, text: "w1: \(trouble)")])
    }

    @Test func aRequestInADelayLaneIsLateOnlyOnceItIsDue() throws {
        let waiting = try Self.report([
            Self.partition(committed: 8, waitsSince: 999_000), Self.partition(of: "delay", committed: 3, waitsSince: 1_009_000),
        ])
        #expect(waiting.lag == 2 && waiting.delayedCount == 7 && waiting.lagMilliseconds == 1000)
        let heading = "group g: stable, 1 member; 2 requests wait, the oldest for 1.0 s; at most 7 are delayed, the first "
        #expect(StatusFormatter(report: waiting).heading == heading + "is due in 9.0 s")
        let late = try Self.report([
            Self.partition(committed: 8, waitsSince: 999_000), Self.partition(of: "delay", committed: 3, waitsSince: 996_000),
        ])
        #expect(late.lagMilliseconds == 4000)
        #expect(StatusFormatter(report: late).heading == heading + "was due 4.0 s ago")
        #expect(StatusFormatter(report: late).partitions(all: false)?.csv.map { $0.prefix(5) } == ["topic", "t,0,1", "delay"])
        #expect(StatusFormatter(report: waiting).partitions(all: false)?.csv.map { $0.prefix(5) } == ["topic", "t,0,1"])
        let alone = try Self.report([Self.partition(of: "delay", waitsSince: 1_009_000)], state: .empty, members: 0)
        #expect(alone.reasons.map(\.isStuck) == [false])
        let held = try Self.report([Self.partition(of: "delay", committed: 3, waitsSince: 2_000_000)], state: .empty, members: 0)
        #expect(held.reasons.map(\.isStuck) == [true], "nobody will send them when they are due")
    }

    /// One request waits and two are delayed; the ends of two transactions take offsets as well.
    @Test(arguments: [(Int64(0), "2 are delayed"), (4, "at most 6 are delayed")])
    func theHeadingAndTheReasonCountAlike(unread: Int64, delayed: String) throws {
        var lane = Self.partition(committed: 8, waitsSince: 999_000)
        lane.counted = WaitingCount(requests: 1, oldest: lane.oldest)
        var delay = Self.partition(of: "delay", committed: 4, waitsSince: 1_009_000)
        delay.counted = WaitingCount(requests: 2, cancelled: 1, unread: unread, oldest: delay.oldest)
        var held = Self.partition(of: "held", owner: nil)
        held.isHeld = true
        held.counted = WaitingCount(requests: 3, oldest: Timestamp(milliseconds: 1_001_000))
        let report = try Self.report([lane, delay, held], state: .empty, members: 0)
        #expect(
            StatusFormatter(report: report).heading
                == "group g: no members; 1 request waits, the oldest for 1.0 s; \(delayed), the first is due in 9.0 s; "
                + "3 are held for an ordering key; of all these 1 is cancelled and ends in turn")
        #expect(
            report.reasons.map(\.text) == [
                "no worker is in the group, and 1 request waits, \(delayed), 3 are held: `pushfan worker` starts one"
            ])
        #expect(
            StatusFormatter(report: report).topics.csv.dropFirst().map {
                $0.split(separator: ",", omittingEmptySubsequences: false)[3]
            }
                == ["1", "\(2 + unread)", "3"])
        let stable = try Self.report([lane, delay, held])
        #expect(stable.reasons.isEmpty, "held requests have no reader of their own")
    }

    @Test func topicsAreSummedUpAndQuietPartitionsAreLeftOut() throws {
        let quiet = (0..<12).map { Self.partition($0, of: "quiet") }
        let busy = [Self.partition(of: "busy"), Self.partition(1, of: "busy", committed: 4, waitsSince: 940_000)]
        let telling = StatusFormatter(report: try Self.report(quiet + busy))
        #expect(
            telling.topics.csv == [
                "topic,partitions,read,lag,oldest,in_work", "quiet,12,12,0,,", "busy,2,2,6,1 min 0 s,",
            ])
        #expect(telling.partitions(all: false)?.csv.count == 2)
        #expect(telling.partitions(all: true)?.csv.count == 15)
        #expect(StatusFormatter(report: try Self.report(quiet)).partitions(all: false) == nil)
    }

    @Test func aFullWindowNamesTheOffsetThatHoldsItUp() throws {
        var finished = FinishedOffsets()
        finished.insert(OffsetLedger.maximumWindow - 1)
        let report = try Self.report([
            Self.partition(high: 50_000, committed: 20, metadata: finished.encoded(), waitsSince: 0),
            Self.partition(1, high: 30, committed: 20, metadata: "7?"),
        ])
        try #require(report.reasons.map(\.isStuck) == [true, true])
        #expect(report.reasons[0].text.contains("its window is full behind offset 20"))
        #expect(report.reasons[1].text.contains("t[1]: its position has metadata"))
    }

    @Test(arguments: [
        (
            #""mode":"running","circuit":"open","circuit_reason":"failures_in_row","circuit_change":"1970-01-01T00:16:43Z""#,
            true,
            "w1: the hub is unavailable (failures_in_row); the next probe goes in 3.0 s"
        ),
        (#""mode":"running","circuit":"half_open""#, false, "w1: the hub is unavailable"),
        (#""mode":"running","circuit":"closed","throttled_until":"1970-01-01T00:17:00Z""#, false, "is called again in 20.0 s"),
        (#""mode":"stopping","circuit":"closed""#, false, "w1: is stopping"),
        (
            #""mode":"running","circuit":"closed","hubs":[{"hub":"h","circuit":"closed","trouble":"the hub h refuses the key: 401"}]"#,
            true, "w1: the hub h refuses the key: 401: `pushfan doctor` asks it"
        ),
        (
            #""mode":"running","hubs":[{"hub":"h","circuit":"open","trouble":"the hub h answers 503"}]"#,
            true, "w1: the hub is unavailable (the hub h answers 503)"
        ),
        (#""mode":"running","circuit":"closed","at":"1970-01-01T00:15:00Z""#, true, "w1: has not turned for 1 min 40 s"),
    ])
    func whatAWorkerSaysIsAReason(loop: String, isStuck: Bool, text: String) throws {
        let report = try Self.report([Self.partition()], page: #"{"hub":"h","loops":[{"worker":"w1",\#(loop)}]}"#)
        #expect(report.reasons.map(\.isStuck) == [isStuck])
        #expect(report.reasons.first?.text.contains(text) == true)
    }

    @Test func whatCouldNotBeAskedIsSaid() throws {
        #expect(try Self.report([]).unasked.count == 1)
        let refusal = KafkaError.invalidArgument("not allowed")
        let refused = StatusReport(
            now: Self.now, groupID: "g", group: .failure(refusal), partitions: [],
            workers: [.init(name: "http://w", page: .failure(.init("nothing answers")))],
            gaps: [.missing(topic: "t"), .cancellations(.unfinished(topic: "c"))])
        #expect(
            refused.unasked.map { $0.text(brokers: "") } == [
                "t: there is no such topic; `pushfan topics create` makes it",
                "what was cancelled: c cannot be read to its end in time", "members of the group: \(refusal.description)",
                "the worker at http://w: nothing answers",
            ])
        #expect(refused.reasons.isEmpty)
    }

    private static func worker(_ name: String, age: Int64) throws -> StatusReport.Worker {
        let page = Array(#"{"loops":[{"worker":"\#(name)","mode":"stopping"}]}"#.utf8)
        return .init(name: name, age: age, page: .success(try #require(WorkerPage(page))), raw: page)
    }

    @Test func whoHasFallenSilentIsAReasonAndWhatItSaidIsNone() throws {
        let report = StatusReport(
            now: Self.now, groupID: "g", group: .success(.init(state: .stable, members: [])), partitions: [],
            workers: [try Self.worker("w1", age: 800), try Self.worker("w2", age: 12_400)])
        let reasons = report.reasons.map(\.text)
        #expect(reasons.contains("w2: has not reported for 12 s") && reasons.contains("w1: is stopping"))
        #expect(!reasons.contains("w2: is stopping") && report.loops.map(\.worker) == ["w1"])
        let json = String(decoding: report.json { $0.text(brokers: "") }, as: UTF8.self)
        #expect(json.contains(#"{"worker":"w1","age_ms":800,"stale":false,"status":{"loops":[{"worker":"w1""#))
        #expect(json.contains(#"{"worker":"w2","age_ms":12400,"stale":true,"#))
    }

    /// A report that names some of 400 partitions lacks nothing that is wrong.
    @Test(arguments: [
        (#""hubs_omitted":9,"partitions_omitted":348"#, []),
        (#""partitions_omitted":348,"troubles_omitted":1"#, ["http://w: 1 more is in trouble than its report can name"]),
        (#""partitions_omitted":348,"troubles_omitted":7"#, ["http://w: 7 more are in trouble than its report can name"]),
    ])
    func onlyTroubleThatAReportCannotNameIsMissed(members: String, texts: [String]) throws {
        let report = try Self.report([], page: #"{"loops":[{"worker":"w1",\#(members)}]}"#)
        #expect(report.unasked.map { $0.text(brokers: "") } == texts)
    }

    @Test(arguments: [(0, "5"), (348, "at least 5")]) func requestsInWorkThatNoReportNamesAreNotCountedAsNone(
        omitted: Int, inWork: String
    ) throws {
        let page = #"{"loops":[{"worker":"w1","partitions_omitted":\#(omitted)}]}"#
        var named = WorkerPage.Partition()
        named.inWork = 5
        let partitions = [named, nil].enumerated().map { number, fromWorker in
            StatusReport.Partition(
                position: GroupPosition(
                    TopicPartition(topic: "t", partition: Int32(number)), low: 0, high: 10, committed: 7, metadata: ""),
                oldest: Self.now, owner: "w1", fromWorker: fromWorker)
        }
        let report = try Self.report(partitions, page: page)
        #expect(StatusFormatter(report: report).topics.csv.last?.hasSuffix(",\(inWork)") == true)
    }

    @Test(arguments: [(0, true, []), (1, true, ["none has reported itself"]), (1, false, ["there is no topic push.status.v1"])])
    func workersAreMissedOnlyWhereThereAreSome(members: Int, hasTopic: Bool, words: [String]) throws {
        var report = try Self.report([], members: members)
        report.hasStatusTopic = hasTopic
        let texts = report.unasked.map { $0.text(brokers: "") }
        #expect(texts.count == words.count && zip(texts, words).allSatisfy { $0.contains($1) && $0.contains("--worker http") })
    }
}
