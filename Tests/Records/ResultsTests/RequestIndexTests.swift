import Foundation
import PushModel
import Replay
import ResultQuery
import SQLite
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// Requests are found by what they say, in files of hours.
@Suite struct RequestIndexTests {
    private typealias Stage = RequestIndexStage
    private static let (now, hour) = (Stage.now, Stage.hour)

    /// Vectors of the hash's authors, for the key and the texts of bytes 0, 1, 2…
    @Test(arguments: [(0, 0x726f_db47_dd0e_0e31), (15, 0xa129_ca61_49be_45e5)] as [(Int, UInt64)])
    func tokensAreHashedBySipHash(count: Int, value: UInt64) {
        let hash = TokenHash(key: (0..<16).map { UInt8($0) })
        let text = (0..<count).map { UInt8($0) }
        #expect(hash.value(of: text.span) == value)
    }

    private static func filled() throws -> Stage {
        let stage = try Stage()
        try stage.add([
            (Stage.request("a", #","tenant":"acme","labels":{"campaign":"Sale"}"#), now - 3 * hour),
            (Stage.request("b", to: #"{"users":["bob","Alice"]}"#), now - 2 * hour),
            (Stage.request("c", to: #"{"installations":["phone-1"]}"#), now - 2 * hour + 1),
            (Stage.request("d", to: #"{"categories":["News"]}"#), now - hour),
            (Stage.request("e", to: #"{"broadcast":true}"#, #","labels":{"campaign":"sale"}"#), now - 5),
        ])
        return stage
    }

    @Test func whatIsSoughtIsFoundNewestFirst() throws {
        let stage = try Self.filled()
        let cases: [(filter: ResultFilter, ids: [String])] = [
            (ResultFilter(), ["e", "d", "c", "b", "a"]),
            (try Stage.seeking(.user, "ALICE"), ["b", "a"]),
            (try Stage.seeking(.user, "alice", "bob"), ["b", "a"]),
            (try Stage.seeking(.user, "ali"), []),
            (try Stage.seeking(.device, "phone-1"), ["c"]),
            (try Stage.seeking(.title, "shipped order"), ["e", "d", "c", "b", "a"]),
            (try Stage.seeking(.title, "shipped never"), []),
            (try Stage.seeking(.anything, "news"), ["d"]),
            (try Stage.seeking(.anything, "c"), ["c"]),
            (try Stage.seeking(.anything, "Sale"), ["e", "a"]),
            (try Stage.seeking(.audience, "users"), ["b", "a"]),
            (try Stage.seeking(.user, "alice", isNegated: true), ["e", "d", "c"]),
            (try Stage.seeking(.user, "bob", isNegated: true, and: "tenant:acme"), ["a"]),
            (try ResultFilter("label.campaign:Sale", now: 0), ["a"]),
            (try ResultFilter("-tenant:acme", now: 0), ["e", "d", "c", "b"]),
            (try ResultFilter("topic:normal label.campaign:s*", now: 0), ["e"]),
        ]
        for (filter, ids) in cases { #expect(try stage.ids(filter) == ids, "\(filter.sought) \(filter)") }
    }

    /// A search on threads for short work looks at few requests that do not match, and asks for no results.
    @Test(
        arguments: [
            ("", true), ("alice", true), ("user:alice -title:promo", true), ("tenant:acme label.campaign:sale", true),
            ("request:order-1", true), ("source:shop to:all", true), ("-alice", false), ("*x*", false), ("user:al*", false),
            ("source:*x*", false), ("-tenant:acme", false), ("alice state:failed", false), ("state:waiting", false),
            ("topic:normal", false), ("label.campaign:s*", false), ("alice hub:shop", false),
        ])
    func tokensDecideWhatTheyKnow(line: String, decides: Bool) throws {
        let filter = try ResultFilter(line, now: Self.now)
        #expect(try Stage().index().decides(filter) == decides)
    }

    @Test func anIndexWithoutNamesDecidesNothingAboutThem() throws {
        #expect(try !Stage(.omitted).index().decides(ResultFilter("alice", now: Self.now)))
    }

    @Test func broadSendsThatFitButForThePersonArePossible() throws {
        let stage = try Self.filled()
        #expect(try stage.ids(Stage.seeking(.user, "alice"), isPossible: true) == ["e", "d"])
        #expect(try stage.ids(Stage.seeking(.user, "alice", and: "label.campaign:sale"), isPossible: true) == ["e"])
    }

    @Test func timesAndLimitsAreKept() throws {
        let stage = try Self.filled()
        let (now, hour) = (Self.now, Self.hour)
        #expect(try stage.ids(since: now - 2 * hour, through: now - hour) == ["d", "c", "b"])
        #expect(try stage.ids(since: now - 2 * hour + 1, through: now - hour - 1) == ["c"])
        #expect(try stage.ids(limit: 2) == ["e", "d"])
        #expect(try stage.ids(since: now, through: now - 1) == [])
        // All of one millisecond come together.
        try stage.add((0..<4).map { (Stage.request("m\($0)"), now - 7) })
        #expect(try stage.ids(through: now - 6, limit: 2) == ["m3", "m2", "m1", "m0"])
    }

    /// More than one question reads in a row.
    @Test func aLongHourIsReadInTurns() throws {
        let stage = try Stage()
        try stage.add((0..<2500).map { (Stage.request("r\($0)", #","labels":{"n":"\#($0 % 1200)"}"#), Self.now - 3000 + $0) })
        #expect(try stage.ids(limit: 3000) == (0..<2500).reversed().map { "r\($0)" })
        #expect(try stage.ids(ResultFilter("label.n:7", now: 0)) == ["r2407", "r1207", "r7"])
        #expect(try stage.ids(ResultFilter("label.n:11*8", now: 0), limit: 1) == ["r2398"])
    }

    /// A question for which each request has to be looked at goes on where its time was over, and each time comes on.
    @Test func aQuestionWhoseTimeIsOverTellsHowFarItCame() throws {
        let stage = try Stage()
        let (now, hour) = (Self.now, Self.hour)
        let crowd = now - hour - 5000
        func request(_ id: String) -> String { Stage.request(id, #","labels":{"n":"\#(id)"}"#) }
        try stage.add((0..<1500).map { (request("a\($0)"), now - 3000 + $0) })
        // More of one moment than are looked at in a row, in the hour before.
        try stage.add(
            (0..<1500).map { (request("b\($0)"), crowd) } + [(request("c7"), crowd - 1), (request("d7"), now - 9 * hour)])
        let index = try stage.index()
        let filter = try ResultFilter("label.n:*7", now: 0)
        func part(through until: Int64, limit: Int = 5000, until deadline: Duration?) throws -> IndexedPart {
            try index.part(
                matching: filter, since: 0, through: until, isPossible: false, limit: limit, until: Deadline(after: deadline))
        }
        let whole = try part(through: now, until: nil)
        #expect(whole.requests.count == 302 && whole.reached == nil)
        var (found, reached): ([IndexedRequest], [Int64]) = ([], [])
        var until = now
        while true {
            let part = try part(through: until, until: .zero)
            found += part.requests
            guard let moment = part.reached, moment <= until, reached.count < 20 else { break }
            reached.append(moment)
            until = moment - 1
        }
        #expect(found == whole.requests)
        #expect(reached.first == now - 2500 && reached.contains(crowd) && reached.count >= 4)
        // One that found enough tells so, too.
        #expect(try part(through: now, limit: 1, until: nil).reached == now - 3000 + 1497)
    }

    @Test func aRecordThatComesTwiceIsThereOnce() throws {
        let stage = try Stage()
        let requests = [(json: Stage.request("a"), time: Self.now - 10), (json: Stage.request("b"), time: Self.now - 9)]
        try stage.add(requests, from: 5)
        try stage.add(requests + [(Stage.request("c"), Self.now - 8)], from: 5)
        #expect(try stage.ids() == ["c", "b", "a"] && stage.opened.count == 3)
        #expect(try stage.ids(Stage.seeking(.user, "alice")) == ["c", "b", "a"])
    }

    @Test func aRowHasItsPlaceItsTimeAndItsFacts() throws {
        let stage = try Stage()
        try stage.add([(Stage.request("a", #","hub":"shop","labels":{"x":"y"}"#), Self.now - 10)], lane: 2, from: 77)
        let row = try #require(
            try stage.index().rows(
                matching: ResultFilter(), since: 0, through: .max, isPossible: false, limit: 1
            ).first)
        let place = RecordPlace(topic: "bulk", partition: 2, offset: 77)
        #expect(row.place == place && row.publishedAt == Self.now - 10)
        #expect(row.facts.hub == "shop" && row.facts.labels == ["x": "y"] && row.facts.title == "Order shipped")
        #expect(row.facts.audience == AudienceSummary(.users, names: ["alice"]))
        for time in [Self.now - 10, Self.now - 10 - 200_000, Self.now - 10 + 200_000] {
            #expect(try stage.index().facts(at: place, publishedAt: time) == row.facts)
        }
        let others = [RecordPlace(topic: "bulk", partition: 2, offset: 78), RecordPlace(topic: "odd", partition: 2, offset: 77)]
        for place in others { #expect(try stage.index().facts(at: place, publishedAt: Self.now - 10) == nil) }
    }

    @Test func aDelayedRequestIsFoundByTheMomentAtWhichItIsDue() throws {
        let stage = try Stage()
        let due = Timestamp(milliseconds: Self.now + 5 * Self.hour)
        var writer = ByteWriter()
        writer.append(due)
        try stage.add([
            (Stage.request("a", #","not_before":"\#(writer.text)""#), Self.now - 10), (Stage.request("b"), Self.now - 9),
        ])
        let index = try stage.index()
        let found = try index.delayed(
            matching: Stage.seeking(.user, "alice"), dueSince: due.milliseconds - 5, through: due.milliseconds, limit: 10)
        #expect(found.map(\.facts.id) == ["a"] && found.map(\.publishedAt) == [Self.now - 10] && found.first?.facts.due == due)
        #expect(found.map(\.time) == [due.milliseconds])
        #expect(try stage.ids() == ["b", "a"] && stage.ids(since: Self.now) == [])
    }

    @Test func publishersTimesAreBounded() throws {
        let stage = try Stage(keep: .seconds(7200))
        let (now, hour) = (Self.now, Self.hour)
        try stage.add([
            (Stage.request("old"), now - 2 * hour - 1), (Stage.request("kept"), now - 2 * hour),
            (Stage.request("future"), now + 300 * hour),
        ])
        #expect(try stage.ids() == ["future", "kept"])
        // It counts as published a minute from now, and tells its own time.
        let rows = try stage.index().rows(
            matching: ResultFilter(), since: now, through: now + 60_000, isPossible: false, limit: 5)
        #expect(rows.map(\.publishedAt) == [now + 300 * hour])
        // The list goes on behind the moment by which it stands there.
        #expect(rows.map(\.time) == [now + 60_000])
    }

    @Test func partsOfRecordsAndWhatNobodyCanReadArePassedOver() throws {
        let stage = try Stage()
        func part(_ id: String, key: String) -> (String, Int64) {
            let parent =
                #"{"id":"whole","key":"\#(key)","partition":0,"chunk":0,"chunks":2,"published_at":"2026-01-01T00:00:00Z"}"#
            return (Stage.request(id, #","parent":\#(parent)"#), Self.now - 10)
        }
        try stage.add([part("p", key: "normal:2:5:0123"), part("f", key: ":file:whole")], lane: 3)
        try stage.add([("no json", Self.now), ("", Self.now), (#"{"id":"faulty","audience":{"users":["alice"]}}"#, Self.now)])
        #expect(try stage.ids() == ["faulty", "f"])
        #expect(try stage.ids(Stage.seeking(.anything, "whole")) == ["f"])
    }

    @Test func patternsAreInNoIndex() throws {
        let index = try Self.filled().index()
        var filter = ResultFilter()
        filter.add(Sought(.user, values: [Sought.Value("al*", hasPattern: true)]))
        #expect(!index.knows(filter))
        #expect(try index.knows(Stage.seeking(.user, "alice")) && index.knows(ResultFilter("label.a:b*", now: 0)))
    }

    @Test func aQuestionEndsWhenItsTimeIsOver() throws {
        let index = try Self.filled().index { true }
        #expect(throws: SQLiteError.interruption) {
            try index.rows(matching: ResultFilter(), since: 0, through: .max, isPossible: false, limit: 5)
        }
    }
}
