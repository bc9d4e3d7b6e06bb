import DoorStage
import HTTPServing
import Kafka
import Keys
import ResultFeed
import TestSupport
import Testing

@testable import FeedAPI
@testable import GatewayAPI

/// `GET /v1/results`: who sees what, from where on, and how long it waits.
@Suite struct FeedPageTests {
    /// A reader, its query, and the results that it gets; none for one that is refused.
    struct Right: Sendable {
        let publisher: Publisher
        var query = ""
        let ids: [String]?
    }

    @Test(arguments: [
        Right(publisher: FeedStage.publisher("shop", [.publish]), ids: ["own", "tenant"]),
        Right(publisher: FeedStage.publisher("shop", [.publish]), query: "&source=shop", ids: ["own", "tenant"]),
        Right(publisher: FeedStage.publisher("shop", [.publish]), query: "&source=bank", ids: nil),
        Right(publisher: FeedStage.publisher("shop", [.publish], tenant: "t4"), ids: ["tenant"]),
        Right(publisher: FeedStage.publisher("shop", [.publish], tenant: "t5"), ids: []),
        Right(publisher: FeedStage.publisher("office", [.read]), ids: ["own", "other", "tenant", "bank"]),
        Right(publisher: FeedStage.publisher("office", [.read], tenant: "t4"), ids: ["tenant", "bank"]),
        Right(publisher: FeedStage.publisher("office", [.read], tenant: "t4"), query: "&source=bank", ids: ["bank"]),
        Right(publisher: FeedStage.publisher("shop", [.publish, .read]), query: "&source=other", ids: ["other"]),
    ])
    func aKeySeesWhatItPublishedOrWhatItMayRead(right: Right) {
        let stage = FeedStage()
        stage.bring("own")
        stage.bring("other", source: "other")
        stage.bring("tenant", tenant: "t4")
        stage.bring("bank", source: "bank", tenant: "t4")
        let answers = stage.get("?since=first\(right.query)", by: right.publisher)
        #expect(answers.last?.status == (right.ids == nil ? 403 : 200))
        #expect(answers.ids == right.ids ?? [])
    }

    @Test(arguments: [
        ("?after=%21", "after"), ("?after=a&since=1h", "after and since"), ("?since=soon", "since"), ("?limit=0", "limit"),
        ("?limit=1001", "limit"), ("?wait=31", "wait"), ("?kinds=final,last", "kinds"), ("?filter=state:gone", "filter"),
        ("?filter=user:alice", "GET /v1/requests"), ("?filter=title:lunch", "GET /v1/requests"),
        ("?filter=state:waiting", "GET /v1/requests"), ("?limits=1", "unknown member"),
    ])
    func whatCannotBeUnderstoodIsNamed(query: String, words: String) {
        let answers = FeedStage().get(query)
        #expect(answers.last?.status == 400 && answers.text.contains(words), "\(answers.text)")
    }

