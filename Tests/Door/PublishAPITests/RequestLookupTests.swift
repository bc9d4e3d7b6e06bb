@testable import PublishAPI
@testable import GatewayAPI
import DoorStage
import Basics
import HTTPServing
import Kafka
import Publishing
import PushModel
import Results
import Synchronization
import TestSupport
import Testing

/// What became of requests, asked over HTTP; with clocks that tests move and results that tests bring.
@Suite struct RequestLookupTests {
    @Test func aRequestIsKnownToTheKeyThatPublishedItAndToReaders() throws {
        let stage = LookupStage()
        stage.publish("a", notBefore: 5000)
        let answer = try #require(stage.get("a").last)
        #expect(answer.status == 200 && answer.headers["Cache-Control"] == "no-store" && answer.headers["ETag"] == nil)
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"id":"a","state":"waiting","topic":"requests","partition":1,"offset":"7","#
                + #""accepted_at":"1970-01-01T00:00:01.000Z","due_at":"1970-01-01T00:00:05.000Z","verdict":{"code":"waiting","#
                + #""text":"Waits for 00:00:05 UTC (in 4 s).","reason":"It was published at 00:00:01 UTC."}}"# + "\n")
        #expect(stage.get("a", by: LookupStage.reader).last?.status == 200)
        for asker in [LookupStage.stranger, LookupStage.otherTenant] {
            #expect(stage.get("a", by: asker).last == stage.get("nothing", by: asker).last)
            #expect(stage.get("a", by: asker).last?.status == 404)
        }
        #expect(stage.get("a", by: LookupStage.powerless).last?.status == 403)
        let problem = String(decoding: try #require(stage.get("nothing").last).body, as: UTF8.self)
        #expect(problem.contains("?at= of its Location"))
    }

    @Test func whoeverHasTheFinalStateIsSpared() throws {
        let stage = LookupStage()
        stage.publish("a")
        try stage.bring("sent", of: "a")
        let first = try #require(stage.get("a").last)
        let tag = try #require(first.headers["ETag"])
        #expect(first.status == 200 && String(decoding: first.body, as: UTF8.self).contains(#""state":"sent","#))
        #expect(String(decoding: first.body, as: UTF8.self).contains(#""result":{"request_id":"a","#))
        let second = try #require(stage.get("a", headers: ["If-None-Match": tag]).last)
        #expect(second.status == 304 && second.body.isEmpty && second.headers["ETag"] == tag)
        #expect(stage.get("a", headers: ["If-None-Match": "\"x\", W/\(tag)"]).last == second)
        #expect(stage.get("a", headers: ["If-None-Match": "*"]).last == second)
        #expect(stage.get("a", headers: ["If-None-Match": "\"other\""]).last == first)
        stage.publish("b")
        #expect(stage.get("b", headers: ["If-None-Match": tag]).last?.status == 200)
        let waiting = try #require(stage.get("b", headers: ["If-None-Match": "*"]).last)
        #expect(waiting.status == 304 && waiting.body.isEmpty && waiting.headers["ETag"] == nil)
    }

    @Test(arguments: [("?wait=10", [:], nil), ("", ["Prefer": "wait=10"], "wait=10")] as [(String, HTTPFields, String?)])
    func aWaitEndsWithTheResult(query: String, headers: HTTPFields, applied: String?) throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a" + query, headers: headers)
        #expect(answers.all.isEmpty && stage.lookup.watcherCount == 1)
        try stage.bring("sent", of: "a")
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"sent","#))
        #expect(answers.last?.headers["Preference-Applied"] == applied)
        #expect(stage.lookup.watcherCount == 0 && stage.results.count == 0)
        stage.advance(seconds: 60)
        #expect(answers.all.count == 1)
    }

