import DoorStage
@testable import OperatorAPI
@testable import GatewayAPI
import Basics
import Delivery
import Foundation
import GroupPositions
import HTTPServing
import JobSupport
import Kafka
import Keys
import Publishing
import PushModel
import Replay
import Replays
import ResultQuery
import Results
import Testing

/// The search line as callers of the API write it, and what it may tell them.
@Suite struct CallerFilterTests {
    private static let now: Int64 = 1_795_262_400_000

    private static func publisher(_ scopes: Set<Scope> = [.read, .payload], tenant: String? = nil) -> Publisher {
        Publisher(keyID: "k1", tenant: tenant, source: "shop", scopes: scopes)
    }

    private static func filter(
        _ line: String, zone: String = "UTC", from: String? = nil, to: String? = nil, for publisher: Publisher = publisher()
    ) throws -> CallerFilter {
        try CallerFilter(.init(filter: line, zone: zone, from: from, to: to), at: now, for: publisher)
    }

    @Test(arguments: ["title:lunch", "-title:lunch", "user:al*", "device:a*", "al*", "state:sent -al*"])
    func whatWouldTellTitlesOrNamesNeedsTheScope(line: String) throws {
        #expect(throws: APIProblem.forbiddenScope(.payload)) { try Self.filter(line, for: Self.publisher([.read])) }
        #expect(throws: Never.self) { try Self.filter(line) }
    }

    @Test func timesMayBeThoseOfPublicationAlone() throws {
        func filter(_ times: String?) throws(APIProblem) -> CallerFilter {
            try CallerFilter(.init(filter: "since:1h", times: times), at: Self.now, for: Self.publisher())
        }
        let hash = try filter(nil).hash
        for (times, isDueWanted) in [(nil, true), ("", true), ("published", false)] as [(String?, Bool)] {
            let read = try filter(times)
            #expect(read.filter.covers(Self.now) && read.filter.coversDue(Self.now) == isDueWanted)
            #expect((read.hash == hash) == isDueWanted)
        }
        let problem = try #require(throws: APIProblem.self) { try filter("due") }
        #expect(problem.status == 400 && problem.detail.hasPrefix("times: "))
    }

    @Test(arguments: ["alice", "user:alice", "device:a1", "to:all", "label.campaign:m*", "request:order-*", "-alice"])
    func whatTellsNothingElseNeedsNone(line: String) throws {
        let read = try Self.filter(line, for: Self.publisher([.read]))
        #expect(read.filter.sought.allSatisfy { !$0.matchesTitles })
        #expect(try Self.filter(line).filter.sought.allSatisfy(\.matchesTitles))
    }

    @Test func aTenantIsAddedAndNotNamed() throws {
        let read = try Self.filter("state:failed", for: Self.publisher(tenant: "acme"))
        #expect(read.filter.names(.tenant, word: "acme") && !read.meaning.mentions(.tenant))
    }

    @Test(arguments: [
        ("UTC", "2026-11-21T09:00:00.000Z"), ("+01:00", "2026-11-21T08:00:00.000Z"), ("-05:30", "2026-11-21T14:30:00.000Z"),
    ])
    func timesAreReadInTheZone(zone: String, moment: String) throws {
        let wanted = try #require(Timestamp(moment.utf8.span)?.milliseconds)
        #expect(try Self.filter("", zone: zone, from: "2026-11-21 09:00").filter.since == wanted)
        #expect(try Self.filter("", zone: zone, to: "2026-11-21 09:00").filter.until == wanted)
        #expect(try Self.filter("", zone: zone, from: "", to: "").filter.since == nil)
    }

    /// The part of the call at fault is named.
    @Test(
        arguments: [
            ("", "Mars/Olympus", nil, nil, "zone: "), ("", "../etc/passwd", nil, nil, "zone: "),
            ("", "UTC", "soon", nil, "from: "),
            ("", "UTC", nil, "25:00", "to: "), ("state:faild", "UTC", nil, nil, "filter, position 7: "),
        ] as [(String, String, String?, String?, String)])
    func aFaultIsNamed(line: String, zone: String, from: String?, to: String?, words: String) throws {
        let problem = try #require(throws: APIProblem.self) { try Self.filter(line, zone: zone, from: from, to: to) }
        #expect(problem.status == 400 && problem.detail.hasPrefix(words), "\(problem.detail)")
    }

    @Test func theHashOfAFilterWithoutTimesIsThatOfTheReleaseBefore() throws {
        #expect(try Self.filter("state:failed").hash == ListCursor.hash("state:failed", tenant: nil))
        let hashes = try [nil, "1h", "2h"].map { try Self.filter("state:failed", from: $0).hash }
        #expect(Set(hashes + [try Self.filter("state:failed", to: "1h").hash]).count == 4)
    }

