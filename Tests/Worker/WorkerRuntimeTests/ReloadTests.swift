import CurlHTTP
import Delivery
import Foundation
import HubAuth
import HubEmulator
import HubREST
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Hubs that change while the worker runs.
@Suite(.serialized, .tags(.waits, .threads))
struct ReloadTests {
    private static func request(_ name: String, _ members: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(members)}"#
    }

    @Test func aHubThatIsKnownALittleLaterOrMistypedForAWhileEndsNoRequest() throws {
        let bench = try Bench(.quickest)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker { $0.settlingTime = .seconds(60) }
        let early = (0..<5).map { Self.request("early\($0)", #","hub":"other""#) }
        let keyed = (0..<3).map { Self.request("keyed\($0)", #","hub":"other","ordering_key":"k""#) }
        // An order is one of a partition, and a producer without keys goes on to another one after some milliseconds.
        try bench.publish(all: early + keyed, partition: 0)
        // The first of the key is held, and those behind it wait for it.
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 6 })
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        bench.clock.advance(by: .seconds(11))
        #expect(eventually { other.tags.count == 8 })
        // Its name is mistyped while requests wait for it, one with an attempt behind it.
        other.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        try bench.publish(all: (0..<90).map { Self.request("waiting\($0)", #","hub":"other""#) })
        #expect(eventually { (bench.status.statuses.first?.hubs.last?.waitingForTurn ?? 0) >= 10 })
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings { $0.name = "ohter" }) })
        try bench.publish(all: (0..<10).map { Self.request("late\($0)", #","hub":"other""#) })
        // All of them lie in a lane, those that were refused as well, before the clock moves on.
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 106 })
        other.hub.arm([])
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        bench.endRest()
        #expect(try eventually { try bench.resultsByRequest().count == 108 })
        try worker.stop()
        let results = try bench.resultsByRequest()
        let others = results.values.filter { $0["state"] != "sent" || $0.hub != "other" }.map { "\($0.requestID) \($0.summary)" }
        #expect(others == [])
        #expect(other.tags.filter { $0.hasPrefix("keyed") } == ["keyed0", "keyed1", "keyed2"])
    }

    /// They lie in a lane that is not due: no lag shows them, no call waits, and the worker is ready.
    @Test func whatWaitsForAHubThatNoSettingsHaveIsCountedAndNamed() throws {
        let bench = try Bench(.quickest)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker { $0.settlingTime = .seconds(60) }
        try bench.publish(
            all: (0..<5).map { Self.request("r\($0)", #","hub":"other""#) } + [Self.request("x", #","hub":"further""#)])
        let all = [UnroutedWaits.Count(hub: "other", count: 5), UnroutedWaits.Count(hub: "further", count: 1)]
        let text = "6 requests wait for a hub that its settings do not have: other (5), further (1)"
        #expect(eventually { bench.status.statuses.first?.unknownHubs == all })
        #expect(bench.status.statuses.first?.problem?.contains(text) ?? false)
        #expect(bench.metric("pushfan_unknown_hub_waiting", #"hub="other""#) == 5)
        let status = String(decoding: bench.status.json(version: "1", hub: "demo"), as: UTF8.self)
        #expect(status.contains(#""unknown_hubs":[{"hub":"other","waiting":5},{"hub":"further","waiting":1}]"#))
        // They come back, wait again, and each counts once.
        bench.clock.advance(by: .seconds(11))
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 12 })
        #expect(eventually { bench.status.statuses.first?.unknownHubs == all })
        // One hub is there, the others' requests have their end.
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        #expect(eventually { bench.status.statuses.first?.unknownHubs == [all[1]] })
        bench.clock.advance(by: .seconds(71))
        try bench.results(6)
        #expect(eventually { bench.status.statuses.first?.unknownHubs == [] })
        #expect(bench.status.statuses.first?.problem?.contains("settings") != true)
        #expect(!bench.exposition().contains("pushfan_unknown_hub_waiting{"))
        try worker.stop()
    }

    @Test func aNewHubIsUsedAndRequestsBeforeItWereRefused() throws {
        let bench = try Bench(.quickest)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker()
        try bench.publish(Self.request("early", #","hub":"other""#))
        try bench.results(1)
        try worker.reload(try bench.workerConfiguration { $0.hubs.append(try other.settings()) })
        #expect(eventually { bench.status.statuses.first?.hubs.map(\.name) == ["demo", "other"] })
        try bench.publish(all: [Self.request("late", #","hub":"other""#), Self.request("plain")])
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["early"]?.summary == "rejected permanent unknown_hub 0")
        #expect(results["early"]?["replay_safety"] == "safe", "a hub of that name can be configured")
        #expect(results["late"]?.hub == "other" && results["plain"]?.hub == "demo" && other.tags == ["late"])
    }

    @Test func noRequestIsLostOrSentTwiceWhileHubsComeAndGo() throws {
        let bench = try Bench(.quickest, partitions: 3)
        let (one, two) = (try FurtherHub("one"), try FurtherHub("two"))
        for hub in [one.hub, two.hub, bench.hub] { hub.arm([try Fault(parsing: "delay=5ms")]) }
        let worker = try bench.startWorker {
            $0.maxInFlight = 8
            $0.hubs.append(try one.settings { $0.maxInFlight = 8 })
            $0.tenantHubs = ["acme": "one"]
        }
        var published = 0
        for round in 0..<6 {
            let lot = (0..<60).map { Self.request("r\(published + $0)", $0 % 2 == 0 ? "" : #","tenant":"acme""#) }
            try bench.publish(all: lot)
            published += 60
            #expect(
                eventually {
                    bench.metric("pushfan_requests_finished_total", #"outcome="success""#) >= Double(published - 50)
                })
            // The tenant's hub changes, and so does the limit of the other, while many wait.
            let isOdd = round % 2 == 0
            try worker.reload(
                try bench.workerConfiguration {
                    $0.maxInFlight = isOdd ? 4 : 8
                    $0.hubs.append(try (isOdd ? two : one).settings { $0.maxInFlight = 8 })
                    $0.tenantHubs = ["acme": isOdd ? "two" : "one"]
                })
        }
        try bench.results(published)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == published && results.values.allSatisfy { $0["state"] == "sent" })
        let tags = (bench.hub.calls() + one.hub.calls() + two.hub.calls()).compactMap(\.tags)
        #expect(tags.count == published && Set(tags).count == published)
        for tag in one.tags { #expect(results[tag]?.hub == "one") }
        for tag in two.tags { #expect(results[tag]?.hub == "two") }
        #expect(!one.tags.isEmpty && !two.tags.isEmpty)
    }

    @Test func whatWaitsForAHubThatIsTakenAwayGoesItsNewWayOrHasItsEnd() throws {
        let bench = try Bench(.quickest, partitions: 2)
        let (old, new) = (try FurtherHub("old"), try FurtherHub("new"))
        old.hub.arm([try Fault(parsing: "throttle,retry-after=300")])
        let worker = try bench.startWorker {
            $0.hubs.append(try old.settings())
            $0.tenantHubs = ["acme": "old"]
        }
        let named = (0..<50).map { Self.request("named\($0)", #","hub":"old""#) }
        let tenants = (0..<50).map { Self.request("tenants\($0)", #","tenant":"acme""#) }
        try bench.publish(all: named + tenants)
        #expect(eventually { (bench.status.statuses.first?.hubs.last?.waitingForTurn ?? 0) >= 50 })
        try worker.reload(
            try bench.workerConfiguration {
                $0.hubs.append(try new.settings())
                $0.tenantHubs = ["acme": "new"]
            })
        // The calls that were refused first wait in a delay lane; all others find their way at once.
        #expect(eventually { new.tags.count >= 30 })
        #expect(eventually { bench.metric("pushfan_requests_finished_total", "permanent") >= 30 })
        try worker.stop()
        let results = try bench.resultsByRequest()
        for (id, result) in results {
            if id.hasPrefix("tenants") {
                #expect(result.hub == "new" && result["state"] == "sent")
            } else {
                let code: String? = result["error.code"]
                #expect(code == "unknown_hub")
            }
        }
        #expect(Set(new.tags).count == new.tags.count)
    }

    @Test func aHubThatCannotBeUsedLeavesEverythingAsItIs() throws {
        let bench = try Bench(.quickest)
        let other = try FurtherHub("other")
        let worker = try bench.startWorker { $0.hubs.append(try other.settings()) }
        try bench.publish(Self.request("before", #","hub":"other""#))
        try bench.results(1)
        #expect(throws: WorkerFailure.self) {
            try worker.reload(
                try bench.workerConfiguration {
                    $0.hubs.append(try other.settings { $0.connections.host = "" })
                })
        }
        try bench.publish(Self.request("after", #","hub":"other""#))
        try bench.results(2)
        try worker.stop()
        #expect(other.tags == ["before", "after"])
    }

    @Test func aKeyIsChangedAndTheHubGoesOnWithIt() throws {
        let bench = try Bench(.quickest)
        let worker = try bench.startWorker {
            $0.hub.credential = .init(policy: $0.hub.credential.policy, key: .init("wrong"))
        }
        try bench.publish(Self.request("refused"))
        try bench.results(1)
        // The circuit is open for the wrong key's sake; the right one is tried at once.
        try worker.reload(try bench.workerConfiguration())
        try bench.publish(Self.request("taken"))
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["refused"]?["outcome"] == "auth" && results["taken"]?["state"] == "sent")
        #expect(bench.logLines.all.contains { $0.contains("configuration_loaded") })
        #expect(!bench.logLines.all.contains { $0.contains("wrong") })
    }
}