    @Test(arguments: APIOperation.Feed.allCases) func theExamplesOfTheDescriptionAreTaken(operation: APIOperation.Feed) throws {
        for parameter in operation.row.parameters {
            let (name, example) = (parameter.name, parameter.example)
            let call = HTTPServerRequest(
                method: "GET", target: "/v1/results" + (parameter.place == .query ? "?\(name)=\(example)" : ""),
                headers: parameter.place == .header ? [name: example] : [:])
            let query = try FeedQuery(call, of: operation, at: 1_764_000_000_000)
            if name == "after" || name == "Last-Event-ID" { #expect(query.start == .places(FeedPlaces([0: 1200, 1: 1187]))) }
        }
    }

    @Test(arguments: [("interim,interim,interim", ["interim"]), ("interim,final,interim", ["final", "interim"])])
    func kindsThatAreRepeatedCountOnce(text: String, kinds: [String]) throws {
        let call = HTTPServerRequest(method: "GET", target: "/v1/results?kinds=\(text)")
        #expect(try FeedQuery(call, of: .listResults, at: 0).kinds == kinds)
    }

    @Test(arguments: [
        ("", ["final", "outcome"]), ("&kinds=interim", ["interim"]), ("&kinds=final,interim", ["final", "interim"]),
        ("&filter=state:failed", []), ("&filter=kind:outcome", ["outcome"]),
    ])
    func kindsAndAFilterNarrowWhatComes(query: String, ids: [String]) {
        let stage = FeedStage()
        for kind in ["final", "interim", "outcome"] { stage.bring(kind, kind: kind) }
        #expect(stage.get("?since=first\(query)").ids == ids)
    }

    @Test func aCursorFromBeforeAPublishHasItsResult() {
        let stage = FeedStage()
        stage.bring("before")
        let first = stage.get("?wait=30")
        #expect(first.last?.status == 200 && first.ids.isEmpty && first.text.contains(#""more":false"#))
        stage.bring("after")
        #expect(stage.get("?after=\(first.cursor)").ids == ["after"])
    }

    @Test func pagesHaveEachResultOnceInItsOrder() {
        let stage = FeedStage()
        let ids = (0..<10).map { "r\($0)" }
        for (index, id) in ids.enumerated() { stage.bring(id, partition: Int32(index % 2)) }
        var (query, seen, answers) = ("?since=first&limit=3", [String](), stage.get("?since=first&limit=3"))
        while !answers.ids.isEmpty, seen.count <= ids.count {
            seen += answers.ids
            #expect(answers.text.contains(#""more":\#(seen.count < ids.count)"#))
            query = "?after=\(answers.cursor)&limit=3"
            #expect(answers.last?.headers["Link"] == "</v1/results\(query)>; rel=\"next\"")
            answers = stage.get(query)
        }
        #expect(seen.sorted() == ids && seen.filter(["r0", "r2", "r4", "r6", "r8"].contains) == ["r0", "r2", "r4", "r6", "r8"])
    }

    @Test func pagesOfAFilterHaveEachMatchOnce() {
        let stage = FeedStage()
        for number in 0..<30 { stage.bring("r\(number)", partition: Int32(number % 2), members: #","hub":"h\#(number % 3)""#) }
        let query = "&limit=2&filter=hub:h0"
        var (seen, answers) = ([String](), stage.get("?since=first\(query)"))
        while !answers.ids.isEmpty, seen.count <= 10 {
            seen += answers.ids
            answers = stage.get("?after=\(answers.cursor)\(query)")
        }
        #expect(seen.sorted() == (0..<10).map { "r\($0 * 3)" }.sorted(), "\(answers.text)")
    }

    @Test func linesHaveTheCursorInAHeaderField() {
        let stage = FeedStage()
        stage.bring("a", "b")
        let answers = stage.get("?since=first", headers: ["Accept": "application/x-ndjson"])
        #expect(answers.last?.headers["Content-Type"] == "application/x-ndjson")
        #expect(answers.text.split(separator: "\n").count == 2 && answers.text.hasSuffix("}\n") && !answers.cursor.isEmpty)
    }

    // MARK: Waiting

    @Test func aWaitEndsWithTheFirstResultOfItsOwn() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        let answers = stage.get("?after=\(cursor)&wait=30")
        stage.bring("strange", source: "bank")
        #expect(answers.all.isEmpty && stage.endpoints.count == 1)
        stage.bring("own")
        #expect(answers.ids == ["own"] && stage.endpoints.count == 0)
    }

    @Test func aWaitEndsWithItsTimeAndACursorThatHasMoved() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        let answers = stage.get("?after=\(cursor)", headers: ["Prefer": "wait=10"])
        stage.bring("strange", source: "bank")
        stage.advance(seconds: 9)
        #expect(answers.all.isEmpty)
        stage.advance(seconds: 1)
        #expect(answers.last?.status == 200 && answers.ids.isEmpty && answers.cursor != cursor)
        #expect(answers.last?.headers["Preference-Applied"] == "wait=10" && stage.endpoints.count == 0)
        stage.bring("own")
        #expect(stage.get("?after=\(answers.cursor)").ids == ["own"])
    }

    @Test func aStopAnswersWhoWaitsWithTheCursor() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        let answers = stage.get("?after=\(cursor)&wait=30")
        stage.endpoints.endWaits()
        #expect(answers.last?.status == 200 && answers.ids.isEmpty && answers.cursor == cursor)
        #expect(stage.get("?after=\(cursor)").last?.status == 503 && stage.endpoints.count == 0)
    }

