@testable import PublishAPI
@testable import GatewayAPI
import DoorStage
import HTTPServing
import Publishing
import PushModel
import Results
import TestSupport
import Testing

/// What a gateway says of requests whose calls are followed: `sent` is not the last word.
@Suite struct OutcomeStateTests {
    private static let place = #","origin":{"topic":"requests","partition":1,"offset":"7"}"#

    /// The final result of a request whose calls the hub accepted and that are followed.
    private func final(_ calls: Int, of id: String = "a") throws -> ResultRecord {
        try LookupResults.record("sent", of: id, members: #","followed":true,"targets":{"accepted":\#(calls)}"# + Self.place)
    }

    /// An outcome of a call, such as `sent` or `failed no_target`.
    private func outcome(_ words: String, of call: Int, origin: String = place, source: String = "shop") throws -> ResultRecord {
        let parts = words.split(separator: " ")
        let error = parts.count > 1 ? #","error":{"code":"\#(parts[1])"}"# : ""
        let json =
            #"{"request_id":"a","kind":"outcome","state":"\#(parts[0])"\#(error),"sends":[{"index":\#(call)}],"source":"\#(source)"\#(origin)}"#
        return try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0))
    }

    private func bring(_ result: ResultRecord, to stage: LookupStage) {
        stage.lookup.take(result)
        stage.results.complete("a")
    }

    // MARK: States

    @Test(
        arguments: [
            (["sent"], "delivered", "delivered", "delivered"), (["failed no_target"], "no_target", "no_target", "reached_nobody"),
            (["failed devices_refused"], "devices_refused", "devices_refused", "reached_nobody"),
            (["partial devices_refused"], "reached_some", "reached_some", "reached_some"),
            (["sent", "failed no_target"], "delivered", "delivered", "delivered"),
            (["sent", "failed devices_refused"], "reached_some", "reached_some", "reached_some"),
            (["failed no_target", "failed devices_refused"], "devices_refused", "devices_refused", "reached_nobody"),
            (["failed nothing_counted"], "sent", "unknown", "sent"),
            (["unknown telemetry_unavailable"], "sent", "unknown", "sent"),
            (["sent", "failed hub_abandoned"], "sent", "unknown", "sent"), (["failed hub_canceled"], "sent", "unknown", "sent"),
        ] as [([String], String, String, String)])
    func theStateIsTheOutcomeOfAllCallsAndAgreesWithTheVerdict(
        outcomes: [String], state: String, outcomeState: String, verdict: String
    ) throws {
        let stage = LookupStage()
        stage.publish("a")
        bring(try final(outcomes.count), to: stage)
        for (call, words) in outcomes.enumerated() {
            let shown = stage.get("a")
            #expect(shown.text.hasPrefix(#"{"id":"a","state":"sent","outcome_state":"awaited","#), "\(shown.text)")
            #expect(shown.last?.headers["ETag"] == nil && shown.text.contains(#""verdict":{"code":"sent","#))
            // The same call told twice counts once, and those of others do not count.
            if call == 0 { bring(try outcome(words, of: call, source: "bank"), to: stage) }
            if call > 0 { bring(try outcome("sent", of: call - 1), to: stage) }
            bring(try outcome(words, of: call, origin: Self.place.replacing("7", with: "8")), to: stage)
            bring(try outcome(words, of: call), to: stage)
        }
        let shown = stage.get("a")
        #expect(shown.text.hasPrefix(#"{"id":"a","state":"\#(state)","outcome_state":"\#(outcomeState)","#), "\(shown.text)")
        #expect(shown.text.contains(#""verdict":{"code":"\#(verdict)","#) && shown.last?.headers["ETag"] != nil, "\(shown.text)")
        #expect(
            shown.text.contains(#""result":{"request_id":"a","kind":"final","state":"sent""#),
            "the result stays as it was written")
    }

    @Test(arguments: [
        ("sent", ""), ("sent", #","targets":{"accepted":1}"#), ("partial", #","followed":true,"targets":{"accepted":1}"#),
    ])
    func aResultThatIsTheLastWordIsFinalAtOnce(word: String, members: String) throws {
        let stage = LookupStage()
        stage.publish("a")
        bring(try LookupResults.record(word, of: "a", members: members), to: stage)
        let first = try #require(stage.get("a").last)
        bring(try outcome("failed no_target", of: 0), to: stage)
        #expect(first.headers["ETag"] != nil && stage.get("a").last == first)
        let text = String(decoding: first.body, as: UTF8.self)
        #expect(text.contains(#""state":"\#(word)""#) && !text.contains("outcome_state"))
        #expect(stage.get("a?wait=outcome").all == [first], "nothing is awaited")
    }

    // MARK: Waiting

    @Test(arguments: ["?wait=outcome", "?wait=30&until=outcome", ""]) func aWaitForTheOutcomeEndsWithIt(query: String) throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a" + query, headers: query.isEmpty ? ["Prefer": "wait=30; until=\"outcome\""] : [:])
        bring(try final(2), to: stage)
        bring(try outcome("sent", of: 0), to: stage)
        #expect(answers.all.isEmpty && stage.lookup.watcherCount == 1 && stage.results.count == 1)
        bring(try outcome("sent", of: 1), to: stage)
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"delivered","#))
        #expect(stage.lookup.watcherCount == 0 && stage.results.count == 0)
    }

    @Test(arguments: [("?wait=20", true), ("?wait=20&until=result", true), ("?wait=20&until=outcome", false)])
    func aWaitForTheResultEndsWithSent(query: String, isForResult: Bool) throws {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.get("a" + query)
        bring(try final(1), to: stage)
        #expect(answers.all.count == (isForResult ? 1 : 0))
        stage.advance(seconds: 20)
        #expect(answers.all.map(\.status) == [200] && answers.text.contains(#""state":"sent","outcome_state":"awaited","#))
    }

    @Test func anOutcomeThatComesAsTheWaitBeginsIsSeen() throws {
        let stage = LookupStage()
        stage.publish("a")
        let results = [try final(1), try outcome("failed no_target", of: 0)]
        stage.results.beforeNextWait { for result in results { stage.lookup.take(result) } }
        #expect(stage.get("a?wait=outcome").text.contains(#""state":"no_target","#))
    }

    /// As the first call of a publisher and as its repetition, whose answer may have come from a file after a restart.
    @Test(arguments: [false, true], [("wait=10", "sent"), ("wait=10;until=outcome", "delivered")])
    func aPublishThatPrefersToWaitWaitsForItsGoal(isRepeated: Bool, goal: (prefer: String, state: String)) throws {
        let stage = LookupStage()
        let answers = Answered()
        let body =
            #"{"id":"a","state":"accepted","topic":"requests","partition":1,"offset":"7","accepted_at":"1970-01-01T00:00:01.000Z"}"#
        let accepted = APIAnswer(status: 202, json: Array(body.utf8))
        if isRepeated {
            stage.records.withLock { $0 = #"{"id":"a","source":"shop"}"# }
            stage.endpoints.answerRepetition(by: LookupStage.publisher, to: ["Prefer": goal.prefer], accepted: accepted) {
                answers.add($0)
            }
        } else {
            let claimant = Claimant(keyID: LookupStage.publisher.keyID, tenant: nil)
            stage.endpoints.answer(stage.publish("a"), of: claimant, to: ["Prefer": goal.prefer], accepted: accepted) {
                answers.add($0)
            }
        }
        bring(try final(1), to: stage)
        #expect(answers.all.count == (goal.state == "sent" ? 1 : 0))
        bring(try outcome("sent", of: 0), to: stage)
        #expect(answers.all.map(\.status) == [200] && answers.text.contains(#""state":"\#(goal.state)","#), "\(answers.text)")
        #expect(answers.last?.headers["Preference-Applied"] == "wait=10")
    }

    /// Just after its start a gateway reads no results yet, and searches what has ended.
    @Test(arguments: [#","offset":"7""#, ""]) func aRepetitionOfWhatHasEndedNeedsNoWait(offset: String) throws {
        let stage = LookupStage()
        stage.results.refuse(.notReading)
        stage.records.withLock { $0 = #"{"id":"a","source":"shop"}"# }
        let result = try LookupResults.record("failed", of: "a", members: Self.place)
        stage.trace.withLock { $0 = .final(result) }
        stage.lives.withLock { $0 = [result] }
        let body =
            #"{"id":"a","state":"accepted","topic":"requests","partition":1\#(offset),"accepted_at":"1970-01-01T00:00:01.000Z"}"#
        let answers = Answered()
        stage.endpoints.answerRepetition(
            by: LookupStage.publisher, to: ["Prefer": "wait=10"], accepted: APIAnswer(status: 202, json: Array(body.utf8))
        ) { answers.add($0) }
        #expect(answers.all.map(\.status) == [200] && answers.text.contains(#""state":"failed","#), "\(answers.text)")
    }

    // MARK: Events

    @Test func eventsEndWithTheOutcome() throws {
        let stage = LookupStage()
        stage.publish("a")
        let sink = stage.follow("a").sink
        bring(try final(1), to: stage)
        #expect(sink.text.contains("event: state\nid: sent\ndata: {") && !sink.isEnded && stage.lookup.watcherCount == 1)
        // Whoever connects again goes on where it was.
        let again = stage.follow("a", headers: ["Last-Event-ID": "sent"]).sink
        #expect(again.text == "retry: 2000\n\n" && !again.isEnded)
        bring(try outcome("failed no_target", of: 0), to: stage)
        for sink in [sink, again] {
            #expect(sink.text.contains("event: state\nid: no_target\ndata: {") && sink.isEnded)
            #expect(sink.text.hasSuffix("event: end\nid: end\ndata: {}\n\n"))
        }
        #expect(stage.endpoints.events.count == 0 && stage.lookup.watcherCount == 0 && stage.results.count == 0)
        #expect(stage.follow("a").sink.text.contains("id: no_target\n"))
    }

    @Test func eventsEndWhenNoOutcomeIsAwaitedAnyMore() throws {
        let stage = LookupStage()
        stage.publish("a")
        let sink = stage.follow("a").sink
        bring(try final(1), to: stage)
        stage.advance(seconds: RequestStory.longestOutcome / 1000)
        #expect(sink.text.contains("id: sent-unknown\ndata: {\"id\":\"a\",\"state\":\"sent\",\"outcome_state\":\"unknown\","))
        #expect(sink.text.hasSuffix("event: end\nid: end\ndata: {}\n\n") && sink.isEnded)
        #expect(stage.get("a").last?.headers["ETag"] != nil && stage.lookup.watcherCount == 0)
    }

    // MARK: Other gateways

    /// A gateway that did not publish the request finds its outcomes with its result.
    @Test(arguments: [true, false]) func aResultFromBeforeTheProofIsFoundWithItsOutcomes(areWhole: Bool) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"a","source":"shop"}"# }
        let (result, told) = (try final(2), try outcome("sent", of: 0))
        stage.trace.withLock { $0 = .final(result, outcomes: .init(found: [told], areWhole: areWhole)) }
        #expect(stage.get("a?at=requests/1/7").text.contains(#""state":"sent","outcome_state":"awaited","#))
        let last = try outcome("sent", of: 1)
        stage.trace.withLock { $0 = .final(result, outcomes: .init(found: [told, last], areWhole: true)) }
        #expect(stage.get("a").text.contains(#""state":"\#(areWhole ? "sent" : "delivered")","#))
        #expect(stage.searches.withLock { $0 }.count == (areWhole ? 1 : 2), "what was not read in time is searched again")
        bring(last, to: stage)
        #expect(stage.get("a").text.contains(#""state":"delivered","#))
    }

    /// The result and its search lie before the outcome, and the answer of the search comes after it. A repetition is no result that counts.
    @Test(arguments: [false, true]) func anOutcomeThatComesBeforeTheSearchAnswersCounts(isRepeated: Bool) throws {
        let stage = LookupStage()
        stage.records.withLock { $0 = #"{"id":"a","source":"shop"}"# }
        let result = try final(2)
        stage.trace.withLock { $0 = .final(result, outcomes: .init(found: [], areWhole: true)) }
        stage.holdsSearches.withLock { $0 = true }
        let answers = stage.get("a?at=requests/1/7&wait=outcome")
        if isRepeated { bring(try LookupResults.record("sameID", of: "a"), to: stage) }
        bring(try outcome("failed no_target", of: 0, origin: Self.place.replacing("7", with: "8")), to: stage)
        for call in 0..<2 { bring(try outcome("sent", of: call), to: stage) }
        #expect(answers.all.isEmpty)
        stage.endSearches()
        #expect(answers.all.count == 1 && answers.text.contains(#""state":"delivered","#), "\(answers.text)")
    }

    @Test(arguments: ["a", "a?life=true"]) func aRequestThatOnlyItsResultsShowHasItsOutcome(path: String) throws {
        let stage = LookupStage()
        let results = [try final(1), try outcome("failed no_target", of: 0)]
        stage.lives.withLock { $0 = results.enumerated().map { LookupResults.moved($1, to: Int64($0)) } }
        let shown = stage.get(path)
        #expect(shown.text.hasPrefix(#"{"id":"a","state":"no_target","outcome_state":"no_target","#), "\(shown.text)")
        #expect(shown.text.contains(#""verdict":{"code":"reached_nobody","#))
    }

    // MARK: What is kept

    @Test func oneThatAwaitsAnOutcomeStaysUntilThatOrItsLatestMoment() throws {
        var store = PublishedRequests()
        let owner = RequestOwner(source: "shop", tenant: nil)
        let keys = ["a", "b"].map {
            store.add(PublishedRequest(id: $0, owner: owner, acceptedAt: 0, expiresAt: 1000), at: 0)
        }
        for id in ["a", "b"] { store.take(try final(1, of: id), at: 1) }
        store.take(try outcome("sent", of: 0), at: 700_000)
        let last = RequestStory.longestOutcome + 600_000
        for (moment, count) in [(1_299_999, 2), (1_300_000, 1), (last - 1, 1), (last, 0)] as [(Int64, Int)] {
            _ = store.find("x", for: LookupStage.publisher, at: Timestamp(milliseconds: moment))
            #expect(store.count == count, "at \(moment)")
        }
        #expect(store[keys[0]] == nil && store[keys[1]] == nil && store.resultByteCount == 0)
    }

    /// Whatever outcomes come before a result: they end nothing, are bounded, and leave with the request or with a result that is the last word.
    @Test func outcomesWithoutAResultAreBounded() throws {
        var store = PublishedRequests()
        let owner = RequestOwner(source: "shop", tenant: nil)
        let keys = ["a", "b"].map {
            store.add(PublishedRequest(id: $0, owner: owner, acceptedAt: 0, expiresAt: 2_000_000), at: 0)
        }
        for call in 0..<Awaited.maximumOutcomeCount + 10 { store.take(try outcome("sent", of: call), at: 1) }
        let kept = store.resultByteCount
        #expect(kept > 0 && kept <= Awaited.maximumOutcomeCount * 128)
        _ = store.find("x", for: LookupStage.publisher, at: 2_599_999)
        #expect(store[keys[0]]?.ending == nil && store.count == 2, "it has not ended")
        let last = try LookupResults.record("sent", of: "a")
        store.take(last, at: 2_599_999)
        #expect(store.resultByteCount == last.json.count)
        _ = store.find("x", for: LookupStage.publisher, at: 3_199_999)
        #expect(store.count == 0 && store.resultByteCount == 0 && store[keys[1]] == nil)
    }

    /// A hub that never tells an outcome, or tells a thousand, leaves no more than is allowed.
    @Test func thoseThatAwaitOutcomesAreBoundedByTheirBytes() throws {
        var limits = PublishedRequests.Limits()
        limits.resultByteCount = 100_000
        var store = PublishedRequests(limits)
        let owner = RequestOwner(source: "shop", tenant: nil)
        for number in 0..<2_000 {
            let id = number % 2 == 0 ? "a" : "r\(number)"
            _ = store.add(PublishedRequest(id: id, owner: owner, acceptedAt: 0), at: 1)
            store.take(try final(1_000, of: id), at: 1)
            store.take(try outcome("sent", of: number), at: 1)
            #expect(store.resultByteCount <= limits.resultByteCount)
        }
        #expect(store.count > 100 && store.stepCount < 40_000)
    }
}
