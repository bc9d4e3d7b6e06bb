import HubREST
import Testing

@testable import JobSupport

@Suite struct HubNamesTests {
    private static let routes = HubRoutes(
        hubs: [("north", 0), ("south", 1)], spreads: [("world", ["north", "south"])], defaultName: "north")

    @Test(arguments: [("norrth", "norrth"), ("north", nil), ("world", nil), (nil, nil), ("", "")])
    func aNameThatNoSettingHasIsUnknown(name: String?, unknown: String?) {
        #expect(HubNames(Self.routes, names: ["north", "south"], areWhole: true).unknown(name) == unknown)
    }

    @Test func settingsThatMayLackHubsCallNoNameUnknown() {
        #expect(HubNames(Self.routes, names: ["north", "south"]).unknown("norrth") == nil)
    }

    @Test func spreadsAreNamesToo() {
        #expect(HubNames(Self.routes, names: ["north", "south"]).all == ["north", "south", "world"])
    }
}
