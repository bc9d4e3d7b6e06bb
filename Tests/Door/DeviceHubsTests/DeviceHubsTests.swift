@testable import DeviceHubs
import FanOut
import GatewayAPI
import HubREST
import Keys
import Observability
import PushModel
import Synchronization
import Testing

/// The choice of the hub at which a device is registered.
@Suite struct DeviceHubsTests {
    /// Three hubs: two are the default's spread, and one is the tenant's `shop`.
    private static let routes = HubRoutes(
        hubs: [("one", 0), ("two", 1), ("three", 2)], spreads: [("both", ["one", "two"])],
        tenants: ["shop": "three", "mix": "one"],
        defaultName: "both")
    static let user = DeviceParty.user(Caller(name: "alice"))

    static func backEnd(_ tenant: String?) -> DeviceParty {
        .backEnd(Publisher(keyID: "k", tenant: tenant, source: "/s", scopes: [.register]))
    }

    private func hubs() throws -> DeviceHubs { try deviceHubs(["one", "two", "three"], routes: Self.routes) }

    private func tag(_ name: String) throws -> UserTag { try UserTag.Pattern("username:{user}").tag(of: name) }

    @Test(arguments: ["alice", "Alice", "José", "Jose\u{301}", "x.c3a9", "n", String(repeating: "é", count: 100)])
    func aUserIsAtTheHubWhereTheSenderLooks(name: String) throws {
        let tag = try tag(name)
        let spread = HubSpread(["one", "two"])
        let expected = spread.hubs[spread.hub(of: Array(tag.address.utf8).span)]
        #expect(try hubs().home(of: tag, id: "some", for: Self.user).name == expected)
        var installation = Installation(id: "some", platform: .known(.apple), pushChannel: "AB")
        installation.userID = tag.form
        let reach = HubReach(home: 0, spread: Self.routes.spreads[0])
        let isTold = UserTag.address(ofForm: tag.form) != nil
        #expect(HubReach(home: 1, of: tag, spread: Self.routes.spreads[0]).home(of: installation) == 1)
        #expect(reach.home(of: installation) == (isTold ? spread.hubs.firstIndex(of: expected) : nil))
    }

    @Test(arguments: 0..<10) func aDeviceWithoutAUserGoesByItsID(number: Int) throws {
        let spread = HubSpread(["one", "two"])
        let expected = spread.hub(of: Array("d\(number)".utf8).span)
        #expect(try hubs().home(of: nil, id: "d\(number)", for: Self.backEnd(nil)).name == spread.hubs[expected])
        let installation = Installation(id: "d\(number)", platform: .known(.apple), pushChannel: "AB")
        #expect(HubReach(home: 0, spread: Self.routes.spreads[0]).home(of: installation) == expected)
        #expect(HubReach(home: 2).home(of: installation) == 2)
    }

    /// The party that asks, the hub that it names, and the hubs in which devices are looked for, or the refusal.
    static let asked: [(party: DeviceParty, name: String?, hubs: [String], status: Int?)] = [
        (user, nil, ["one", "two"], nil), (user, "both", ["one", "two"], nil), (user, "one", [], 404), (user, "two", [], 404),
        (user, "three", [], 404),
        (user, "gone", [], 404), (backEnd(nil), nil, ["one", "two"], nil), (backEnd(nil), "three", ["three"], nil),
        (backEnd(nil), "gone", [], 404), (backEnd("shop"), nil, ["three"], nil), (backEnd("shop"), "three", ["three"], nil),
        (backEnd("shop"), "one", [], 403), (backEnd("shop"), "gone", [], 403), (backEnd("mix"), nil, [], 403),
        (backEnd("other"), nil, [], 403), (backEnd("other"), "both", [], 403),
    ]

    @Test(arguments: asked)
    func everybodyReachesWhatIsTheirs(party: DeviceParty, name: String?, names: [String], status: Int?) throws {
        let all = try hubs()
        do throws(APIProblem) {
            let found = try all.candidates(named: name, for: party)
            #expect(found.map(\.name) == names && status == nil)
            let home = try all.home(of: nil, id: "some", named: name, for: party)
            #expect(names.contains(home.name))
        } catch {
            #expect(error.status == status)
        }
    }

