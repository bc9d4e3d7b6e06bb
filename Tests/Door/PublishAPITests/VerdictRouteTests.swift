@testable import PublishAPI
@testable import OperatorAPI
import DoorStage
import Basics
import Delivery
import GatewayAPI
import HTTPServing
import Kafka
import Publishing
import PushModel
import ResultQuery
import TestSupport
import Testing

@testable import Groups
@testable import Results

/// `GET /v1/requests/{id}` says in a sentence what became of a request.
@Suite struct VerdictRouteTests {
    private static let times =
        #","timings":{"published_at":"1970-01-01T00:00:01.000Z","finished_at":"1970-01-01T00:00:01.200Z","total_ms":200}"#
    private static let targets = #","targets":{"planned":1,"accepted":1,"failed":0,"ambiguous":0}"#

    private func verdict(_ code: String, _ text: String) -> String { #""verdict":{"code":"\#(code)","text":"\#(text)""# }

    @Test(
        arguments: [
            ("sent", times + targets, "sent", "Sent at 00:00:01 UTC, in 0.2 s."),
            (
                "failed",
                times + #","outcome":"throttled","replay_safety":"safe","error":{"code":"hub_throttled","message":"m"}"#,
                "failed",
                "Failed at 00:00:01 UTC: the hub throttled every attempt."
            ),
            (
                "failed", #","outcome":"ambiguous","replay_safety":"ambiguous","error":{"code":"hub_timeout","message":"m"}"#,
                "may_have_rung", "Failed; it may have rung: the hub did not answer in time."
            ),
        ])
    func whatHasEndedHasAVerdict(word: String, members: String, code: String, text: String) throws {
        let stage = LookupStage()
        stage.publish("a")
        #expect(
            stage.get("a").text.contains(
                verdict("published", "Published at 00:00:01 UTC, and no result of it has been read yet.")))
        try stage.bring(word, of: "a", members: members)
        for query in ["", "?wait=10"] {
            #expect(stage.get("a" + query).text.contains(verdict(code, text)), "\(stage.get("a" + query).text)")
        }
    }

    @Test func anUnknownRequestHasNone() {
        let stage = LookupStage()
        #expect(stage.get("a").last?.status == 404 && !stage.get("a").text.contains("verdict"))
    }

    @Test func momentsAreInTheZoneThatIsAskedFor() {
        let stage = LookupStage()
        stage.publish("a", notBefore: 3_605_000)
        #expect(
            stage.get("a?zone=%2B01:00").text.contains(#""text":"Waits for 02:00:05 (in 60 min).""#),
            "\(stage.get("a?zone=%2B01:00").text)")
        #expect(stage.get("a").text.contains(#""text":"Waits for 01:00:05 UTC (in 60 min).""#))
        // A name that this machine does not know, and what is no name.
        #expect(stage.get("a?zone=Nowhere/Town").text.contains(" UTC (in 60 min)."))
        #expect(stage.get("a?zone=../etc").last?.status == 400)
    }

    /// The outcomes are known where all results were searched, and nothing is said of them elsewhere.
    @Test func theRecordSaysIfOutcomesAreTracked() throws {
        let stage = LookupStage()
        let sent = try LookupResults.record(
            "sent", of: "x", members: Self.times + Self.targets + #","origin":{"topic":"requests","partition":1,"offset":"7"}"#)
        stage.lives.withLock { $0 = [sent] }
        for (options, reason) in [
            (#","options":{"track_outcome":true}"#, " yet: the hub has not told the outcome."),
            (#","options":{"track_outcome":false}"#, ": outcomes are not tracked."), ("", ": there is no outcome of it."),
        ] {
            stage.records.withLock {
                $0 = #"{"id":"x","source":"shop","audience":{"users":["alice"]},"message":{"title":"Hi"}\#(options)}"#
            }
            let text = stage.get("x?life=true", by: LookupStage.reader).text
            #expect(text.contains(#""reason":"Whether the phone showed it is not known\#(reason)""#), "\(text)")
        }
    }

    @Test func namesAndTitlesAreShownByScope() throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"a","source":"shop","audience":{"users":["alice"]},"message":{"title":"Hello"}}"# }
        stage.publish("a")
        var seer = LookupStage.reader
        seer.mayReadPayload = true
        let whole = stage.get("a?life=true", by: seer).text
        #expect(whole.contains(#""to":{"kind":"users","count":1,"names":["alice"],"text":"alice"},"title":"Hello""#), "\(whole)")
        let masked = stage.get("a?life=true", by: LookupStage.reader).text
        #expect(masked.contains(#""to":{"kind":"users","count":1,"text":"1 user"}"#), "\(masked)")
        #expect(!masked.contains("alice") && !masked.contains("Hello"))
        // Another request's record may stand there.
        stage.records.withLock { $0 = #"{"id":"b","source":"shop","audience":{"users":["alice"]},"message":{"title":"Hello"}}"# }
        #expect(!stage.get("a?life=true", by: seer).text.contains(#""to":"#))
    }

    /// What is asked of a request that is remembered, and the records that are read for it.
    @Test(arguments: [("a", 0), ("a?wait=0", 0), ("a?life=true", 1), ("a?payload=true", 1)])
    func aPlainQuestionReadsNoRecord(path: String, count: Int) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"a","source":"shop","audience":{"users":["alice"]},"message":{"title":"Hello"}}"# }
        stage.publish("a")
        try stage.bring("sent", of: "a")
        var seer = LookupStage.reader
        seer.mayReadPayload = true
        let text = stage.get(path, by: seer).text
        #expect(stage.readCount.withLock { $0 } == count)
        #expect(text.contains(#""title":"Hello""#) == (count > 0), "\(text)")
    }

