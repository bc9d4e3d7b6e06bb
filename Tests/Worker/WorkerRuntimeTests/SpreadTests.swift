import Delivery
import FanOut
import Foundation
import HubEmulator
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// One name for several hubs: users are told apart by their names, and what is for nobody in particular goes to all.
@Suite(.serialized)
struct SpreadTests {
    private static let names = ["shop-1", "shop-2", "shop-3"]

    private static func request(_ name: String, _ audience: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","hub":"shop","audience":{\#(audience)},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
    }

    private static func users(_ names: [String]) -> String {
        #""users":["# + names.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    private static func start(_ bench: Bench, _ hubs: [FurtherHub]) throws -> RunningWorker {
        try bench.startWorker {
            $0.hubs += try hubs.map { try $0.settings() }
            $0.spreads = [.init(name: "shop", hubs: names)]
        }
    }

    /// The users that a hub was called for, each as often as it was.
    private static func users(of hub: FurtherHub) -> [String] {
        hub.tags.flatMap { $0.split(whereSeparator: { "() |".contains($0) }).map(String.init) }
    }

    @Test func aUsersRequestGoesToTheUsersHubAtOnce() throws {
        let bench = try Bench(.quickest)
        let hubs = try Self.names.map { try FurtherHub($0) }
        let worker = try Self.start(bench, hubs)
        try bench.publish(all: (0..<60).map { Self.request("r\($0)", Self.users(["u\($0)"])) })
        try bench.results(60)
        try worker.stop()
        let results = try bench.resultsByRequest()
        let spread = HubSpread(Self.names)
        for number in 0..<60 {
            let place = spread.hub(of: Array("u\(number)".utf8).span)
            try #require(hubs.indices.contains(place))
            #expect(results["r\(number)"]?.summary == "sent success - 1" && results["r\(number)"]?.hub == Self.names[place])
            #expect(Self.users(of: hubs[place]).count { $0 == "username:u\(number)" } == 1)
        }
        #expect(bench.hub.calls().isEmpty && hubs.allSatisfy { !$0.tags.isEmpty })
    }

    @Test(arguments: [8, 700]) func aRequestForManyReachesEachAtTheirHubOnceAndHasOneResult(_ count: Int) throws {
        let bench = try Bench(.quickest, partitions: 3)
        let hubs = try Self.names.map { try FurtherHub($0) }
        let worker = try Self.start(bench, hubs)
        try bench.publish(Self.request("news", Self.users((0..<count).map { "u\($0)" })))
        #expect(eventually { bench.metric("pushfan_requests_finished_total") > 0 })
        var whole: FinalResult?
        #expect(
            eventually {
                whole = try? bench.resultsByRequest()["news"]
                return whole != nil
            })
        try worker.stop()
        #expect(whole?.hub == "shop" && whole?["state"] == "sent" && whole?["parts.count"] ?? 0 >= 3)
        let results = try bench.resultsByRequest().values.filter { $0.requestID != "news" }
        #expect(Set(results.map(\.hub)) == Set(Self.names))
        let spread = HubSpread(Self.names)
        for (place, hub) in hubs.enumerated() {
            let wanted = (0..<count).map { "u\($0)" }.filter { spread.hub(of: Array($0.utf8).span) == place }
            #expect(Self.users(of: hub).sorted() == wanted.map { "username:\($0)" }.sorted())
        }
    }

    @Test func aBroadcastGoesToEveryHub() throws {
        let bench = try Bench(.quickest)
        let hubs = try Self.names.map { try FurtherHub($0) }
        let worker = try Self.start(bench, hubs)
        try bench.publish(Self.request("all", #""broadcast":true"#))
        try bench.publish(Self.request("world", #""categories":["World"]"#))
        let results = try bench.results(8)
        try worker.stop()
        #expect(hubs.allSatisfy { $0.hub.calls().count == 2 && $0.tags == ["World"] })
        let wholes = results.filter { $0.requestID == "all" || $0.requestID == "world" }
        #expect(wholes.count == 2 && wholes.allSatisfy { $0.hub == "shop" && $0["parts.sent"] == 3 })
    }

    @Test func aHubThatFailsLeavesTheOthersPartsSentAndIsNamedByItsOwn() throws {
        let bench = try Bench(.quickest)
        let hubs = try Self.names.map { try FurtherHub($0) }
        hubs[1].hub.arm([try Fault(parsing: "status=400")])
        let worker = try Self.start(bench, hubs)
        try bench.publish(Self.request("all", #""broadcast":true"#))
        let results = try bench.results(4)
        try worker.stop()
        #expect(results.first { $0.requestID == "all" }?["state"] == "partial")
        #expect(results.filter { $0["state"] == "failed" }.map(\.hub) == ["shop-2"])
    }

    @Test func aPartThatWouldGoToSeveralHubsIsRefused() throws {
        let bench = try Bench(.quickest)
        let hubs = try Self.names.map { try FurtherHub($0) }
        let worker = try Self.start(bench, hubs)
        let parent =
            #","parent":{"id":"p","key":"0000000000000000","partition":0,"chunk":0,"chunks":1,"published_at":"2026-11-20T12:00:00Z"}"#
        try bench.publish(all: [Self.request("part", #""broadcast":true"#, parent)], to: .own)
        let result = try #require(try bench.results(1).first)
        try worker.stop()
        #expect(result.summary == "rejected permanent unknown_hub 0")
        #expect(hubs.allSatisfy { $0.hub.calls().isEmpty })
    }
}
