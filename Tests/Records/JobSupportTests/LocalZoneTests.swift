import EventLoop
import JobSupport
import ResultQuery
import Testing

@Suite struct LocalZoneTests {
    private static let hasDatabase = ZoneDatabase.file(of: "Europe/Berlin", limit: LocalZone.fileLimit) != nil
    private static let summer: Int64 = 1_782_864_000_000

    @Test(.enabled(if: hasDatabase, "this machine has no time zone database"))
    func aZoneIsFoundByItsName() throws {
        let zone = try #require(LocalZone(named: "Europe/Berlin"))
        #expect(zone.name == "Europe/Berlin" && zone.secondsEast(at: Self.summer) == 7200)
        // Files may end years ago, with a rule for the time since.
        #expect(zone.secondsEast(at: 2_540_160_000_000) == 7200)
        #expect(LocalZone.current(environment: ["TZ": ":Europe/Berlin"]) == zone)
        #expect(LocalZone.current(environment: ["TZ": "/usr/share/zoneinfo/Europe/Berlin"]) == zone)
    }

    @Test(arguments: [("+01:00", 3600), ("UTC", 0), ("Z", 0)]) func aDistanceNeedsNoDatabase(name: String, seconds: Int64) {
        #expect(LocalZone(named: name)?.secondsEast(at: Self.summer) == seconds)
    }

    @Test(arguments: [
        "", "..", "../../../etc/passwd", "/etc/localtime", "Europe", "zone.tab", "leapseconds", "No/Where", "a\u{0}b", "+25:00",
    ])
    func whatNamesNoZoneIsNone(name: String) {
        #expect(LocalZone(named: name) == nil)
    }

    @Test func aTerminalHasAZone() {
        let rule = "CET-1CEST,M3.5.0,M10.5.0/3"
        #expect(LocalZone.current(environment: ["TZ": rule]).secondsEast(at: Self.summer) == 7200)
        #expect(LocalZone.current(environment: ["TZ": "No/Where"]) == .utc)
        #expect(LocalZone.current(environment: ["TZ": ""]) == LocalZone.current(environment: [:]))
    }
}