    @Test func aWaitEndsWithThePresentStateWhenItsTimeIsOver() {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a?wait=10")
        stage.advance(seconds: 9)
        #expect(answers.all.isEmpty)
        stage.advance(seconds: 1)
        #expect(answers.all.map(\.status) == [200] && answers.text.contains(#""state":"accepted","#))
        #expect(stage.lookup.watcherCount == 0)
    }

    @Test func aDuplicateBeforeTheTrueResultEndsNoWait() throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a?wait=10")
        try stage.bring("sameID", of: "a")
        #expect(answers.all.isEmpty)
        stage.advance(seconds: 1)
        // Whoever comes in between waits for the same end.
        let late = stage.get("a?wait=10")
        try stage.bring("sent", of: "a")
        for each in [answers, late] { #expect(each.all.count == 1 && each.text.contains(#""state":"sent","#)) }
    }

    /// A repetition shows the fate of the first call, which another gateway may have taken hours ago.
    @Test(arguments: ["a", "a?wait=10"]) func aRepetitionShowsTheFateOfTheFirst(path: String) throws {
        let stage = LookupStage()
        stage.publish("a")
        stage.trace.withLock { [first = try LookupResults.record("failed", of: "a")] in $0 = .final(first) }
        try stage.bring("sameID", of: "a")
        let answers = stage.get(path)
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"failed","#), "\(answers.text)")
        #expect(answers.text.contains(#","repeated":true,"result":"#), "\(answers.text)")
        #expect(stage.searches.withLock { $0 } == [.sinceItsID] && stage.lookup.watcherCount == 0)
        #expect(stage.follow("a").sink.text.contains("event: state\nid: failed\n"))
    }

    @Test func aRepetitionWhoseFirstIsOnItsWayWaitsForThat() throws {
        let stage = LookupStage()
        stage.publish("a")
        try stage.bring("sameID", of: "a")
        let (answers, sink) = (stage.get("a?wait=10"), stage.follow("a").sink)
        #expect(answers.all.isEmpty && sink.text.contains("id: accepted\n") && !sink.isEnded)
        #expect(stage.get("a").text.contains(#""state":"accepted","#))
        #expect(stage.get("a").text.contains(#","repeated":true,"verdict":"#), "also while it is on its way")
        try stage.bring("failed", of: "a")
        #expect(answers.text.contains(#""state":"failed","#) && sink.isEnded)
    }

    @Test func aRepetitionWhoseFirstIsNotKeptAnyMoreIsADuplicate() throws {
        let stage = LookupStage()
        stage.publish("a")
        stage.trace.withLock { [own = try LookupResults.record("sameID", of: "a")] in $0 = .repetition(own) }
        try stage.bring("sameID", of: "a")
        #expect(stage.get("a?wait=10").text.contains(#""state":"duplicate","#))
    }

    @Test func aResultOfAnothersRequestWithTheSameIDEndsNoWait() throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a?wait=10")
        try stage.bring("sent", of: "a", members: #","source":"bank""#)
        #expect(answers.all.isEmpty && stage.lookup.watcherCount == 1 && stage.results.count == 1)
        stage.advance(seconds: 10)
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"accepted","#))
    }

    @Test func aResultThatComesAsTheWaitBeginsIsSeen() throws {
        let stage = LookupStage()
        stage.publish("a")
        let result = try LookupResults.record("sent", of: "a")
        stage.results.beforeNextWait { stage.lookup.take(result) }
        let answers = stage.get("a?wait=10")
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"sent","#))
        #expect(stage.results.count == 0 && stage.lookup.watcherCount == 0)
    }

    @Test(
        arguments: [(.full, 503, "overloaded"), (.notReading, 503, "broker_unavailable"), (.closed, 200, "accepted")]
            as [(ResultFollower.WaitRefusal, Int, String)])
    func whereNobodyMayWaitThatIsAnswered(refusal: ResultFollower.WaitRefusal, status: Int, code: String) {
        let stage = LookupStage()
        stage.publish("a")
        stage.results.refuse(refusal)
        let answers = stage.get("a?wait=10")
        #expect(answers.all.map(\.status) == [status] && answers.text.contains(code))
        #expect(stage.get("a").last?.status == 200 && stage.lookup.watcherCount == 0)
        let published = Answered()
        stage.waitForPublished("a", published)
        #expect(published.all.map(\.status) == [202], "it is published all the same")
    }