    /// By what is served hub three is the tenant's alone, and by the settings another one's, too.
    @Test func aHubThatIsNotServedMakesAnotherOneShared() throws {
        let tenancy = HubRoutes(
            hubs: [("one", 0), ("three", 2), ("left-out", 2)], tenants: ["shop": "three", "rival": "left-out"],
            defaultName: "one")
        let all = try deviceHubs(["one", "two", "three"], routes: Self.routes, tenancy: tenancy)
        let problem = #expect(throws: APIProblem.self) { try all.candidates(for: Self.backEnd("shop")) }
        #expect(problem?.status == 403)
    }

    /// One hub is as it was before there were several.
    @Test func aLoneHubNeedsNoName() throws {
        let routes = HubRoutes(hubs: [("one", 0)], defaultName: "one")
        let all = try deviceHubs(["one"], routes: routes)
        #expect(try all.home(of: tag("alice"), id: "some", for: Self.user).name == "one")
        #expect(try all.candidates(named: "one", for: Self.backEnd(nil)).map(\.name) == ["one"])
    }

    /// The hubs of new settings, and the words of the log that follow.
    static let renewals: [(hubs: [(name: String, policy: String, key: String)], words: [String])] = [
        ([("one", "n", "key"), ("two", "n", "key")], []),
        ([("one", "n", "key"), ("two", "n", "CANARY")], ["the hub's new keys are used", "\"two\""]),
        ([("two", "n", "CANARY"), ("one", "n", "key")], ["the hub's new keys are used", "\"two\""]),
        ([("one", "m", "CANARY"), ("two", "n", "key")], ["a restart takes them"]),
        ([("one", "n", "key")], ["a restart takes them"]),
        ([("one", "n", "key"), ("two", "n", "key"), ("three", "n", "key")], ["a restart takes them"]),
    ]

    @Test(arguments: renewals)
    func eachHubTakesItsNewKeys(hubs: [(name: String, policy: String, key: String)], words: [String]) throws {
        let lines = Mutex<[UInt8]>([])
        let log = Log(format: .json, level: .debug, now: { 0 }, sink: { line in lines.withLock { $0 += line } })
        let routes = HubRoutes(hubs: [("one", 0), ("two", 1)], defaultName: "one")
        let all = try deviceHubs(["one", "two"], routes: routes, log: log)
        all.renewKeys(by: try hubs.map { try hub($0.name, policy: $0.policy, key: $0.key) })
        let text = lines.withLock { String(decoding: $0, as: UTF8.self) }
        #expect(words.allSatisfy { text.contains($0) } && text.isEmpty == words.isEmpty && !text.contains("CANARY"), "\(text)")
    }

    /// The threads do not run, and each lane has one place, so that a second piece has none where it comes to the same lane.
    @Test(arguments: 0..<20) func everyWayToADeviceLeadsToOneLane(number: Int) throws {
        let all = try deviceHubs(["one", "two", "three"], routes: Self.routes, laneLimit: 1)
        let id = "d\(number)"
        var ways = [try all.home(of: tag("alice"), id: id, for: Self.user)]
        ways.append(try all.home(of: nil, id: id, for: Self.backEnd(nil)))
        ways += try all.candidates(for: Self.backEnd(nil))
        for name in ["one", "two"] { ways.append(try all.home(of: nil, id: id, named: name, for: Self.backEnd(nil))) }
        let arePut = ways.map { $0.lanes.put(for: id) { _ in } }
        #expect(arePut == [true] + Array(repeating: false, count: 5))
        let other = try all.home(of: nil, id: id, for: Self.backEnd("shop")).lanes
        #expect(other.put(for: id) { _ in }, "no spread ties the tenant's hub to them")
    }

    /// The threads do not run, so that all that is put waits.
    @Test func nobodyHoldsMoreThanHalfOfALane() throws {
        let routes = HubRoutes(hubs: [("one", 0)], defaultName: "one")
        let all = try deviceHubs(["one"], routes: routes, laneLimit: 4)
        let mine = try all.home(of: nil, id: "a", for: Self.user).lanes
        let others = try all.home(of: nil, id: "a", for: Self.backEnd(nil)).lanes
        #expect((0..<4).map { _ in mine.put(for: "a") { _ in } } == [true, true, false, false])
        #expect((0..<2).map { _ in others.put(for: "a") { _ in } } == [true, false])
        #expect(all.hubs[0].lanes.put(for: "a") { _ in })
        #expect(!all.hubs[0].lanes.put(for: "a") { _ in })
    }
}
