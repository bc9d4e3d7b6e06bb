import Delivery
import Foundation
import HubEmulator
import Observability
import Outcomes
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// One worker and several hubs: each request goes to its own, and what one hub does holds up nobody else's.
@Suite(.serialized)
struct HubsTests {
    private static func request(_ name: String, _ members: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(members)}"#
    }

    @Test func everyRequestGoesToTheHubThatItNamesOrItsTenantHasOrTheDefault() throws {
        let bench = try Bench(.quickest)
        let (eu, us) = (try FurtherHub("eu"), try FurtherHub("us"))
        let worker = try bench.startWorker {
            $0.hubs += [try eu.settings(), try us.settings()]
            $0.tenantHubs = ["acme": "us"]
        }
        let requests: [(name: String, members: String, hub: String)] = [
            ("plain", "", "demo"), ("named", #","hub":"eu""#, "eu"), ("tenants", #","tenant":"acme""#, "us"),
            ("both", #","tenant":"acme","hub":"eu""#, "eu"), ("other", #","tenant":"globex""#, "demo"),
        ]
        try bench.publish(all: requests.map { Self.request($0.name, $0.members) } + [Self.request("lost", #","hub":"asia""#)])
        try bench.results(6)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for (name, _, hub) in requests {
            #expect(results[name]?.summary == "sent success - 1")
            #expect(results[name]?.hub == hub, "\(name)")
        }
        #expect(bench.hub.calls().compactMap(\.tags).sorted() == ["other", "plain"])
        #expect(eu.tags.sorted() == ["both", "named"] && us.tags == ["tenants"])
        #expect(results["lost"]?.summary == "rejected permanent unknown_hub 0" && results["lost"]?.hub == "asia")
        let message: String? = results["lost"]?["error.message"]
        #expect(message?.contains("demo, eu, us") == true)
        for (hub, count) in [("demo", 3.0), ("eu", 2), ("us", 1)] {
            #expect(bench.metric("pushfan_requests_finished_total", #"hub="\#(hub)""#) == count)
        }
    }

    @Test func withoutADefaultARequestThatNamesNoHubIsRefused() throws {
        let bench = try Bench(.quickest)
        let worker = try bench.startWorker { $0.defaultHub = nil }
        try bench.publish(all: [Self.request("plain"), Self.request("named", #","hub":"demo""#)])
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["plain"]?.summary == "rejected permanent unknown_hub 0" && results["plain"]?.hub == "")
        #expect(results["named"]?.summary == "sent success - 1")
    }

    static let troubles = ["status=503", "status=401", "throttle,retry-after=200", "hang=before"]

    @Test(arguments: troubles) func aHubInTroubleHoldsUpItsOwnRequestsAlone(_ trouble: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        bench.hub.arm([try Fault(parsing: trouble)])
        let worker = try bench.startWorker {
            $0.maxInFlight = 8
            $0.hubs.append(try other.settings { $0.maxInFlight = 8 })
            $0.retry.maxAttempts = 20
        }
        // All in one partition, with many of the hub in trouble before and between those of the other.
        let lot = (0..<400).flatMap { number in
            [Self.request("bad\(number)"), Self.request("bad\(number)b"), Self.request("good\(number)", #","hub":"other""#)]
        }
        try bench.publish(all: lot, partition: 0)
        #expect(eventually { other.tags.count == 400 })
        #expect(Set(other.tags).count == 400)
        let statuses = bench.status.statuses.first?.hubs ?? []
        #expect(statuses.map(\.name) == ["demo", "other"] && statuses.last?.circuit == "closed")
        #expect(eventually { worker.report(.ready).passes }, "one hub of two is no reason to be not ready")
        worker.askToStop()
        bench.hub.arm([])
        try worker.stop()
    }

    @Test func whatWaitsForAHubThatIsOutGoesThereWhenItIsBack() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let other = try FurtherHub("other")
        bench.hub.arm([try Fault(parsing: "status=503")])
        let worker = try bench.startWorker {
            $0.hubs.append(try other.settings())
            $0.retry.maxAttempts = 20
        }
        try bench.publish(all: (0..<300).map { Self.request("r\($0)", $0 % 2 == 0 ? "" : #","hub":"other""#) })
        #expect(eventually { other.tags.count == 150 })
        #expect(eventually { bench.status.statuses.first?.hubs.first?.circuit == "open" })
        bench.hub.arm([])
        // The circuit's probe is due then, and so are all calls that failed.
        bench.clock.advance(by: .seconds(20))
        try bench.results(300)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.values.allSatisfy { $0["state"] == "sent" })
        for number in 0..<300 { #expect(results["r\(number)"]?.hub == (number % 2 == 0 ? "demo" : "other")) }
    }

    @Test func aSmallWindowIsNotFilledByAHubThatIsOut() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        bench.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        let worker = try bench.startWorker {
            $0.maxInFlight = 4
            $0.window = 128
            $0.hubs.append(try other.settings { $0.requestTimeout = .seconds(86_400) })
        }
        let bad = (0..<400).map { Self.request("bad\($0)") }
        try bench.publish(all: bad + (0..<20).map { Self.request("good\($0)", #","hub":"other""#) }, partition: 0)
        // Requests in the way are put off when they have waited for 2 s, again and again.
        #expect(bench.passTime(by: .milliseconds(50)) { other.tags.count == 20 })
        #expect(bench.metric("pushfan_delayed_total") >= 200)
        worker.askToStop()
        bench.hub.arm([])
        try worker.stop()
    }

    // The embedded broker keeps 5 MiB of a partition.
    @Test(.needsKafka)
    func memoryThatAHubsRequestsFillIsNotTheOthers() throws {
        let bench = try Bench(.real, partitions: 1)
        let other = try FurtherHub("other")
        bench.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        let worker = try bench.startWorker {
            $0.maxInFlight = 4
            $0.hubs.append(try other.settings())
        }
        // 24 MB, of which a hub's part of the memory holds two thirds.
        let filler = String(repeating: "x", count: 80_000)
        let bad = (0..<300).map { Self.request("bad\($0)", #","filler":"\#(filler)""#) }
        try bench.publish(all: bad + (0..<20).map { Self.request("good\($0)", #","hub":"other""#) }, partition: 0)
        #expect(eventually { other.tags.count == 20 })
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 50 })
        worker.askToStop()
        bench.hub.arm([])
        try worker.stop()
    }

    // The embedded broker keeps 5 MiB of a partition.
    @Test(.needsKafka)
    func largeRequestsOfHubsThatAreOutLeaveRoomForTheHubThatWorks() throws {
        let bench = try Bench(.real, partitions: 1)
        let (out, good) = (try FurtherHub("out"), try FurtherHub("good"))
        bench.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        out.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        let worker = try bench.startWorker {
            // 24 MiB for requests in work, where each of these takes 1 MB.
            $0.memoryBudget = 64 << 20
            $0.hubs += [try out.settings(), try good.settings()]
        }
        let filler = String(repeating: "x", count: 490_000)
        let bad = (0..<80).map { number in
            Self.request("bad\(number)", #","filler":"\#(filler)""# + (number % 2 == 0 ? "" : #","hub":"out""#))
        }
        try bench.publish(all: bad + (0..<10).map { Self.request("good\($0)", #","hub":"good""#) }, partition: 0)
        #expect(eventually { good.tags.count == 10 })
        #expect(bench.metric("pushfan_delayed_total") >= 10)
        // A large one has its room too.
        try bench.publish(all: [Self.request("large", #","hub":"good","filler":"\#(filler)""#)], partition: 0)
        #expect(eventually { good.tags.count == 11 })
        worker.askToStop()
        bench.hub.arm([])
        out.hub.arm([])
        try worker.stop()
    }

    /// Some 3 MB, of which the buffer of either hub holds a quarter.
    private static func flood() -> [String] {
        let filler = String(repeating: "x", count: 10_000)
        return (0..<300).map { request("flood\($0)", #","filler":"\#(filler)""#) }
    }

    @Test func aFloodForAHubThatTakesItIsSentAndNotDeferred() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker {
            $0.maxInFlight = 4
            $0.memoryBudget = 16 << 20
            $0.hubs.append(try other.settings())
        }
        try bench.publish(all: Self.flood() + [Self.request("last", #","hub":"other""#)], partition: 0)
        try bench.results(301)
        #expect(bench.metric("pushfan_delayed_total") == 0)
        try worker.stop()
    }

    @Test func aFloodForAHubThatHangsHoldsUpOthersForSecondsOnly() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let other = try FurtherHub("other")
        bench.gate.close()
        defer { bench.gate.open() }
        let worker = try bench.startWorker {
            $0.maxInFlight = 4
            $0.memoryBudget = 16 << 20
            $0.requestTimeout = .seconds(86_400)
            $0.hubs.append(try other.settings { $0.requestTimeout = .seconds(86_400) })
        }
        try bench.publish(all: Self.flood() + [Self.request("good", #","hub":"other""#)], partition: 0)
        #expect(bench.passTime(by: .milliseconds(500)) { other.tags == ["good"] })
        #expect(bench.metric("pushfan_delayed_total") >= 100)
        bench.gate.open()
        worker.askToStop()
        try worker.stop()
    }

    @Test func everyHubHasARateOfItsOwn() throws {
        let bench = try Bench(.quickest, partitions: 2, hasShares: true)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker {
            // In the time that a test may take, not even the first hub's requests are all sent.
            $0.rateLimit = 1
            $0.hubs.append(try other.settings { $0.rateLimit = 200 })
        }
        try bench.publish(all: (0..<800).map { Self.request("r\($0)", $0 % 8 != 0 ? "" : #","hub":"other""#) })
        #expect(eventually { other.tags.count == 100 })
        #expect(bench.hub.calls().count < 700)
        let rate = { (hub: String) in bench.metric("pushfan_rate_limit", #"hub="\#(hub)""#) }
        #expect(eventually { rate("other") == 200 && rate("demo") == 1 })
        try worker.stop()
    }

    @Test func outcomesAreAskedForAtTheHubThatTookTheCall() throws {
        let bench = try Bench(.quickest)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker {
            $0.hubs.append(try other.settings { $0.tracksOutcomes = true })
            $0.outcomes.firstWait = 10_000
        }
        try bench.publish(all: [Self.request("plain"), Self.request("tracked", #","hub":"other""#)])
        try bench.results(2)
        bench.clock.advance(by: .seconds(11))
        // Two final results and an outcome, of the hub that follows them.
        let results = try bench.results(3)
        try worker.stop()
        let outcomes = results.filter { $0["kind"] == "outcome" }
        #expect(outcomes.count == 1 && outcomes.first?.requestID == "tracked" && outcomes.first?.hub == "other")
        #expect(bench.metric("pushfan_outcome_polls_total", #"hub="other""#) >= 1)
    }
}