    @Test func onlySoManyMayWait() throws {
        let stage = LookupStage(watchLimit: 2)
        for id in ["a", "b", "c"] { stage.publish(id) }
        let waits = ["a", "b"].map { stage.get($0 + "?wait=10") }
        #expect(stage.get("c?wait=10").all.map(\.status) == [503])
        #expect(stage.follow("c").answers.all.map(\.status) == [503])
        stage.results.close()
        #expect(waits.allSatisfy { $0.all.map(\.status) == [200] && $0.text.contains(#""state":"accepted""#) })
        #expect(stage.lookup.watcherCount == 0)
    }

    /// Sixteen connections: twelve waits and streams, of one key three.
    @Test(arguments: [false, true]) func aKeyWithItsShareIsRefusedAndOthersWaitAsUsual(follows: Bool) throws {
        let stage = LookupStage(connections: 16)
        stage.publish("a")
        func begin(by asker: Asker) -> Answered {
            follows ? stage.follow("a", by: asker).answers : stage.get("a?wait=10", by: asker)
        }
        let open = (0..<3).map { _ in begin(by: LookupStage.publisher) }
        #expect(open.allSatisfy { $0.all.map(\.status) == (follows ? [200] : []) } && stage.lookup.watcherCount == 3)
        for refused in [stage.get("a?wait=10"), stage.follow("a").answers] {
            #expect(refused.all.map(\.status) == [429] && refused.text.contains(#""code":"too_many_requests""#))
            #expect(refused.last?.headers["Retry-After"] == "1")
        }
        let published = Answered()
        stage.waitForPublished("a", published)
        #expect(published.all.map(\.status) == [202], "it is published all the same")
        #expect(stage.get("a").last?.status == 200, "a look costs no place")
        let other = begin(by: LookupStage.reader)
        #expect(other.all.map(\.status) == (follows ? [200] : []) && stage.lookup.watcherCount == 4)
        try stage.bring("sent", of: "a")
        #expect(stage.lookup.watcherCount == 0)
        stage.publish("b")
        #expect(stage.get("b?wait=10").all.isEmpty, "the places are free again")
    }

    @Test func atTheStopEverybodyGetsWhatIsKnownAndNobodyWaitsAnyMore() throws {
        let stage = LookupStage()
        for id in ["a", "b"] { stage.publish(id) }
        let (published, late) = (Answered(), Answered())
        stage.waitForPublished("a", published)
        let asked = stage.get("a?wait=10")
        stage.lookup.endWatches()
        stage.waitForPublished("b", late)
        let askedLate = stage.get("b", headers: ["Prefer": "wait=10"])
        for answers in [published, late] {
            #expect(answers.all.map(\.status) == [202] && answers.last?.headers["Preference-Applied"] == nil)
        }
        for answers in [asked, askedLate] {
            #expect(answers.all.map(\.status) == [200] && answers.text.contains(#""state":"accepted""#))
            #expect(answers.last?.headers["Preference-Applied"] == nil)
        }
        #expect(stage.lookup.watcherCount == 0 && stage.results.count == 0)
        try stage.bring("sent", of: "a")
        #expect([published, asked].allSatisfy { $0.all.count == 1 })
    }

