import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// Requests that come again.
@Suite(.serialized)
struct DedupeTests {
    private static func request(_ id: String, _ more: String = "") -> String {
        #"{"id":"\#(id)"\#(more),"audience":{"categories":["c"]},"platforms":["apple"],"message":{"title":"T"}}"#
    }

    private static let nameless = #"{"audience":{"categories":["c"]},"platforms":["apple"],"message":{"title":"T"}}"#

    private static func key(_ key: String, seconds: Int = 60) -> String {
        #","dedupe":{"key":"\#(key)","window_seconds":\#(seconds)}"#
    }

    private static func moment(in seconds: Double) -> String {
        Date(timeIntervalSinceNow: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func summaries(_ bench: Bench, _ count: Int) throws -> [String] {
        try bench.results(count).map { "\($0.requestID) \($0.summary)" }.sorted()
    }

    private static let sent = "sent success - 1"
    private static let refused = "rejected permanent not_configured 0"
    private static let repeated = "duplicate duplicate duplicate 0"

    @Test func theSecondOneGetsAResultAndNoCall() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(
            all: [
                Self.request("a"), Self.request("b"), Self.request("a"), Self.request("a", #","source":"s""#), Self.request("a"),
            ])
        let results = try bench.results(5)
        #expect(
            results.map { "\($0.requestID) \($0.summary)" }.sorted() == [
                "a \(Self.repeated)", "a \(Self.repeated)", "a \(Self.sent)", "a \(Self.sent)", "b \(Self.sent)",
            ])
        let second = try #require(results.first { $0.summary == Self.repeated })
        #expect(second["replay_safety"] == "pointless")
        #expect(second["error.faults.0.pointer"] == "/id")
        #expect(bench.hub.calls().count == 3)
        #expect(bench.metric("pushfan_records_rejected_total", #"reason="duplicate""#) == 2)
        try worker.stop()
    }

    @Test func aKeyCountsWithinItsWindowAndTenantWhateverTheId() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let start = Int64(Date().timeIntervalSince1970 * 1000) - 100_000
        func publish(_ id: String, _ more: String, second: Int64) throws {
            try bench.publish(Array(Self.request(id, more).utf8), at: start + second * 1000)
        }
        try publish("a", Self.key("k"), second: 0)
        try publish("b", Self.key("k"), second: 50)
        try publish("c", Self.key("l"), second: 50)
        try publish("d", Self.key("k") + #","tenant":"t""#, second: 50)
        try publish("e", Self.key("k", seconds: 10), second: 51)
        try publish("f", Self.key("k", seconds: 10), second: 61)
        #expect(
            try Self.summaries(bench, 6) == [
                "a \(Self.sent)", "b \(Self.repeated)", "c \(Self.sent)", "d \(Self.sent)", "e \(Self.sent)",
                "f \(Self.repeated)",
            ])
        try worker.stop()
    }

    /// Whoever knew another tenant's source and ids could suppress what it sends, where both name one hub.
    @Test(arguments: ["", #","hub":"demo""#]) func noTenantSuppressesWhatAnotherSends(_ hub: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let name = hub + #","source":"s""#
        let tenants = [#","tenant":"t""#, #","tenant":"u""#, "", #","tenant":"t""#, ""]
        try bench.publish(all: tenants.map { Self.request("a", name + $0) })
        #expect(
            try Self.summaries(bench, 5) == [
                "a \(Self.repeated)", "a \(Self.repeated)", "a \(Self.sent)", "a \(Self.sent)", "a \(Self.sent)",
            ])
        try worker.stop()
    }

    @Test func whatWasNotARequestToBeSentCanBeSentAgain() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let replay = #","replay":{"root_request_id":"a","parent_request_id":"a","generation":1,"job_id":"j"}"#
        try bench.publish(all: [
            #"{"id":"a"}"#, Self.request("a", #","hub":"unknown""#), Self.request("a", #","options":{"dry_run":true}"#),
            Self.request("a"), Self.nameless, Self.nameless, Self.request("a"),
        ])
        try bench.publish(all: [Self.request("a", replay)], to: .own)
        let results = try bench.results(8)
        #expect(results.count { $0.summary == Self.sent } == 4)
        #expect(results.filter { $0.summary == Self.repeated }.map(\.record.value).count == 1)
        #expect(bench.hub.calls().count == 4)
        try worker.stop()
    }