    @Test func aRepetitionNamesTheFirst() throws {
        let stage = LookupStage()
        let message = "/dedupe/key: The request at offset 3 of its partition has the same key."
        let again = try LookupResults.record(
            "duplicate", of: "again",
            members:
                #","error":{"code":"duplicate","message":"\#(message)"},"origin":{"topic":"requests","partition":1,"offset":"7"}"#
        )
        stage.lives.withLock { $0 = [again] }
        // The record that is read at either place.
        stage.records.withLock { $0 = #"{"id":"first","source":"shop","audience":{"users":["u"]},"message":{"title":"x"}}"# }
        stage.publish("first")
        try stage.bring("sent", of: "first")
        let seen = stage.get("again?life=true", by: LookupStage.reader).text
        #expect(seen.contains(verdict("duplicate", "A repetition of first, which was sent.")), "\(seen)")
    }

    @Test func aCancellationIsToldToWhoeverGaveIt() throws {
        let stage = LookupStage()
        stage.publish("a")
        stage.delivery.withLock { $0 = .success(.notPersisted(.queueFull)) }
        #expect(stage.cancel("a").last?.status == 503)
        #expect(stage.get("a").text.contains(#""verdict":{"code":"published""#), "\(stage.get("a").text)")
        stage.delivery.withLock { $0 = .success(.persisted(partition: 0, offset: 1)) }
        #expect(stage.cancel("a").last?.status == 202)
        let text = stage.get("a").text
        #expect(
            text.contains(verdict("cancelling", "Cancelled at 00:00:01 UTC, and it ends when it has its turn.")), "\(text)")
        try stage.bring("sent", of: "a", members: Self.times + Self.targets)
        #expect(stage.get("a").text.contains(#""verdict":{"code":"sent""#))
    }

