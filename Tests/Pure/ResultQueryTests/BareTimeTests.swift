import Testing

@testable import ResultQuery

/// A zone with summer time, as all of Central Europe has it.
let berlin = LocalZone(rule: "CET-1CEST,M3.5.0,M10.5.0/3") ?? .utc

@Suite struct BareTimeTests {
    @Test(arguments: [
        ("11:05", "21T11:00", "21T11:10"), ("14:05", "20T14:00", "20T14:10"), ("12:00", "21T11:55", "21T12:05"),
        ("12:01", "20T11:56", "20T12:06"), ("9:00", "21T08:55", "21T09:05"), ("today", "21T00:00", "22T00:00"),
        ("Yesterday", "20T00:00", "21T00:00"), ("yesterday 9:00..9:30", "20T09:00", "20T09:30"),
        ("9:00..9:30", "21T09:00", "21T09:30"), ("11:30..12:30", "21T11:30", "21T12:30"),
        ("13:00..14:00", "20T13:00", "20T14:00"),
        ("9:00-9:30", "21T09:00", "21T09:30"), ("yesterday 9:00–9:30", "20T09:00", "20T09:30"),
        ("2026-11-18", "18T00:00", "19T00:00"),
        ("2026-11-18 14:05", "18T14:00", "18T14:10"), ("2026-11-18 9:00..10:00", "18T09:00", "18T10:00"),
        ("2026-11-18T14:05", "18T14:00", "18T14:10"), ("2026-11-18T14:05Z", "18T14:00", "18T14:10"),
        ("2026-11-18T14:05+01:00", "18T13:00", "18T13:10"), ("2026-11-18..2026-11-19", "18T00:00", "20T00:00"),
        ("2026-11-18 9:00..2026-11-19 10:00", "18T09:00", "19T10:00"), ("2026-11-18T09:00Z..10:00", "18T09:00", "18T10:00"),
        ("yesterday..today", "20T00:00", "22T00:00"), ("yesterday..now", "20T00:00", "21T12:00"),
        ("yesterday 23:00..24:00", "20T23:00", "21T00:00"), ("yesterday 23:00..today 1:00", "20T23:00", "21T01:00"),
        ("9:00..", "21T09:00", ""), ("..9:30", "", "21T09:30"), ("since:9:00", "21T09:00", ""), ("since:14:05", "20T14:05", ""),
        ("until:today", "", "21T00:00"), ("since:yesterday 9:00 until:10:00", "20T09:00", "21T10:00"),
        ("since:\"yesterday 9:00\"", "20T09:00", ""), ("since:2026-11-18 14:05", "18T14:05", ""),
        ("since:1h 11:00", "21T11:00", "21T11:05"), ("today 9:00..12:00 11:00", "21T10:55", "21T11:05"),
    ])
    func aTimeAloneMeansTheTimeAroundIt(text: String, since: String, until: String) throws {
        #expect(try ResultFilter(text, now: noon).description == Self.line(since, until))
        let among = try ResultFilter("-hub:a \(text) state:failed", now: noon)
        #expect(among.description == "-hub:a state:failed " + Self.line(since, until))
    }

    @Test(arguments: [
        ("14:05", "20T13:00", "20T13:10"), ("12:59", "21T11:54", "21T12:04"), ("today", "20T23:00", "21T23:00"),
        ("yesterday 9:00..9:30", "20T08:00", "20T08:30"), ("since:2026-11-18", "17T23:00", ""),
        ("2026-11-18 14:05", "18T13:00", "18T13:10"), ("since:2026-11-18T14:05", "18T13:05", ""),
    ])
    func timesWithoutAZoneAreTheReaders(text: String, since: String, until: String) throws {
        let filter = try ResultFilter(text, now: noon, zone: berlin)
        #expect(filter.description == Self.line(since, until))
        #expect(filter.readsLocalTimes)
    }

    @Test(arguments: [
        "", "alice", "since:1h", "until:now", "since:2026-11-18T14:05Z", "2026-11-18T14:05:00+01:00", "\"today\"", "user:today",
        "2026-11-18T09:00Z..now",
    ])
    func whatNeedsNoZoneNamesNone(text: String) throws {
        let filter = try ResultFilter(text, now: noon, zone: berlin)
        #expect(!filter.readsLocalTimes)
        #expect(try filter == ResultFilter(text, now: noon))
        var sum = filter
        sum.add(try ResultFilter("2026-11-18", now: noon))
        #expect(sum.readsLocalTimes, "a sum remembers it")
    }