    @Test(arguments: [true, false]) func aPublishThatPrefersToWaitGetsTheResultOr202(comes: Bool) throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = Answered()
        stage.waitForPublished("a", answers)
        #expect(answers.all.isEmpty)
        if comes { try stage.bring("sent", of: "a") }
        stage.advance(seconds: 10)
        #expect(answers.all.map(\.status) == [comes ? 200 : 202])
        #expect(answers.last?.headers["Preference-Applied"] == "wait=10")
        #expect(answers.text.contains(#""result":"#) == comes)
    }

    @Test(
        arguments: [
            (#"{"id":"x","source":"shop"}"#, LookupStage.publisher, 200),
            (#"{"id":"x","source":"shop"}"#, LookupStage.reader, 200),
            (#"{"id":"x","source":"bank"}"#, LookupStage.publisher, 404),
            (#"{"id":"y","source":"shop"}"#, LookupStage.publisher, 404),
            (#"{"id":"x","source":"shop","tenant":"t2"}"#, LookupStage.otherTenant, 404),
            ("nonsense", LookupStage.publisher, 404),
            (nil, LookupStage.publisher, 404),
        ] as [(String?, Asker, Int)])
    func aRecordAtItsPlaceProvesARequestOfAnotherGateway(value: String?, asker: Asker, status: Int) {
        let stage = LookupStage()
        stage.records.withLock { $0 = value }
        let answers = stage.get("x?at=requests/1/7", by: asker)
        #expect(answers.all.map(\.status) == [status])
        guard status == 200 else { return }
        #expect(answers.text.contains(#""state":"published","#) && answers.text.contains(#""offset":"7""#))
    }

    /// The topic was made again, and its publisher used the id again: at that place stands another request now.
    @Test(arguments: [(1000, 200), (999, 404), (nil, 200)] as [(Int?, Int)])
    func aRecordOfAnotherTimeIsNotTheRequest(time: Int?, status: Int) {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        let query = time.map { "&time=\($0)" } ?? ""
        #expect(stage.get("x?at=requests/1/7" + query).all.map(\.status) == [status])
    }

    /// The answer to the first call names a place and a time. Another request at that place is not waited for.
    @Test(arguments: [true, false]) func aRepetitionWaitsForTheRequestOfTheFirstCallAlone(isThere: Bool) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        let moment = isThere ? "1970-01-01T00:00:01.000Z" : "1970-01-01T00:00:00.999Z"
        let body = #"{"id":"x","state":"accepted","topic":"requests","partition":1,"offset":"7","accepted_at":"\#(moment)"}"#
        let answers = Answered()
        stage.endpoints.answerRepetition(
            by: LookupStage.publisher, to: ["Prefer": "wait=10"], accepted: APIAnswer(status: 202, json: Array(body.utf8))
        ) { answers.add($0) }
        try stage.bring("sent", of: "x")
        #expect(answers.all.map(\.status) == [isThere ? 200 : 202] && answers.text.contains(#""result""#) == isThere)
    }

    @Test func theValueOfAnotherRecordAtThePlaceIsNotShown() {
        let stage = LookupStage()
        var reader = LookupStage.reader
        reader.mayReadPayload = true
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        stage.publish("x")
        #expect(stage.get("x?payload=true", by: reader).text.contains(#""request":{"id":"x","#))
        stage.advance(seconds: 1)
        stage.publish("y")
        stage.records.withLock { $0 = #"{"id":"y","source":"shop"}"# }
        let later = stage.get("y?payload=true", by: reader)
        #expect(later.all.map(\.status) == [200] && !later.text.contains(#""request""#), "the record there is of the time 1000")
    }

    @Test(arguments: [false, true]) func aTimeThatABrokerGaveSaysNothing(isTimedByBroker: Bool) {
        let place = RequestPlace(record: StoredPlace(topic: "t", partition: 0, offset: 1), time: 17)
        #expect(place.admits(StoredRecord(timestamp: 18, isTimedByBroker: isTimedByBroker, value: nil)) == isTimedByBroker)
        #expect(place.admits(StoredRecord(timestamp: 17, isTimedByBroker: isTimedByBroker, value: nil)))
    }

    @Test(arguments: ["", "wait=10"]) func aResultFromBeforeTheProofIsFound(query: String) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        stage.trace.withLock { [result = try LookupResults.record("sent", of: "x")] in $0 = .final(result) }
        #expect(stage.get("x?at=requests/1/7&" + query).text.contains(#""state":"sent","#))
        #expect(stage.searches.withLock { $0 } == [.sinceItsRecord])
        // The call has spoiled nothing.
        #expect(stage.get("x?" + query).text.contains(#""state":"sent","#))
        let sink = stage.follow("x").sink
        #expect(sink.text.hasSuffix("event: end\nid: end\ndata: {}\n\n") && sink.isEnded)
        #expect(stage.searches.withLock { $0.count } == 1)
    }

    @Test(arguments: [ResultTracer.Answer.unknown, nil] as [ResultTracer.Answer?])
    func whatIsNotFoundInTimeIsUnknownAndSearchedAgain(answer: ResultTracer.Answer?) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        stage.trace.withLock { $0 = answer }
        let shown = try #require(stage.get("x?at=requests/1/7").last)
        #expect(String(decoding: shown.body, as: UTF8.self).contains(#""state":"unknown","#) && shown.headers["ETag"] == nil)
        let (waiting, sink) = (stage.get("x?wait=20"), stage.follow("x").sink)
        #expect(waiting.all.isEmpty && sink.text.contains("event: state\nid: unknown\n") && !sink.isEnded)
        stage.trace.withLock { [result = try LookupResults.record("sent", of: "x")] in $0 = .final(result) }
        // With the next comment.
        stage.advance(seconds: 15)
        #expect(sink.text.contains("id: sent\n") && sink.isEnded)
        stage.advance(seconds: 5)
        #expect(waiting.text.contains(#""state":"sent","#))
    }

    @Test func manyWhoAskWaitForOneSearch() throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        stage.holdsSearches.withLock { $0 = true }
        let answers = (0..<3).map { _ in stage.get("x?at=requests/1/7") } + [stage.get("x?at=requests/1/7&wait=10")]
        #expect(answers.allSatisfy { $0.all.isEmpty } && stage.searches.withLock { $0.count } == 1)
        stage.trace.withLock { [result = try LookupResults.record("sent", of: "x")] in $0 = .final(result) }
        stage.endSearches()
        #expect(answers.allSatisfy { $0.all.count == 1 && $0.text.contains(#""state":"sent","#) })
    }

    /// A gateway that knows nothing of a request, which its results show.
    @Test(arguments: [(["sent"], "sent"), (["sent", "sameID"], "sent"), (["sameID"], "published")])
    func aRequestThatOnlyItsResultsShowHasOneState(words: [String], state: String) throws {
        let stage = LookupStage()
        let results = try words.map { try LookupResults.record($0, of: "x", members: #","source":"shop""#) }
        stage.lives.withLock { $0 = results.enumerated().map { LookupResults.moved($1, to: Int64($0)) } }
        for path in ["x", "x?life=true", "x"] {
            let answers = stage.get(path)
            #expect(answers.text.hasPrefix(#"{"id":"x","state":"\#(state)","#), "\(answers.text)")
        }
        let sink = stage.follow("x").sink
        #expect(sink.text.contains("id: \(state)\n") && sink.isEnded == (state == "sent"))
        #expect(stage.get("x", by: LookupStage.stranger).all.map(\.status) == [404])
    }

    @Test func afterTheProofItsResultIsWaitedFor() throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        let answers = stage.get("x?at=requests/1/7&wait=10")
        try stage.bring("sent", of: "x")
        #expect(answers.text.contains(#""state":"sent","#))
    }

    @Test func noTopicIsReadButThoseOfRequests() {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        #expect(stage.get("x?at=secure/1/7").all.map(\.status) == [404])
        #expect(stage.readCount.withLock { $0 } == 0)
    }
}