    // MARK: Cursors

    private static let places: [SearchPage.Next] = [
        .results(ResultCursor(time: -7, partition: 3, offset: 1 << 40)), .requests(SearchCursor(time: 5, place: nil)),
        .requests(SearchCursor(time: now, place: .init(topic: "push.requests.v1", partition: 11, offset: .max))),
        .requests(
            SearchCursor(
                time: .max - 1, place: .init(topic: String(repeating: "a.", count: 124) + "b", partition: .max, offset: 0))),
    ]

    @Test(arguments: places.indices, ["UTC", "Europe/Berlin", "-05:30"]) func aPlaceOfEitherKindIsReadAsItWasGiven(
        index: Int, zone: String
    ) {
        let cursor = ListCursor(now: Self.now, place: Self.places[index], filter: .max, zone: zone)
        #expect(ListCursor(cursor.text) == cursor)
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    @Test func aCursorOfTheReleaseBeforeGoesOnInResults() throws {
        let cursor = try #require(ListCursor(Self.encoded("1.5.-7.3.99.ff")))
        #expect(cursor == ListCursor(now: 5, place: .init(time: -7, partition: 3, offset: 99), filter: 255))
        #expect(try cursor.isPlace(in: CallerFilter("state:failed", at: 5, tenant: nil)) == false, "its hash is another")
    }

    /// The filter, the kind of place, and whether the list goes on there.
    @Test(
        arguments: [
            ("state:failed", "r", true), ("", "r", true), ("alice", "r", false), ("user:alice state:failed", "r", false),
            ("title:lunch", "r", false), ("state:waiting", "r", false), ("state:failed", "p", false), ("", "p", true),
            ("alice", "p", true), ("state:held", "p", true), ("to:all state:failed", "p", true),
        ] as [(String, String, Bool)])
    func aListGoesOnAtItsOwnKindOfPlace(line: String, kind: String, goesOn: Bool) throws {
        let place: SearchPage.Next =
            kind == "r"
            ? .results(ResultCursor(time: 7, partition: 1, offset: 2)) : .requests(SearchCursor(time: 7, place: nil))
        let filter = try Self.filter(line)
        let cursor = ListCursor(now: Self.now, place: place, filter: filter.hash, zone: "UTC")
        #expect(cursor.isPlace(in: filter) == goesOn)
        // One that is refused is so before anybody asks a broker, and the other fails without one.
        let line = PercentEncoding.encoded(line)
        let call = call(.listRequests, scopes: [.read, .payload], target: "/v1/requests?filter=\(line)&cursor=\(cursor.text)")
        let problem = try #require(throws: APIProblem.self) { try Self.desk.list(call) }
        #expect((problem == .badCursor) != goesOn, "\(problem.detail)")
    }

    /// Cursors of any kind whose numbers are at their ends and beyond.
    @Test(arguments: ["since:1h", "today", "yesterday 9:00..9:30", "alice"], ["UTC", "Europe/Berlin", "-05:30"])
    func aForgedCursorIsNoneOrAPlaceThatCanBeCountedWith(line: String, zone: String) {
        let numbers = [
            "-9223372036854775808", "-1", "0", "1", "2147483647", "9223372036854775806", "9223372036854775807", "x", "",
        ]
        for (now, time) in numbers.flatMap({ now in numbers.map { (now, $0) } }) {
            for end in ["r.\(time).0.\(now)", "p.\(time)", "p.\(time).0.\(now).push.requests.v1", "p.\(time).0.0.other"] {
                guard let cursor = ListCursor(Self.encoded("2.\(now).ff.\(zone).\(end)")) else { continue }
                if case .requests(let place) = cursor.place { #expect((0 ... .max - 1).contains(place.time), "\(end)") }
                // Relative times count from one of the numbers.
                _ = try? CallerFilter(.init(filter: line, zone: cursor.zone), at: cursor.now, for: Self.publisher())
            }
        }
    }

    /// A record that nobody could read has no facts, and may have a result that says so. A large request of which no part was read has no
    /// place.
    @Test(arguments: [("alice", true), ("-alice", true), ("to:all", true), ("", false), ("state:dead_letter", false)])
    func anUnreadRecordIsNotTriedOutByItsBytes(line: String, isSought: Bool) throws {
        var letter = SearchRow(id: "a", publishedAt: Self.now)
        (letter.place, letter.standing) = (.init(topic: "t", partition: 0, offset: 1), .init(state: nil))
        var rejected = SearchRow(id: "b", publishedAt: Self.now)
        rejected.place = letter.place
        let result = #"{"request_id":"b","kind":"final","state":"rejected"}"#
        rejected.result = ResultRecord(json: Array(result.utf8), partition: 0, offset: 0, timestamp: Self.now)
        var whole = SearchRow(id: "c", publishedAt: Self.now)
        whole.standing = .init(state: .inParts)
        let rows = [letter, rejected, whole, Self.row("d", AudienceSummary(.all))]
        func ids(_ publisher: Publisher) throws -> [String] {
            let filter = try Self.filter(line, for: publisher)
            return rows.filter(filter.isVisible(to: publisher)).map(\.id)
        }
        #expect(try ids(Self.publisher([.read])) == (isSought ? ["c", "d"] : ["a", "b", "c", "d"]))
        #expect(try ids(Self.publisher()) == ["a", "b", "c", "d"])
    }

    /// Two rows of more bytes than a page has, whose places are not those of their records.
    @Test(arguments: [SearchPage.Order.published, .finished]) func aPageThatIsCutGoesOnBehindItsLastRow(
        order: SearchPage.Order
    ) throws {
        let filter = try Self.filter("")
        let rows = (0..<3).map { number -> SearchRow in
            var row = Self.row("r\(number)", AudienceSummary(.all))
            let text = #"{"request_id":"r","kind":"final","state":"sent","x":"\#(String(repeating: "x", count: 5 << 20))"}"#
            row.result = ResultRecord(json: Array(text.utf8), partition: 0, offset: 7, timestamp: 7)
            switch order {
            case .published: row.cursor = SearchCursor(time: 100 - Int64(number), place: nil)
            case .finished: row.resultCursor = ResultCursor(time: 100 - Int64(number), partition: 5, offset: 6)
            }
            return row
        }
        let page = SearchPage(
            rows: rows, next: .requests(SearchCursor(time: 1, place: nil)), order: order,
            searched: SearchExtent(source: .scan, since: nil, records: 3, of: 3, isComplete: true))
        let (_, next) = ResultDesk.body(of: page, for: Self.publisher(), by: filter, isFirst: true)
        let place = try #require(next.flatMap { ListCursor($0) }).place
        switch order {
        case .published: #expect(place == .requests(SearchCursor(time: 100, place: nil)))
        case .finished: #expect(place == .results(ResultCursor(time: 100, partition: 5, offset: 6)))
        }
    }

    @Test(arguments: [
        "2.5.ff.UTC.p", "2.5.ff.UTC.x.7.1.2", "2.5.ff.UTC.p.7.1", "2.5.ff.UTC.p.7.1.2", "2.5.ff.UTC.p.7.1.2.",
        "2.5.ff.UTC.p.7.-1.2.t",
        "2.5.ff.UTC.p.7.1.2.a/b", "2.5.ff.UTC.r.7.1", "2.5.ff.UTC.r.7.1.2.3", "3.5.ff.UTC.r.7.1.2", "2.5.zz.UTC.r.7.1.2",
    ])
    func anythingElseIsNoCursor(text: String) { #expect(ListCursor(Self.encoded(text)) == nil) }

    // MARK: The body of an answer

    private static func row(_ id: String, _ audience: AudienceSummary, isNamed: Bool = true) -> SearchRow {
        var row = SearchRow(id: id, publishedAt: now)
        row.facts = RequestFacts(id: id, audience: audience)
        row.facts?.title = "Lunch"
        (row.isNamed, row.place) = (isNamed, .init(topic: "t", partition: 0, offset: 1))
        return row
    }

    private static func body(
        _ line: String, for publisher: Publisher, isFirst: Bool = true, order: SearchPage.Order = .published
    ) throws -> (text: String, json: [String: Any], next: String?) {
        let filter = try filter(line, zone: "+01:00", for: publisher)
        var page = SearchPage(
            rows: [row("a", AudienceSummary(.users, count: 2, names: ["alice", "bob"]))],
            next: .requests(SearchCursor(time: 7, place: nil)), order: order,
            searched: SearchExtent(source: .scan, since: Timestamp(milliseconds: 7), records: 10, of: 20, isComplete: false))
        page.possible = [row("b", AudienceSummary(.all), isNamed: false)]
        page.hasMorePossible = true
        let (json, next) = ResultDesk.body(of: page, for: publisher, by: filter, isFirst: isFirst)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        return (String(decoding: json, as: UTF8.self), object, next)
    }

    @Test func anAnswerSaysHowItWasReadAndWhatIsPossible() throws {
        let answer = try Self.body("alice since:1h", for: Self.publisher())
        let searched = try #require(answer.json["searched"] as? [String: Any])
        #expect(searched["order"] as? String == "published" && searched["zone"] as? String == "+01:00")
        #expect(searched["from"] as? String == "2026-11-21T11:00:00.000Z" && searched["to"] == nil)
        let readAs = try #require(searched["read_as"] as? String)
        #expect(readAs.contains("alice") && readAs.contains("since:2026-11-21T11:00:00.000Z"))
        #expect(searched["records"] as? Int == 10 && searched["complete"] as? Bool == false)
        let possible = try #require(answer.json["possible"] as? [String: Any])
        let items = try #require(possible["items"] as? [[String: Any]])
        #expect(items.map { $0["id"] as? String } == ["b"] && items[0]["match"] as? String == "possible")
        #expect(possible["more"] as? Bool == true && answer.text.contains("bob"))
        #expect(answer.next.flatMap { ListCursor($0) }?.zone == "+01:00")
    }

    @Test(arguments: [("state:sent", true), ("title:lunch", true), ("alice", false), ("-alice", true)])
    func whatIsPossibleIsSaidOfPersonsOnAFirstPageAlone(line: String, isFirst: Bool) throws {
        #expect(try Self.body(line, for: Self.publisher(), isFirst: isFirst).json["possible"] == nil)
    }

    @Test func aKeyWithoutPayloadAndOneOfATenantLearnNothingElse() throws {
        let plain = try Self.body("alice", for: Self.publisher([.read]))
        #expect(plain.text.contains("alice") && !plain.text.contains("bob") && !plain.text.contains("Lunch"))
        let tenant = try Self.body("alice", for: Self.publisher(tenant: "acme"))
        let searched = try #require(tenant.json["searched"] as? [String: Any])
        #expect(searched["records"] == nil && searched["of"] == nil && searched["read_as"] as? String == "alice")
    }

    // MARK: Calls that are refused before anything is read

    private static var desk: ResultDesk {
        let context = JobContext(
            kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topics: Topics(), timeout: .milliseconds(1), now: { now })
        let answers = ResultAnswers(context)
        let terms = GroupTerms(kafka: context.kafka, group: "g", topics: context.topics, start: .safe)
        return ResultDesk(
            context: context, answers: answers, search: RequestSearch(context, terms: terms, answers: answers),
            isIndexed: { false })
    }

    @Test(arguments: [
        ("filter=title:lunch", 403, "read:payload"), ("filter=alice&zone=Nowhere", 400, "zone: "), ("from=soon", 400, "from: "),
        ("cursor=x", 400, "cursor"), ("filter=stat:failed", 400, "position 1"), ("since=1h", 400, "unknown member"),
    ])
    func aListIsRefused(query: String, status: Int, words: String) throws {
        let call = call(.listRequests, scopes: [.read], target: "/v1/requests?\(query)")
        let problem = try #require(throws: APIProblem.self) { try Self.desk.list(call) }
        #expect(problem.status == status && problem.detail.contains(words), "\(problem.detail)")
    }

    @Test(arguments: ["alice", "user:alice", "title:lunch", "to:all", "state:waiting"])
    func failuresAndDeadLettersKnowNothingOfRequests(line: String) throws {
        let failures = call(.listFailures, scopes: [.read, .payload], target: "/v1/failures?filter=\(line)")
        let problem = try #require(throws: APIProblem.self) { try Self.desk.failures(failures) }
        #expect(problem.status == 400 && problem.detail.contains("failures are found by their results"))
        let letters = call(.listDeadLetters, scopes: [.read], target: "/v1/deadletters?since=1h+\(line)")
        #expect(throws: APIProblem.self) { try Self.desk.deadLetters(letters) }
    }

    @Test(
        arguments: [
            (#"{"filter":"user:alice","reason":"x"}"#, nil), (#"{"filter":"state:waiting","reason":"x"}"#, "nothing to replay"),
            (#"{"filter":"state:failed,held","reason":"x"}"#, "nothing to replay"),
            (#"{"source":"deadletter","since":"1h alice","reason":"x"}"#, "dead letters"),
            (#"{"filter":"title:x","reason":"x"}"#, "read:payload"), (#"{"filter":"","zone":"Nowhere","reason":"x"}"#, "zone: "),
        ] as [(String, String?)])
    func aPlanTakesTheLineForWhatHasEnded(body: String, words: String?) throws {
        let call = call(.planReplay, scopes: [.replay], method: "POST", body: body)
        guard let words else {
            let header = try PlanOrder(call, at: Self.now).header(jobID: "j", at: Self.now, by: call.publisher)
            #expect(header.filter.contains("user:alice"))
            // The text of a plan is read again by those who plan what it has left.
            #expect(try ResultFilter(header.filter, now: 0).sought.count == 1)
            return
        }
        let problem = try #require(throws: APIProblem.self) { try PlanOrder(call, at: Self.now) }
        #expect(problem.detail.contains(words), "\(problem.detail)")
    }
}