    /// Clocks go from 2:00 to 3:00 on 29 March, and from 3:00 to 2:00 on 25 October.
    @Test(arguments: [
        ("2026-03-29", "03-28T23:00", "03-29T22:00"), ("2026-10-25", "10-24T22:00", "10-25T23:00"),
        ("2026-03-29 2:30", "03-29T00:55", "03-29T01:05"), ("2026-10-25 2:30", "10-25T00:25", "10-25T00:35"),
        ("2026-10-25 3:00", "10-25T01:55", "10-25T02:05"), ("2026-03-29 1:30..3:30", "03-29T00:30", "03-29T01:30"),
        ("2026-10-25 2:00..3:00", "10-25T00:00", "10-25T02:00"),
    ])
    func daysOnWhichClocksChangeAreShorterOrLonger(text: String, since: String, until: String) throws {
        let filter = try ResultFilter(text, now: noon, zone: berlin)
        #expect(filter.description == "since:2026-\(since):00.000Z until:2026-\(until):00.000Z")
    }

    @Test(arguments: [
        ("25:00", 1, "25:00", "is no time of day"), ("hub:a 14:75", 7, "14:75", "is no time of day"),
        ("24:01", 1, "24:01", "is no time of day"), ("today 25:00", 7, "25:00", "is no time of day"),
        ("2026-02-30", 1, "2026-02-30", "the calendar has no such day"), ("9:30..9:00", 1, "9:30..9:00", "ends before it begins"),
        ("9:00..9:00", 1, "9:00..9:00", "as it begins"), ("yesterday 23:00..1:00", 1, "yesterday", "ends before it begins"),
        ("today..yesterday", 1, "today..yesterday", "ends before it begins"),
        ("14:05..soon", 1, "14:05..soon", "has no time behind"),
        ("9:00..25:00", 1, "9:00..25:00", "is no time of day"), ("-14:05", 1, "-14:05", "cannot be excluded"),
        ("hub:a -today", 7, "-today", "cannot be excluded"), ("today yesterday", 7, "yesterday", "no moment in common"),
        ("9:00 since:10:00", 12, "10:00", "no moment in common"), ("since:10:00 until:9:00", 19, "9:00", "no moment in common"),
        ("since:9:00..10:00", 7, "9:00..10:00", "more than one moment"), ("since:25:00", 7, "25:00", "is no time of day"),
        ("since:yesterday 9:00..10:00", 7, "yesterday", "more than one moment"),
        ("since:yesterday 25:00", 17, "25:00", "is no time of day"), ("since:\"today soon\"", 7, "today soon", "is no time"),
        ("since:2026-11-18Tx", 7, "2026-11-18Tx", "is no time"),
    ])
    func whatIsNoTimeIsPointedAt(text: String, position: Int, word: String, reason: String) {
        let error = #expect(throws: FilterError.self) { try ResultFilter(text, now: noon) }
        #expect(error?.position == position)
        #expect(error?.word == word)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    /// Times of old forms that leave nothing are a filter, as they were.
    @Test(arguments: ["since:1h until:2h", "since:2026-11-20 until:2026-11-19T10:00Z"])
    func oldFormsMayLeaveNothing(text: String) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.since ?? 0 > filter.until ?? 0)
    }

    @Test(arguments: [
        "12:34:56:78", "2026-11-18-order", "2026-11-18Torder", "14:05abc", "9:5", "123:00", "todays", "a..b", "..", "a..9:00",
        "9:00-b",
        "14:05,15:05", "9", "2026",
    ])
    func whatOnlyResemblesATimeIsAWord(text: String) throws {
        let filter = try ResultFilter(text, now: noon)
        #expect(filter.sought.count == 1 && filter.since == nil && filter.until == nil)
        #expect(try ResultFilter(filter.description, now: 0) == filter)
    }

    private static func line(_ since: String, _ until: String) -> String {
        [("since", since), ("until", until)].filter { !$1.isEmpty }.map { "\($0):2026-11-\($1):00.000Z" }.joined(separator: " ")
    }
}
