import PushModel
import TestSupport
import Testing

@testable import ResultQuery

@Suite struct LocalZoneTests {
    /// The seconds east of UTC just before a moment, and from it on.
    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 3600, 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 7200, 3600),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -18_000, -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -14_400, -18_000),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-04-04T16:00:00Z", 39_600, 36_000),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-10-03T16:00:00Z", 36_000, 39_600),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T01:00:00Z", 3600, 0),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -7200, -3600),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 7200, 10_800),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", 37_800, 39_600),
        ("AAA3BBB,J60/0,300/0", "2028-03-01T03:00:00Z", -10_800, -7200),
        ("AAA3BBB,J60/0,300/0", "2028-10-27T02:00:00Z", -7200, -10_800), ("<+0545>-5:45", "2026-01-01T00:00:00Z", 20_700, 20_700),
    ])
    func aRuleSaysHowFarAZoneIsFromUTC(rule: String, moment: String, before: Int64, after: Int64) throws {
        let zone = try #require(LocalZone(rule: rule))
        let read = Timestamp(Array(moment.utf8).span)
        let moment = try #require(read).milliseconds
        #expect(zone.secondsEast(at: moment - 1) == before)
        #expect(zone.secondsEast(at: moment) == after)
        #expect(zone.name == rule)
    }

    @Test(arguments: [
        "", "C", "CE-1", "CET", "CET-", "CET-1CEST", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,M3.5.0,M10.5.0,", "<CET-1", "CET-1:99", "CET-99999999999999999999", "CET-168",
        "CET-1CEST,J0,J365", "CET-1CEST,1,366", "Europe/Berlin", "UTC", String(repeating: "A", count: 200) + "1",
    ])
    func whatIsNoRuleIsRefused(rule: String) {
        #expect(LocalZone(rule: rule) == nil)
    }

    @Test(arguments: [
        ("UTC", "UTC", 0), ("Z", "UTC", 0), ("utc", "UTC", 0), ("+01:00", "+01:00", 3600), ("-09:30", "-09:30", -34_200),
        ("+23:59", "+23:59", 86_340),
    ])
    func aDistanceIsAZone(text: String, name: String, seconds: Int64) throws {
        let zone = try #require(LocalZone(fixed: text))
        #expect(zone.name == name && zone.secondsEast(at: noon) == seconds && zone.secondsEast(at: -noon) == seconds)
    }

    @Test(arguments: [
        "", "01:00", "+1:00", "+24:00", "+01:60", "+0100", "+01:00 ", " 01:00", "+01.00", "++1:00", "+-1:00", "CET", "+٠١:00",
    ])
    func whatIsNoDistanceIsRefused(text: String) {
        #expect(LocalZone(fixed: text) == nil)
    }

    @Test(arguments: [
        ("Europe/Berlin", true), ("America/Argentina/Buenos_Aires", true), ("Etc/GMT+1", true), ("EST5EDT", true), ("", false),
        ("..", false), ("../etc/passwd", false), ("/etc/passwd", false), ("Europe/", false), ("Europe//Berlin", false),
        ("a/../b", false),
        ("a b", false), ("Zürich", false), ("a\u{0}", false), ("zone.tab", false), ("-a", false),
        (String(repeating: "a", count: 65), false),
    ])
    func aNameIsNoPath(text: String, isName: Bool) {
        #expect(LocalZone.isName(text) == isName)
    }

    @Test func aFileSaysItToo() throws {
        let zone = try #require(LocalZone(name: "Here", file: ZoneBytes().bytes))
        #expect(zone.name == "Here")
        #expect(
            [-2_000_000, -1_000_001, -1_000_000, 999_999, 1_000_000].map(zone.secondsEast(at:)) == [1000, 1000, 3600, 3600, 7200])
        // Behind the last change of the file its rule goes on.
        #expect(zone.secondsEast(at: noon) == 3600)
        #expect(zone.secondsEast(at: noon - 150 * 86_400_000) == 7200)
        #expect(LocalZone(name: "Here", file: ZoneBytes(rule: "").bytes)?.secondsEast(at: noon) == 7200)
        #expect(LocalZone(name: "Here", file: ZoneBytes(times: [], types: []).bytes)?.secondsEast(at: -1000) == 1000)
    }

    @Test(arguments: [
        ZoneBytes(version: 0), ZoneBytes(magic: "TZIF"), ZoneBytes(leaps: 1), ZoneBytes(times: [1000, -1000]),
        ZoneBytes(times: [1000, 1000]), ZoneBytes(types: [1, 3]), ZoneBytes(distances: [1000, 3600, 100_000]),
        ZoneBytes(distances: [1000, 3600, -100_000]), ZoneBytes(times: [-1000, .max]), ZoneBytes(rule: "CET-1CEST"),
        ZoneBytes(rule: "nonsense"), ZoneBytes(times: [], types: [], distances: []),
    ])
    func aFileThatIsNoneIsRefused(file: ZoneBytes) {
        #expect(LocalZone(name: "Here", file: file.bytes) == nil)
    }

    @Test func aFileThatIsCutIsRefused() {
        let bytes = ZoneBytes().bytes
        for count in bytes.indices { #expect(LocalZone(name: "Here", file: Array(bytes[..<count])) == nil, "\(count)") }
        #expect(LocalZone(name: "Here", file: bytes + [UInt8](repeating: 0, count: LocalZone.fileLimit)) == nil)
    }

    /// Damage gives a zone or none, and a zone answers for every moment.
    @Test(arguments: 0..<20) func aDamagedFileEndsNothing(seed: Int) {
        var random = SeededRandom(seed)
        let whole = ZoneBytes().bytes
        for _ in 0..<500 {
            var bytes = whole
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            if random.below(3) == 0 { bytes.removeSubrange(random.below(bytes.count)...) }
            if random.below(3) == 0, !bytes.isEmpty { bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count)) }
            guard let zone = LocalZone(name: "Here", file: bytes) else { continue }
            for moment in [Int64.min, -1, 0, noon, .max] {
                #expect(abs(zone.secondsEast(at: moment)) < 8 * 86_400)
                #expect(abs(zone.moment(ofLocal: moment)) <= 2 * Timestamp.limit)
            }
        }
    }

    /// The moment of a time is the first at which clocks show it, and later times have no earlier moments.
    @Test(arguments: [
        "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "AEST-10AEDT,M10.1.0,M4.1.0/3", "EET-2EEST,M3.4.4/50,M10.4.4/50",
    ])
    func clocksLeadBackToTheirFirstMoment(rule: String) throws {
        let zone = try #require(LocalZone(rule: rule))
        var random = SeededRandom(rule.utf8.count)
        var earlier: Int64 = .min
        let year: Int64 = 365 * 86_400_000
        let moments = (0..<2000).map { _ in noon - year + Int64(random.below(Int(year))) }.sorted()
        for moment in moments {
            let local = moment + zone.secondsEast(at: moment) * 1000
            let found = zone.moment(ofLocal: local)
            #expect(found <= moment)
            #expect(found + zone.secondsEast(at: found) * 1000 == local)
            #expect(found == moment || moment - found == 3_600_000)
        }
        for local in moments {
            let found = zone.moment(ofLocal: local)
            #expect(found >= earlier)
            earlier = found
        }
    }
}

