import FaultOracle
import PushModel
import Testing

@Suite struct FactReaderTests {
    private func result(_ text: String) -> ResultFact? {
        var reader = FactReader()
        return reader.result(Array(text.utf8).span, at: 5)
    }

    private func text(
        attempts: String, outcome: String = "success", state: String = "sent", safety: String = "duplicate_risk"
    ) -> String {
        """
        {"request_id":"r7","kind":"final","state":"\(state)","replay_safety":"\(safety)",
         "sends":[{"index":0,"outcome":"\(outcome)","notification_id":"n"}],"attempts":[\(attempts)],
         "origin":{"topic":"t","partition":3,"offset":"42"},"worker":{"id":"w2"}}
        """
    }

    @Test func aResultTellsItsRequestItsWorkerAndItsNotification() throws {
        let fact = try #require(
            result(text(attempts: #"{"n":1,"send":0,"result":"ok","http_status":201,"bytes_sent":true}"#)))
        #expect(fact.origin == Place(3, 42))
        #expect(fact.user == 7)
        #expect(fact.worker == "w2")
        #expect(fact.at == 5)
        #expect(fact.sends == [.init(isSuccess: true, notification: Digest.of("n".utf8))])
        #expect(fact.explainedCalls == 1)
    }

    @Test func aReplayTellsWhatItRepeats() throws {
        var reader = FactReader()
        func replay(_ text: String) -> ReplayFact? { reader.replay(Array(text.utf8).span, at: Place(0, 5)) }
        let some = try #require(replay(#"{"replay":{"parent_origin":"t:3:42","sends":[1,2]}}"#))
        #expect(some.place == Place(0, 5) && some.parent == Place(3, 42) && some.sends == [1, 2])
        #expect(try #require(replay(#"{"replay":{"parent_origin":"t:3:42"}}"#)).sends == nil)
        #expect(replay(#"{"id":"r7"}"#) == nil)
    }

    @Test func onlyAttemptsThatTheHubMayHaveTakenExplainACall() throws {
        let lost = #"{"n":1,"send":0,"result":"error","bytes_sent":true}"#
        let unsent = #"{"n":2,"send":0,"result":"error","bytes_sent":false}"#
        let refused = #"{"n":3,"send":0,"result":"error","http_status":503,"bytes_sent":true}"#
        let taken = #"{"n":4,"send":0,"result":"ok","http_status":201,"bytes_sent":true}"#
        #expect(try #require(result(text(attempts: "\(lost),\(unsent),\(refused),\(taken)"))).explainedCalls == 2)
        #expect(
            try #require(result(text(attempts: refused, outcome: "transient", state: "failed", safety: "safe"))).explainedCalls
                == 0)
        #expect(
            try #require(result(text(attempts: "", outcome: "ambiguous", state: "failed", safety: "ambiguous"))).explainedCalls
                == 1)
    }

    @Test(arguments: ["", "{}", "[1]", #"{"kind":"outcome"}"#, #"{"kind":"final","request_id":"r1","state":"none"}"#])
    func whatIsNoFinalResultIsNone(_ text: String) {
        #expect(result(text) == nil)
    }

    @Test func aLineOfTheJournalTellsUserTimeAndFate() throws {
        var reader = FactReader()
        let line = #"{"id":2,"at":17,"op":"send","tags":"username:u12","status":0,"accepted":true,"notification_id":"n"}"#
        let whole = reader.call(Array(line.utf8).span)
        let call = try #require(whole)
        #expect(call.user == 12)
        #expect(call.at == 17)
        #expect(call.status == 0)
        #expect(call.isAccepted)
        #expect(call.notification == Digest.of("n".utf8))
        let cut = reader.call(Array(line.utf8.dropLast(4)).span)
        #expect(cut == nil)
    }

    @Test func anAbsentKeyIsNoEmptyKey() {
        let digests = [
            Digest.ofRecord(key: nil, value: [1]), Digest.ofRecord(key: [], value: [1]), Digest.ofRecord(key: [1], value: []),
            Digest.ofRecord(key: [1], value: nil), Digest.ofRecord(key: nil, value: nil),
        ]
        #expect(Set(digests).count == digests.count)
    }
}
