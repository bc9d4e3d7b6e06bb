import Delivery
import GroupPositions
import Kafka
import PushModel
import Testing

@testable import Groups

/// Why requests wait although all works, and the kinds of all reasons.
@Suite struct LimitReasonsTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func partition(
        _ number: Int32, of topic: String = "t", waiting: Int64, metadata: String = "", owner: String? = "w1"
    ) -> StatusReport.Partition {
        let position = GroupPosition(
            TopicPartition(topic: topic, partition: number), low: 0, high: waiting, committed: 0, metadata: metadata)
        var partition = StatusReport.Partition(
            position: position, oldest: waiting > 0 ? Timestamp(milliseconds: 990_000) : nil, owner: owner, fromWorker: nil)
        partition.counted = WaitingCount(requests: waiting, oldest: partition.oldest)
        return partition
    }

    private static func report(
        _ partitions: [StatusReport.Partition] = [], state: GroupDescription.State = .stable, members: Int = 1,
        pages: [String] = [], age: Int64? = nil
    ) throws -> StatusReport {
        let list = [GroupMember](repeating: .init(name: "w1", host: "h", partitions: []), count: members)
        return StatusReport(
            now: now, groupID: "g", group: .success(.init(state: state, members: list)), partitions: partitions,
            workers: try pages.map { page in
                .init(name: "w1", age: age, page: .success(try #require(WorkerPage(Array(page.utf8)))))
            })
    }

    private static func page(_ loop: String = "", orders: String = "") -> String {
        #"{"orders":[\#(orders)],"loops":[{"worker":"w1","mode":"running"\#(loop)}]}"#
    }

    private static func hub(_ members: String, isAlone: Bool = true) -> String {
        let other = isAlone ? "" : #",{"hub":"south","circuit":"closed"}"#
        return page(#","hubs":[{"hub":"north","circuit":"closed","waiting_for_turn":230,\#(members)}\#(other)]"#)
    }

    /// The page of a worker, the kind of the one reason, and its text.
    private static let limits: [(page: String, kind: StatusReport.WaitCause.Kind, text: String)] = [
        (
            hub(#""limited_by":"rate_limit","limited_to":100.0,"rate_per_second":100.0"#), .rateLimit,
            "w1: the hub takes 100 calls/s (hub.rate_limit), and 230 calls wait for their turn"
        ),
        (
            hub(#""limited_by":"rate_limit","limited_to":100.0,"rate_per_second":33.3"#, isAlone: false), .rateLimit,
            "w1: the hub north takes 100 calls/s (its rate_limit, 33.3 calls/s of them here), and 230 calls wait for their turn"
        ),
        (
            hub(#""limited_by":"limit","limited_to":5.0,"limited_by_order":"l-12345678","rate_per_second":5.0"#), .limit,
            "w1: the hub gets 5 calls/s by limit l-12345678, and 230 calls wait for their turn: `pushfan release l-12345678` ends it"
        ),
        (
            hub(#""limited_by":"throttle","limited_to":40.5"#), .throttle,
            "w1: the hub throttles (429), and gets 40.5 calls/s until it does not, and 230 calls wait for their turn"
        ),
        (
            hub(#""limited_by":"in_flight","limit":64"#), .inFlight,
            "w1: the hub gets 64 calls at once (worker.max_in_flight), and 230 calls wait for their turn"
        ),
        (
            hub(#""limited_by":"in_flight","limit":1"#, isAlone: false), .inFlight,
            "w1: the hub north gets 1 call at once (its max_in_flight), and 230 calls wait for their turn"
        ),
        (
            hub(#""limited_by":"adaptive","limit":16"#), .adaptive,
            "w1: the hub bears 16 calls at once at present (found by adaptive_concurrency), and 230 calls wait for their turn"
        ),
        (
            page(#","kafka_trouble":"brokers failed","last_commit":"1970-01-01T00:16:35Z""#), .kafka,
            "w1: brokers failed; the last commit was 5.0 s ago"
        ),
        (
            page(#","head_of_line":{"topic":"t","partition":3,"offset":4711,"waiting":30,"of":31}"#), .key,
            "t[3]: 30 requests wait for one ordering key, behind the request at offset 4711"
        ),
        (
            page(orders: #"{"id":"h-12345678","kind":"hold","waiting":12}"#), .hold,
            "hold h-12345678: 12 requests were put to wait: `pushfan release h-12345678` ends it"
        ),
        (
            page(orders: #"{"id":"l-12345678","kind":"limit","waiting":12,"rate":5,"calls":1}"#), .limit,
            "limit l-12345678 to 5 calls/s: 1 call waits for its turn: `pushfan release l-12345678` ends it"
        ),
    ]

    @Test(arguments: limits)
    func eachLimitIsAReasonWithItsNumberAndWhose(page: String, kind: StatusReport.WaitCause.Kind, text: String) throws {
        let reasons = try Self.report(pages: [page]).reasons
        #expect(reasons == [.init(kind, text: text)], "\(reasons)")
        #expect(try Self.report(pages: [page], age: 60_000).reasons.map(\.kind) == [.silence], "it holds no more")
    }

    /// Of limits without anything that waits, of others' words, and of forged ids nothing is said.
    @Test(
        arguments: [
            page(orders: #"{"id":"h-12345678","kind":"hold","waiting":0},{"id":"l-12345678","kind":"limit","waiting":9}"#),
            page(orders: #"{"id":"h-1; rm -rf /","kind":"hold","waiting":3}"#),
            hub(#""limited_by":"outage""#), hub(#""limited_by":"kafka""#), hub(#""limited_by":"limit""#),
            hub(#""limited_by":"of a later version","limited_to":5.0"#), hub(#""limited_by":"hold","limited_to":5.0"#),
            hub(#""limited_by":"limit","limited_by_order":"l-1 `x`","limited_to":5.0"#), hub(#""limited_by":7"#),
            page(#","kafka_trouble":7,"head_of_line":7"#),
        ])
    func ofNothingElseIsAReasonMade(page: String) throws {
        #expect(try Self.report(pages: [page]).reasons == [])
    }

    @Test func ordersOfSeveralWorkersAreOneReason() throws {
        let page = Self.page(orders: #"{"id":"h-12345678","kind":"hold","waiting":12}"#)
        let reasons = try Self.report(pages: [page, page]).reasons
        #expect(reasons.map(\.text) == ["hold h-12345678: 24 requests were put to wait: `pushfan release h-12345678` ends it"])
    }

    /// What waits in the partitions of a topic, and whether the first is named.
    @Test(
        arguments: [
            ([20, 0, 0], true), ([19, 0, 0], false), ([90, 10, 0], true), ([89, 11, 0], false), ([500], false),
        ] as [([Int64], Bool)])
    func aPartitionWithMostOfWhatWaitsIsAReason(waiting: [Int64], isNamed: Bool) throws {
        let partitions = waiting.enumerated().map { Self.partition(Int32($0), waiting: $1) }
        let text =
            "t[0]: \(waiting[0]) of the \(waiting.reduce(0, +)) requests that wait in this topic are in this partition, "
            + "so more workers would not help"
        #expect(try Self.report(partitions).reasons == (isNamed ? [.init(.partition, text: text)] : []))
        #expect(try !Self.report(partitions, state: .rebalancing).reasons.contains { $0.kind == .partition })
    }

    @Test func everyKindHasAReason() throws {
        var finished = FinishedOffsets()
        finished.insert(OffsetLedger.maximumWindow - 1)
        var hidden = Self.partition(0, of: "u", waiting: 5)
        hidden.counted?.transaction = OpenTransaction(
            partition: hidden.position.partition, offset: 0, recordCount: 5, since: Timestamp(milliseconds: 900_000), source: nil)
        let reports = try [
            Self.report(state: .empty, members: 0), Self.report(state: .rebalancing),
            Self.report([Self.partition(0, waiting: 1, owner: nil)]),
            Self.report([
                Self.partition(0, waiting: 50_000, metadata: finished.encoded()), Self.partition(1, waiting: 9, metadata: "7?"),
            ]),
            Self.report([hidden]), Self.report([Self.partition(0, waiting: 30), Self.partition(1, waiting: 0)]),
            Self.report(pages: [Self.page()], age: 60_000),
            Self.report(pages: [#"{"loops":[{"worker":"w1","mode":"stopping","trouble":"odd","circuit":"open"}]}"#]),
            Self.report(pages: [Self.page(#","circuit":"closed","throttled_until":"1970-01-01T00:17:00Z""#)]),
            Self.report(pages: [Self.page(#","partitions":[{"topic":"t","partition":1,"waits_for_leader":true},{"left":true}]"#)]
            ),
        ]
        let kinds = Set(reports.flatMap(\.reasons).map(\.kind)).union(Self.limits.map(\.kind))
        let missing = StatusReport.WaitCause.Kind.allCases.filter { !kinds.contains($0) }
        #expect(missing == [])
    }

    @Test func aReasonIsJSONWithItsKind() {
        let reason = StatusReport.WaitCause(.rateLimit, text: #"a "b""#)
        #expect(String(decoding: reason.json(), as: UTF8.self) == #"{"kind":"rate_limit","stuck":false,"text":"a \"b\""}"#)
        #expect(String(decoding: reason.json(limit: 3), as: UTF8.self) == #"{"kind":"rate_limit","stuck":false,"text":"a \""}"#)
    }
}
