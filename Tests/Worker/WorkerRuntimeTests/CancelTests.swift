import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Requests that are cancelled before they are sent, while they wait, and when it is too late.
@Suite(.serialized, .tags(.waits, .threads))
struct CancelTests {
    private typealias Scope = CancelRecord.Scope

    /// Milliseconds since 1970.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private static func request(_ name: String, in milliseconds: Int64? = nil) -> String {
        var fields = ""
        if let milliseconds {
            let moment = Date(timeIntervalSince1970: Double(now + milliseconds) / 1000)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            fields = #","not_before":"\#(moment.formatted(style))""#
        }
        return
            #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(fields)}"#
    }

    private static func calls(_ bench: Bench, _ name: String) -> Int { bench.hub.calls().count { $0.tags == name } }

    @Test func whatWaitsInMemoryEndsAtOnce() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=300,count=1,tags=retrying")])
        let worker = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(Self.request("retrying"))
        try bench.publish(Self.request("later", in: 1_800_000))
        #expect(eventually { bench.metric("pushfan_retry_queue_records") == 2 && bench.hasRetries })
        // Its time does not come: nobody moves the clock on.
        try bench.cancel(["retrying", "later"], reason: "wrong audience")
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for (name, attempts) in [("later", 0), ("retrying", 1)] {
            #expect(results[name]?.summary == "cancelled cancelled cancelled \(attempts)", "\(name)")
            #expect(results[name]?["error.message"] == "cancelled: wrong audience")
            #expect(results[name]?["replay_safety"] == "safe")
            #expect(Self.calls(bench, name) == attempts)
        }
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
    }

    @Test(arguments: brokers) func whatWaitsInALaneEndsAtOnce(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        let worker = try bench.startWorker()
        // In the lane of 10 minutes: the first one has a timer, the others lie unread behind it.
        for (number, name) in ["first", "second", "other"].enumerated() {
            try bench.publish(Self.request(name, in: 900_000))
            #expect(eventually { bench.metric("pushfan_delayed_total") == Double(number + 1) })
        }
        try bench.cancel(["first"], reason: "wrong audience")
        try bench.results(1)
        // When the first one has gone, the next is the first one.
        try bench.cancel(["second", "nobody"])
        try bench.results(2)
        #expect(eventually { bench.metric("pushfan_cancellations") == 3 })
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_requests_finished_total") == 3 })
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 3)
        #expect(results["other"]?.summary == "sent success - 1")
        for (name, attempts) in [("first", 0), ("second", 0)] {
            #expect(results[name]?.summary == "cancelled cancelled cancelled \(attempts)", "\(name)")
            #expect(results[name]?["error.message"] == (name == "second" ? "cancelled" : "cancelled: wrong audience"))
            #expect(results[name]?["replay_safety"] == "safe")
            #expect(Self.calls(bench, name) == attempts)
        }
        #expect(results["first"]?["origin.topic"] == bench.topics.requests)
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
    }

    /// Anybody who may publish can use another's id, and cancel what then is its own.
    @Test(arguments: [false, true]) func aStrangerWhoUsesTheIdOfARequestDoesNotCancelIt(_ hasLanes: Bool) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { if !hasLanes { $0.topics.delays = [] } }
        let request = Self.request("named", in: 900_000).replacing(#"{"id""#, with: #"{"tenant":"b","id""#)
        for (number, json) in [request, request.replacing(#""id":"named","#, with: "")].enumerated() {
            try bench.publish(json, headers: [("ce_source", "shop")])
            let metric = hasLanes ? "pushfan_delayed_total" : "pushfan_retry_queue_records"
            #expect(eventually { bench.metric(metric) == Double(number + 1) })
        }
        // One has an id, the other one is known by its place.
        let ids = ["named", "\(bench.topics.requests):0:1"]
        for scope in [.init(source: "shop", tenant: "a"), .init(source: "bank", tenant: "b"), .init(source: "bank")] as [Scope] {
            try bench.cancel(ids, of: scope, reason: "a stranger's")
        }
        #expect(eventually { bench.metric("pushfan_cancellations") == 6 })
        #expect(bench.metric("pushfan_requests_finished_total") == 0)
        try bench.cancel(ids, of: .init(source: "shop", tenant: "b"), reason: "its own")
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for id in ids {
            #expect(results[id]?.summary == "cancelled cancelled cancelled 0", "\(id)")
            #expect(results[id]?["error.message"] == "cancelled: its own", "\(id)")
        }
    }

    @Test func aCallUnderWayMayFinishAndIsNotMadeAgain() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,tags=failing"), try Fault(parsing: "status=400,tags=refused")])
        bench.gate.close()
        let worker = try bench.startWorker { $0.retry.base = 30 }
        for name in ["accepted", "failing", "refused"] { try bench.publish(Self.request(name)) }
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 3 })
        try bench.cancel(["accepted", "failing", "refused"])
        #expect(eventually { bench.metric("pushfan_cancellations") == 3 })
        #expect(bench.metric("pushfan_inflight_sends") == 3)
        bench.gate.open()
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["accepted"]?.summary == "sent success - 1")
        #expect(results["failing"]?.summary == "cancelled cancelled cancelled 1")
        #expect(results["refused"]?["state"] == "failed" && results["refused"]?["attempt_count"] == 1)
        #expect(bench.hub.calls().count == 3)
    }

    @Test func whatWasCancelledBeforeItIsReadIsNeverSent() throws {
        try Self.cancelBeforeReading(.quickest, loops: 1)
    }

    @Test(.needsKafka)
    func everyLoopReadsAllCancellationsBeforeItsFirstRequest() throws {
        try Self.cancelBeforeReading(.real, loops: 3)
    }

    private static func cancelBeforeReading(_ broker: Bench.Broker, loops: Int) throws {
        let bench = try Bench(broker, partitions: 3)
        try bench.publish(all: (0..<60).map { request("r\($0)") })
        let cancelled = (0..<60).filter { $0 % 2 == 0 }.map { "r\($0)" }
        try bench.cancel((0..<3000).map { "nobody\($0)" })
        try bench.cancel(cancelled)
        let worker = try bench.startWorker { $0.loops = loops }
        try bench.results(60)
        #expect(eventually { bench.metric("pushfan_cancellations") == 3030 })
        try worker.stop()
        let results = try bench.resultsByRequest()
        let refused = bench.hub.calls().filter { $0.status != 201 }
        for number in 0..<60 {
            let expected = number % 2 == 0 ? "cancelled cancelled cancelled 0" : "sent success - 1"
            #expect(results["r\(number)"]?.summary == expected, "\(results["r\(number)"]?.json ?? [:]), refused: \(refused)")
        }
        #expect(bench.hub.calls().count == 30)
    }

    @Test func onlyRequestsOfBeforeAreMeantAndOddRecordsMeanNone() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let now = Self.now
        try bench.writeControl([
            (Array("cancel/".utf8), Array("{}".utf8)), (Array("pause/hub".utf8), Array("{}".utf8)), ([], []),
            (Array("cancel/sent".utf8), nil), (Array("cancel/".utf8) + [0xFF], Array("{}".utf8)),
            (Array("cancel/stopped".utf8), Array("{".utf8)),
        ])
        try bench.cancel(["again"], at: now - 60_000)
        // What is stopped waits in memory, and its time does not come: nobody moves the clock on.
        let worker = try bench.startWorker { $0.topics.delays = [] }
        for name in ["sent", "again"] { try bench.publish(Self.request(name)) }
        try bench.results(2)
        try bench.publish(Self.request("stopped", in: 1_800_000))
        try bench.cancel(["stopped"])
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for name in ["sent", "again"] { #expect(results[name]?.summary == "sent success - 1", "\(name)") }
        #expect(results["stopped"]?.summary == "cancelled cancelled cancelled 0")
    }

    @Test func whatIsCancelledWhileNoWorkerRunsEndsWithTheNext() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let first = try bench.startWorker()
        try bench.publish(Self.request("waiting", in: 1_800_000))
        try bench.publish(Self.request("kept", in: 1_800_000))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 2 })
        try first.stop()
        try bench.publish(Self.request("unread"))
        try bench.publish(Self.request("sent"))
        try bench.cancel(["waiting", "unread"])
        let second = try bench.startWorker()
        try bench.results(3)
        try second.stop()
        let results = try bench.resultsByRequest()
        #expect(results["sent"]?.summary == "sent success - 1")
        for name in ["waiting", "unread"] { #expect(results[name]?.summary == "cancelled cancelled cancelled 0", "\(name)") }
        #expect(results["kept"] == nil && bench.hub.calls().count == 1)
    }

    /// The one broker that could tell what is held or cancelled is away when the worker starts, and again when it has read the topic.
    @Test func aControlTopicWithoutALeaderHoldsUpAllUntilItIsRead() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        let control = TopicPartition(topic: bench.topics.control, partition: 0)
        try bench.publish(Self.request("unseen"))
        try bench.publish(Self.request("first"))
        try bench.cancel(["unseen"])
        cluster.setLeader(of: control, to: nil)
        let worker = try bench.startWorker()
        // The question where the topic ends has its own limit, by the system's clock.
        #expect(eventually { bench.metric("pushfan_assigned_partitions") > 0 })
        let words =
            "no leader of the control topic \(control.topic) answers; no request begins before it was read to its end once"
        #expect(
            bench.passTime(by: .milliseconds(500)) { bench.status.statuses.contains { $0.problem?.contains(words) == true } })
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains(words) == true }
            })
        #expect(!worker.report(.ready).passes)
        #expect(bench.metric("pushfan_requests_finished_total") == 0 && bench.hub.calls().isEmpty)
        #expect(bench.logLines.all.count { $0.contains(#""level":"error""#) && $0.contains("no request begins before") } == 1)
        cluster.setLeader(of: control, to: 1)
        try bench.results(2)
        #expect(eventually { bench.metric("pushfan_cancellations") == 1 && worker.report(.ready).passes })
        cluster.setLeader(of: control, to: nil)
        try bench.publish(Self.request("later"))
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["unseen"]?.summary == "cancelled cancelled cancelled 0")
        for name in ["first", "later"] { #expect(results[name]?.summary == "sent success - 1", "\(name)") }
    }

    /// The embedded broker only says that it may not be seen.
    @Test func aControlTopicThatMayNotBeReadHoldsUpAllUntilItMay() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        try bench.publish(Self.request("unseen"))
        try bench.publish(Self.request("sent"))
        try bench.cancel(["unseen"])
        cluster.setTopic(bench.topics.control, isForbidden: true)
        let worker = try bench.startWorker()
        let words = "the control topic \(bench.topics.control) may not be read; no request begins"
        #expect(
            eventually {
                worker.report(.ready).checks.contains { $0.name == "group" && $0.reason?.contains(words) == true }
            })
        #expect(eventually { bench.status.statuses.contains { $0.problem?.contains(words) == true && $0.heedsCancellations } })
        #expect(bench.metric("pushfan_requests_finished_total") == 0 && bench.hub.calls().isEmpty)
        cluster.setTopic(bench.topics.control, isForbidden: false)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 2 })
        try bench.results(2)
        #expect(eventually { worker.report(.ready).passes })
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["unseen"]?.summary == "cancelled cancelled cancelled 0")
        #expect(results["sent"]?.summary == "sent success - 1")
        #expect(bench.logLines.all.count { $0.contains(#""level":"error""#) && $0.contains("may not be read") } == 1)
    }

    /// The embedded broker only says that it is missing.
    @Test func aControlTopicThatComesLateIsReadFromThenOn() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        cluster.setTopic(bench.topics.control, isMissing: true)
        let worker = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_assigned_partitions") > 0 })
        let words = "the control topic \(bench.topics.control) is missing"
        #expect(eventually { bench.status.statuses.contains { $0.problem?.contains(words) == true && !$0.heedsCancellations } })
        #expect(eventually { worker.report(.ready).passes })
        #expect(worker.report(.ready).checks.contains { $0.name == "group" && $0.lack?.contains(words) == true })
        try bench.publish(Self.request("later", in: 7_200_000))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        cluster.setTopic(bench.topics.control, isMissing: false)
        try bench.cancel(["later"])
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_cancellations") == 1 })
        try bench.results(1)
        #expect(eventually { bench.status.statuses.allSatisfy { $0.problem == nil && $0.heedsCancellations } })
        #expect(worker.report(.ready).checks.allSatisfy { $0.lack == nil })
        try worker.stop()
        #expect(try bench.resultsByRequest()["later"]?.summary == "cancelled cancelled cancelled 0")
        #expect(bench.logLines.all.count { $0.contains("orders and cancellations are not seen") } == 1)
    }

    @Test(.needsKafka) func aControlTopicThatIsMadeAnewIsReadAgain() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.cancel(["a", "b", "c"])
        #expect(eventually { bench.metric("pushfan_cancellations") == 3 })
        try Deletion.delete([bench.topics.control], bench)
        #expect(eventually { bench.status.statuses.contains { !$0.heedsCancellations } })
        try bench.create(bench.topics.control)
        try bench.publish(Self.request("later", in: 7_200_000))
        try bench.cancel(["later"])
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_cancellations") == 4 })
        try bench.results(1)
        try worker.stop()
        #expect(try bench.resultsByRequest()["later"]?.summary == "cancelled cancelled cancelled 0")
    }

    @Test func withoutTheTopicRequestsAreSentAsEver() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { $0.topics.control = "\(bench.name).nothing" }
        try bench.publish(Self.request("sent"))
        try bench.results(1)
        try worker.stop()
        #expect(try bench.resultsByRequest()["sent"]?.summary == "sent success - 1")
    }
}