/// The bytes of a zone's file: two changes, and a rule behind them.
struct ZoneBytes: Sendable {
    var version: UInt8 = 0x32
    var magic = "TZif"
    var leaps = 0
    /// Seconds since 1970.
    var times: [Int64] = [-1000, 1000]
    var types: [UInt8] = [1, 2]
    var distances: [Int32] = [1000, 3600, 7200]
    var rule = "CET-1CEST,M3.5.0,M10.5.0/3"

    var bytes: [UInt8] {
        // The block of version 1 has one type and nothing else.
        var bytes =
            header(times: 0, types: 1) + [UInt8](repeating: 0, count: 6) + letters + [UInt8](repeating: 0, count: 8 * leaps)
        bytes += header(times: times.count, types: distances.count)
        bytes += times.flatMap { Self.big($0) } + types
        bytes += distances.flatMap { Self.big($0) + [0, 0] }
        return bytes + letters + [UInt8](repeating: 0, count: 12 * leaps) + Array("\n\(rule)\n".utf8)
    }

    private var letters: [UInt8] { Array("CET\0".utf8) }

    private func header(times: Int, types: Int) -> [UInt8] {
        let counts = [0, 0, leaps, times, types, letters.count]
        return Array(magic.utf8) + [version] + [UInt8](repeating: 0, count: 15) + counts.flatMap { Self.big(Int32($0)) }
    }

    /// The bytes of a number, highest first.
    private static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
