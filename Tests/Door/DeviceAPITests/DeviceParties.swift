@testable import DeviceAPI
import DoorStage
import FanOut
import GatewayAPI
import PushModel

/// The callers of the tests: alice and bob with devices of their own, and a back end with all.
struct DeviceParties {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    let people: People
    let alice: DeviceRights
    let bob: DeviceRights
    let backEnd: DeviceRights

    init() throws {
        let people = try People()
        let tag = { @Sendable (name: String) in people.users.tag(of: name) }
        alice = DeviceRights(user: people.alice, showsHandles: true, rules: people.rules, tag: tag)
        bob = DeviceRights(user: people.bob, showsHandles: true, rules: people.rules, tag: tag)
        backEnd = DeviceRights(user: nil, showsHandles: false, rules: TagRules(users: people.users), tag: tag)
        self.people = people
    }

    func body(_ json: String, for rights: DeviceRights? = nil) throws(APIProblem) -> DeviceBody {
        try DeviceBody(Array(json.utf8), contentType: "application/json", for: rights ?? backEnd, now: Self.now)
    }

    func patch(_ json: String, for rights: DeviceRights? = nil) throws(APIProblem) -> DevicePatch {
        try DevicePatch(Array(json.utf8), contentType: "application/json-patch+json", for: rights ?? backEnd, now: Self.now)
    }
}