    @Test func aLargeRequestOnItsWayIsNeitherDoneNorUnknown() {
        let stage = LookupStage()
        let now = Timestamp(milliseconds: 1000)
        let divided = DividedRequest(origin: nil, at: now, count: 300, endedCount: 214, sentCount: 214)
        func report(_ divided: DividedRequest?) -> WhereaboutsReport {
            WhereaboutsReport(
                id: "w", whereabouts: RequestWhereabouts([], divided: divided, now: now), now: now, extents: [], gaps: [])
        }
        stage.report.withLock { $0 = report(divided) }
        let text = stage.get("w?life=true", by: LookupStage.reader).text
        #expect(text.contains(verdict("in_parts", "On its way: 214 of 300 parts sent, 86 are to come.")), "\(text)")
        stage.report.withLock { $0 = report(nil) }
        #expect(
            stage.get("w?life=true", by: LookupStage.reader).text.contains(verdict("not_found", "No record of it was found.")))
    }

    @Test(arguments: [true, false]) func aResultOnItsWayIntoTheIndexIsAwaited(isPublishedHere: Bool) {
        let stage = LookupStage()
        let now = Timestamp(milliseconds: 1000)
        if isPublishedHere { stage.publish("w") }
        let origin = RecordOrigin(topic: "requests", partition: 1, offset: 7, timestamp: now)
        let done = FoundRequest(
            kind: .requests, partition: TopicPartition(topic: "requests", partition: 1), offset: 7,
            request: WaitingRequest(id: "w", origin: origin, due: nil, attempts: 0, cancelledAt: nil), position: 8, reading: .done
        )
        stage.report.withLock {
            $0 = WhereaboutsReport(id: "w", whereabouts: RequestWhereabouts([done], now: now), now: now, extents: [], gaps: [])
        }
        var endpoints = stage.endpoints
        for (isBehind, text) in [
            (false, "The workers are done with it, and no result of it was found."),
            (true, "The workers are done with it, and its result has not been read yet."),
        ] {
            endpoints.isIndexBehind = { isBehind }
            let answers = Answered()
            endpoints.answer(
                LookupCall(
                    operation: .showRequest, id: "w",
                    request: HTTPServerRequest(method: "GET", target: "/v1/requests/w?life=true"),
                    asker: LookupStage.reader, answer: { answers.add($0) }, stream: { _, _ in ManualSink() }))
            #expect(answers.text.contains(verdict("not_known", text)), "\(answers.text)")
        }
    }

    @Test func aRepetitionOfTheSameIDWithoutTheFirstSaysNoFate() throws {
        let stage = LookupStage()
        stage.lives.withLock { [own = try LookupResults.record("sameID", of: "x")] in $0 = [own] }
        let text = stage.get("x?life=true").text
        #expect(text.contains(#""state":"published""#) && text.contains(#""verdict":{"code":"published""#), "\(text)")
    }

    // MARK: Twins

    private func facts(_ id: String, _ audience: AudienceSummary, title: String?) -> RequestFacts {
        var facts = RequestFacts(id: id, audience: audience)
        facts.title = title
        return facts
    }

    private let alice = AudienceSummary(.users, names: ["alice"])

    private func row(
        _ id: String, at time: Int64, title: String?, isNamed: Bool = true, replay: RequestFacts.Replay? = nil
    ) -> SearchRow {
        var row = SearchRow(id: id, publishedAt: time)
        row.facts = facts(id, alice, title: title)
        row.facts?.replay = replay
        row.isNamed = isNamed
        return row
    }

    @Test func requestsWithTheSameTitleWithinAMinuteAreTwins() throws {
        let query = try #require(
            TwinQuery(of: facts("a", alice, title: "Your Code"), publishedAt: Timestamp(milliseconds: 100_000)))
        let rows = [
            row("later", at: 160_000, title: "your code"), row("too-late", at: 160_001, title: "Your Code"),
            row("a", at: 100_000, title: "Your Code"), row("other", at: 100_000, title: "Your code 2"),
            row("possible", at: 100_000, title: "Your Code", isNamed: false), row("untitled", at: 100_000, title: nil),
            row("earlier", at: 40_000, title: "YOUR CODE"),
        ]
        #expect(query.twins(in: rows).map(\.id) == ["later", "earlier"])
        #expect(query.twins(in: (0..<9).map { row("\($0)", at: 100_000, title: "Your Code") }).count == TwinQuery.limit)
        #expect(query.twins(in: [row("b", at: .min, title: "Your Code"), row("c", at: .max, title: "Your Code")]).isEmpty)
    }

    @Test func aReplayIsNoTwin() throws {
        func replay(of parent: String, root: String?) -> RequestFacts.Replay {
            var replay = RequestFacts.Replay(of: parent)
            replay.root = root
            return replay
        }
        let rows = [
            row("a", at: 100_000, title: "x"), row("r1", at: 100_000, title: "x", replay: replay(of: "a", root: "a")),
            row("r2", at: 100_000, title: "x", replay: replay(of: "r1", root: "a")),
            row("r3", at: 100_000, title: "x", replay: replay(of: "a", root: nil)),
            row("other", at: 100_000, title: "x", replay: replay(of: "b", root: "b")),
        ]
        for row in rows.prefix(3) {
            let query = try #require(
                TwinQuery(of: row.facts ?? facts("a", alice, title: "x"), publishedAt: Timestamp(milliseconds: 100_000)))
            #expect(query.twins(in: rows).map(\.id) == ["other"])
        }
    }

    @Test func onlyARequestToOnePersonHasTwins() {
        let moment = Timestamp(milliseconds: 100_000)
        for audience in [
            AudienceSummary(.users, count: 2, names: ["alice", "bob"]), AudienceSummary(.all),
            AudienceSummary(.tags, names: ["News"]),
            AudienceSummary(.users),
        ] { #expect(TwinQuery(of: facts("a", audience, title: "x"), publishedAt: moment) == nil) }
        #expect(TwinQuery(of: facts("a", alice, title: nil), publishedAt: moment) == nil)
        #expect(TwinQuery(of: facts("a", AudienceSummary(.installations, names: ["i"]), title: "x"), publishedAt: moment) != nil)
    }

    @Test func anAnswerWaitsForTwinsNoLongerThanItMay() {
        let waits = TwinWaits()
        let ends = Box<[Int]>([])
        func add(until milliseconds: Int64) -> TwinWaits.Ending {
            waits.add(until: MonotonicTime(nanoseconds: milliseconds * 1_000_000)) { twins in
                ends.withLock { $0.append(twins?.count ?? -1) }
            }
        }
        let (first, second) = (add(until: 500), add(until: 900))
        second([])
        #expect(ends.withLock { $0 } == [0])
        waits.tick(at: MonotonicTime(nanoseconds: 499_999_999))
        #expect(ends.withLock { $0 } == [0])
        waits.tick(at: MonotonicTime(nanoseconds: 500_000_000))
        first([])
        waits.tick(at: MonotonicTime(nanoseconds: 900_000_000))
        #expect(ends.withLock { $0 } == [0, -1])
    }
}