    private static let unknown = #","hub":"other""#
    private static let unrouted = "rejected permanent unknown_hub 0"

    private static func settling(_ time: Duration) -> @Sendable (inout WorkerConfiguration) -> Void { { $0.settlingTime = time } }

    /// Lets requests for a hub that is not there have their end: in a worker's first minute they wait for it in a lane.
    private static func waitForRefusals(_ bench: Bench, _ count: Int, settling: Duration) throws {
        if settling > .zero {
            #expect(eventually { bench.metric("pushfan_delayed_total") >= Double(count) })
            bench.clock.advance(by: settling + .seconds(11))
        }
        try bench.results(count)
    }

    /// The wrong one used to count if it came in a worker's first minute, and again for each worker that read it in its own first minute.
    @Test(arguments: [Duration.zero, .seconds(60)], [false, true])
    func aCorrectedHubIsNoRepetitionHoweverYoungTheWorkerIs(settling: Duration, restarts: Bool) throws {
        let bench = try Bench(.quickest, partitions: 1)
        var worker = try bench.startWorker(change: Self.settling(settling))
        try bench.publish(all: [Self.request("a", Self.unknown), Self.request("b", Self.unknown + Self.key("k"))])
        try Self.waitForRefusals(bench, 2, settling: settling)
        if restarts {
            try worker.stop()
            worker = try bench.startWorker(change: Self.settling(.seconds(60)))
        }
        try bench.publish(all: [Self.request("a"), Self.request("c", Self.key("k")), Self.request("a")])
        #expect(
            try Self.summaries(bench, 5) == [
                "a \(Self.repeated)", "a \(Self.unrouted)", "a \(Self.sent)", "b \(Self.unrouted)", "c \(Self.sent)",
            ])
        #expect(bench.hub.calls().count == 2)
        try worker.stop()
    }

    /// The settings were wrong, not the request: it comes again as it is.
    @Test(arguments: [Duration.zero, .seconds(60)])
    func whatWasRefusedForItsHubIsSentOnceTheHubIsThere(settling: Duration) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker(change: Self.settling(settling))
        try bench.publish(all: [Self.request("a", Self.unknown), Self.request("b", Self.unknown + Self.key("k"))])
        try Self.waitForRefusals(bench, 2, settling: settling)
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        #expect(eventually { bench.status.statuses.first?.hubs.map(\.name) == ["demo", "other"] })
        try bench.publish(all: [
            Self.request("a", Self.unknown), Self.request("a", Self.unknown), Self.request("c", Self.unknown + Self.key("k")),
        ])
        #expect(
            try Self.summaries(bench, 5) == [
                "a \(Self.repeated)", "a \(Self.unrouted)", "a \(Self.sent)", "b \(Self.unrouted)", "c \(Self.sent)",
            ])
        #expect(other.tags.count == 2 && bench.hub.calls().isEmpty)
        try worker.stop()
    }

    /// A request that waits for its hub counts: two that are the same must not both be sent when it is there.
    @Test func whatWaitsForItsHubIsNotSentTwice() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker(change: Self.settling(.seconds(60)))
        try bench.publish(all: [Self.request("a", Self.unknown), Self.request("a", Self.unknown)])
        try bench.results(1)
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        #expect(eventually { bench.status.statuses.first?.hubs.map(\.name) == ["demo", "other"] })
        bench.clock.advance(by: .seconds(11))
        #expect(try Self.summaries(bench, 2) == ["a \(Self.repeated)", "a \(Self.sent)"])
        #expect(other.tags.count == 1)
        try worker.stop()
    }

    /// A `replay` block used to make any request one that is never a repetition, and another one look as if it was delivered.
    @Test func whoeverPublishesCanNotCallARequestAReplay() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let replay =
            #","replay":{"root_request_id":"a","parent_request_id":"a","parent_origin":"\#(bench.topics.requests):0:0","generation":1,"job_id":"j"}"#
        for lane in [Lane.high, .normal, .bulk] {
            try bench.publish(all: [Self.request(lane.name), Self.request(lane.name, replay)], to: lane)
        }
        let results = try bench.results(6)
        try worker.stop()
        #expect(results.count { $0.summary == Self.sent } == 3)
        let refused = results.filter { $0.summary == "rejected payload schema_invalid 0" }
        #expect(refused.count == 3)
        #expect(refused.allSatisfy { $0["error.faults.0.pointer"] == "/replay" && $0["replay.job_id"] as String? == nil })
        #expect(bench.hub.calls().count == 3)
    }

    @Test func oneThatFailedExpiredOrIsCancelledIsRepeatedInVain() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=403")])
        // What is cancelled waits in memory, and its time does not come: nobody moves the clock on.
        let worker = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(all: [
            Self.request("failed"), Self.request("expired", #","expires_at":"2020-01-01T00:00:00Z""#),
            Self.request("cancelled", #","not_before":"\#(Self.moment(in: 1800))""#),
        ])
        try bench.results(2)
        try bench.cancel(["cancelled"])
        #expect(try bench.results(3).count { $0.summary == Self.sent || $0.summary == Self.repeated } == 0)
        try bench.publish(all: ["failed", "expired", "cancelled"].map { Self.request($0) })
        #expect(try Self.summaries(bench, 6).count { $0.hasSuffix(Self.repeated) } == 3)
        #expect(bench.hub.calls().count == 1)
        try worker.stop()
    }

    /// What the worker before knew is read again, though it is committed, and only looked at.
    @Test func aRestartForgetsNothing() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let first = try bench.startWorker()
        try bench.publish(
            all: [Self.request("wrong", #","hub":"unknown""#), "no request", Self.request("a", Self.key("k"))], partition: 0)
        try bench.publish(Array(Self.request("x").utf8), partition: 1)
        try bench.results(3)
        try first.stop()
        let second = try bench.startWorker()
        try bench.publish(
            all: [Self.request("a"), Self.request("b", Self.key("k")), Self.request("wrong"), Self.request("c")], partition: 0)
        // Within a partition only: in another one nobody knows of it.
        try bench.publish(Array(Self.request("a").utf8), partition: 1)
        #expect(
            try Self.summaries(bench, 8).filter { !$0.contains("unknown_hub") } == [
                "a \(Self.repeated)", "a \(Self.sent)", "a \(Self.sent)", "b \(Self.repeated)", "c \(Self.sent)",
                "wrong \(Self.sent)", "x \(Self.sent)",
            ])
        #expect(bench.hub.calls().count == 5)
        #expect(bench.metric("pushfan_records_consumed_total") == 9, "what is only looked at is not counted")
        #expect(bench.metric("pushfan_records_rejected_total", #"reason="unknown_hub""#) == 1)
        #expect(try bench.readAll(bench.topics.deadLetters).count == 1)
        try second.stop()
    }

    @Test func theReachIsAllThatIsRemembered() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let change: @Sendable (inout WorkerConfiguration) -> Void = { $0.dedupe = .init(reach: 2) }
        let first = try bench.startWorker(change: change)
        try bench.publish(all: ["a", "b", "c"].map { Self.request($0) })
        try bench.results(3)
        try first.stop()
        let second = try bench.startWorker(change: change)
        try bench.publish(all: ["b", "a", "c", "c"].map { Self.request($0) })
        let results = try Self.summaries(bench, 7)
        // Two offsets lie between the first b and the next, one between the last two c, and more between all others.
        #expect(results.filter { $0.hasSuffix(Self.repeated) } == ["b \(Self.repeated)", "c \(Self.repeated)"])
        try second.stop()
    }

    /// A record above the position that is finished is not made again, and is known all the same; one that is not finished repeats nothing.
    @Test func whatIsFinishedAboveThePositionIsKnown() throws {
        let bench = try Bench(.quickest, partitions: 1)
        // What waits does so in memory, and its time does not come before the clock is moved on.
        let first = try bench.startWorker { $0.topics.delays = [] }
        #expect(eventually { first.report(.ready).passes })
        try bench.publish(all: [Self.request("waits", #","not_before":"\#(Self.moment(in: 1800))""#), Self.request("b")])
        try bench.results(1)
        #expect(eventually { (try? bench.committed()?.metadata.isEmpty) == false })
        try first.stop()
        let second = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(all: [Self.request("b"), Self.request("waits")])
        bench.clock.advance(by: .seconds(1800))
        #expect(
            try Self.summaries(bench, 4) == [
                "b \(Self.repeated)", "b \(Self.sent)", "waits \(Self.repeated)", "waits \(Self.sent)",
            ])
        #expect(bench.hub.calls().count == 2)
        try second.stop()
    }

    /// As after a topic was deleted and made anew: the group stands a little beyond its end, so that looking back finds records.
    @Test func whatATopicHoldsThatWasMadeAnewIsNotTakenForFinished() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.publish(all: (0..<5).map { Self.request("n\($0)") })
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        try consumer.group.commit([
            OffsetCommit(TopicPartition(topic: bench.topics.requests, partition: 0), offset: 7)
        ])
        consumer.close(timeout: .seconds(2))
        let worker = try bench.startWorker { $0.dedupe = .init(reach: 4) }
        try bench.results(5)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0.summary == Self.sent })
        #expect(bench.hub.calls().count == 5)
    }

    @Test(.needsKafka)
    func aPartitionsNewOwnerKnowsWhatTheOldOneDid() throws {
        let bench = try Bench(.real, partitions: 4)
        let first = try bench.startWorker("w1", change: Bench.takeover)
        let requests = (0..<200).map { Self.request("n\($0)", Self.key("k\($0)")) }
        for (index, request) in requests.enumerated() { try bench.publish(Array(request.utf8), partition: Int32(index % 4)) }
        try bench.results(200)
        let second = try bench.startWorker("w2", change: Bench.takeover)
        // Some of the partitions move to it, and then, when the first one is gone, all. One has joined, then both have shared.
        #expect(eventually { bench.metric("pushfan_rebalances_total") >= 3 })
        for (index, request) in requests.enumerated() where index % 2 == 0 {
            try bench.publish(Array(request.utf8), partition: Int32(index % 4))
        }
        try bench.results(300)
        try first.stop()
        for (index, request) in requests.enumerated() where index % 2 == 1 {
            try bench.publish(Array(request.utf8), partition: Int32(index % 4))
        }
        let results = try bench.results(400)
        try second.stop()
        #expect(results.count { $0.summary == Self.sent } == 200)
        #expect(results.count { $0.summary == Self.repeated } == 200)
        #expect(bench.hub.calls().count == 200)
    }

    @Test func withoutAWindowOnlyKeysCount() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { $0.dedupe = .init(window: .zero) }
        try bench.publish(all: [
            Self.request("a"), Self.request("a"), Self.request("b", Self.key("k")), Self.request("c", Self.key("k")),
        ])
        #expect(
            try Self.summaries(bench, 4) == ["a \(Self.sent)", "a \(Self.sent)", "b \(Self.sent)", "c \(Self.repeated)"])
        try worker.stop()
    }

    @Test func whereRepetitionsAreNotLookedForAKeyIsRefusedAndNotIgnored() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { $0.dedupe = nil }
        try bench.publish(all: [Self.request("a"), Self.request("a"), Self.request("b", Self.key("k"))])
        #expect(
            try Self.summaries(bench, 3) == ["a \(Self.sent)", "a \(Self.sent)", "b \(Self.refused)"])
        try worker.stop()
    }
}