    @Test func whoLosesItsRightsWaitsNoMore() {
        let stage = FeedStage()
        let answers = stage.get("?after=\(stage.get().cursor)&wait=30")
        stage.endRights()
        #expect(answers.all.map(\.status) == [401] && stage.endpoints.count == 0)
    }

    @Test func waitsHaveShares() {
        let stage = FeedStage(connections: 8)
        let query = "?after=\(stage.get().cursor)&wait=30"
        let statuses = (0..<3).map { _ in stage.get(query).last?.status }
        #expect(statuses.compactMap { $0 } == [429, 429] && stage.endpoints.count == 1)
        stage.bring("own")
        #expect(stage.endpoints.count == 0)
        #expect(stage.get("?after=\(stage.get().cursor)&wait=30").all.isEmpty, "the place is free again")
    }

    /// Also those that do not wait, as long as Kafka is asked for them.
    @Test(arguments: ["?since=first", "?since=1h", "?after=\(FeedPlaces().text)"])
    func whatIsReadFromKafkaHasShares(query: String) {
        let stage = FeedStage(connections: 8)
        stage.feed.hold()
        let first = stage.get(query)
        #expect(first.all.isEmpty && stage.get(query).last?.status == 429)
        #expect(stage.get(query, by: FeedStage.reader).all.isEmpty, "another key has its own")
        stage.feed.letGo()
        #expect(first.last?.status == 200 && stage.get(query).last?.status == 200)
    }

    @Test func whoseTimeIsOverIsReadForNoMore() {
        let stage = FeedStage()
        stage.feed.hold()
        let seeking = stage.get("?since=first")
        let reading = stage.get("?after=\(FeedPlaces().text)")
        stage.advance(seconds: 15)
        #expect(reading.last?.status == 200)
        #expect(stage.feed.letGo() == 2)
        #expect(seeking.last?.status == 503 && reading.all.count == 1)
        #expect(stage.get("?since=first").last?.status == 200)
    }

    @Test func aKeyHasSoManyFilteredReadersAndNoMore() {
        let stage = FeedStage()
        let query = "?after=\(stage.get().cursor)&wait=30"
        let filtered = (0...FeedReaders.filterLimit).map { _ in stage.get("\(query)&filter=state:sent") }
        #expect(filtered.last?.last?.status == 429 && filtered.dropLast().allSatisfy { $0.all.isEmpty })
        #expect(stage.get(query).all.isEmpty && stage.get("\(query)&filter=state:sent", by: FeedStage.reader).all.isEmpty)
        stage.bring("own")
        #expect(stage.endpoints.count == 0 && stage.get("\(query)&filter=state:failed").all.isEmpty)
    }

    // MARK: Failures

    @Test(arguments: [
        (FeedFailure.gone(first: FeedPlaces([0: 7])), 410, "cursor_expired"),
        (.unreachable(.invalidArgument("a test wants it")), 503, "broker_unavailable"), (.full, 503, "overloaded"),
        (.closed, 503, "stopping"),
    ])
    func aFailureHasItsProblem(failure: FeedFailure, status: Int, code: String) {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        stage.feed.fail(with: failure)
        let answers = stage.get("?after=\(cursor)&wait=30")
        #expect(answers.last?.status == status && answers.text.contains(code) && stage.endpoints.count == 0)
        #expect((answers.last?.headers["Retry-After"] != nil) == (status == 503))
        guard status == 410 else { return }
        #expect(answers.text.contains(#""first":"\#(FeedPlaces([0: 7]).text)""#))
    }

    @Test func beforeTheTopicIsReadKafkaSaysItsEnd() {
        let stage = FeedStage()
        stage.bring("before")
        stage.feed.forgetEnd()
        let cursor = stage.get().cursor
        stage.bring("after")
        #expect(stage.get("?after=\(cursor)").ids == ["after"])
        stage.feed.fail(with: .unreachable(.invalidArgument("a test wants it")))
        #expect(stage.get().last?.status == 503)
    }
}
