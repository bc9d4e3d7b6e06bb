import Basics
import EventLoop
import Kafka
import TestSupport
import Testing

@testable import Publishing

/// Waiting for results on the library's embedded cluster.
@Suite(.tags(.threads, .c), .serialized) struct ResultFollowerTests {
    private var far: MonotonicTime { MonotonicTime.now().advanced(by: farDeadline) }

    @Test func tenThousandAreEachToldTheirOwnResultOnce() throws {
        let stage = try Stage()
        defer { stage.close() }
        let ids = (0..<10_000).map { "request-\($0)" }
        for id in ids { try stage.follower.expect(id, until: far, then: stage.endings.note(id)) }
        #expect(stage.follower.waiterCount == 10_000)
        for (number, id) in ids.enumerated() {
            try stage.write(Results.json(number % 2 == 0 ? "sent1" : "failed", of: id), key: id)
            try stage.write(Results.json("sent1", of: "other-\(number)"), key: "other-\(number)")
        }
        try stage.producer.flush(timeout: farDeadline)
        #expect(eventually { stage.endings.count >= 10_000 })
        for (number, id) in ids.enumerated() {
            let endings = stage.endings.of(id)
            try #require(endings.count == 1, "\(id)")
            #expect(endings[0].reason == .complete)
            #expect(endings[0].awaited.finalResult?.requestID == id)
            #expect(endings[0].awaited.finalResult?.state == (number % 2 == 0 ? "sent" : "failed"))
        }
        #expect(stage.follower.waiterCount == 0)
    }

    /// `enqueue --wait` and the gateway wait so.
    @Test(arguments: HeadersOfResult.allCases) func waitsEndByKeyAndValueWhateverTheHeaders(_ headers: HeadersOfResult) throws {
        let stage = try Stage()
        defer { stage.close() }
        for id in ["a", "other"] { try stage.follower.expect(id, until: far, then: stage.endings.note(id)) }
        try stage.follower.expect("b", awaiting: Awaited(.outcomes), until: far, then: stage.endings.note("b"))
        try stage.write(["failed"], of: "a", headers: headers)
        try stage.write(["sent1", "outcome0"], of: "b", headers: headers)
        #expect(eventually { !stage.endings.of("a").isEmpty && !stage.endings.of("b").isEmpty })
        #expect(stage.endings.states("a") == ["failed"] && stage.endings.states("b") == ["sent"])
        #expect(stage.endings.of("b").first?.awaited.outcomes.count == 1)
        #expect(stage.endings.of("other").isEmpty && stage.follower.waiterCount == 1)
    }

    @Test func whoseTimeIsOverIsToldThatAndTheOthersWaitOn() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.follower.expect("far", until: far, then: stage.endings.note("far"))
        try stage.follower.expect("over", until: MonotonicTime.now(), then: stage.endings.note("over"))
        #expect(eventually { !stage.endings.of("over").isEmpty })
        #expect(stage.endings.of("over").map(\.reason) == [.timeOver])
        #expect(stage.endings.states("over") == [nil])
        #expect(stage.follower.waiterCount == 1)
        try stage.write(["sent1"], of: "over")
        try stage.write(["sent1"], of: "far")
        #expect(eventually { !stage.endings.of("far").isEmpty })
        #expect(stage.endings.of("far").map(\.reason) == [.complete])
        #expect(eventually { stage.follower.waiterCount == 0 })
        #expect(stage.endings.count == 2)
    }

    @Test(arguments: [["sameID", "sent1"], ["sent1", "sameID"]])
    func ofTwoFinalResultsTheOneThatIsNoRepetitionCounts(words: [String]) throws {
        let stage = try Stage { $0.patience = farDeadline }
        defer { stage.close() }
        try stage.follower.expect("a", until: far, then: stage.endings.note("a"))
        try stage.write(words, of: "a")
        #expect(eventually { !stage.endings.of("a").isEmpty })
        #expect(stage.endings.of("a").map(\.reason) == [.complete])
        #expect(stage.endings.states("a") == ["sent"])
    }

    @Test(arguments: ["sameID", "sameKey"]) func aRepetitionAloneIsToldWhenPatienceIsOver(word: String) throws {
        // Where nothing of the same id was sent, nobody has to be patient.
        let stage = try Stage { $0.patience = word == "sameID" ? .zero : farDeadline }
        defer { stage.close() }
        try stage.follower.expect("a", until: far, then: stage.endings.note("a"))
        try stage.write([word], of: "a")
        #expect(eventually { !stage.endings.of("a").isEmpty })
        #expect(stage.endings.of("a").map(\.reason) == [.complete])
        #expect(stage.endings.states("a") == ["duplicate"])
    }

    @Test func outcomesAreAwaitedWhereTheyAreWanted() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.follower.expect("a", awaiting: Awaited(.outcomes), until: far, then: stage.endings.note("a"))
        try stage.follower.expect("a", until: far, then: stage.endings.note("final"))
        try stage.write(["sent2", "outcome1"], of: "a")
        #expect(eventually { !stage.endings.of("final").isEmpty })
        #expect(stage.endings.of("a").isEmpty)
        try stage.write(["outcome0"], of: "a")
        #expect(eventually { !stage.endings.of("a").isEmpty })
        #expect(stage.endings.of("a").first?.awaited.outcomes.count == 2)
    }

    @Test func recordsThatAreNoResultOfTheirKeyArePassedOver() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.follower.expect("a", until: far, then: stage.endings.note("a"))
        for value in ["", "nonsense", "{}", "[7]", #"{"request_id":7}"#, Results.json("failed", of: "b")] {
            try stage.write(value, key: "a")
        }
        try stage.producer.produce(to: stage.topic, key: Array("a".utf8).span, value: nil)
        try stage.producer.produce(to: stage.topic, key: nil, value: Array(Results.json("failed", of: "a").utf8).span)
        try stage.write(Results.json("failed", of: "a"), key: "\u{FFFD}a")
        try stage.write(["sent1"], of: "a")
        #expect(eventually { !stage.endings.of("a").isEmpty })
        #expect(stage.endings.states("a") == ["sent"])
    }

    @Test func aBrokerThatGoesAndComesBackLosesNothing() throws {
        let stage = try Stage()
        defer { stage.close() }
        for id in ["before", "between", "after"] { try stage.follower.expect(id, until: far, then: stage.endings.note(id)) }
        try stage.write(["sent1"], of: "before")
        #expect(eventually { !stage.endings.of("before").isEmpty })
        stage.cluster.setBroker(1, isUp: false)
        #expect(eventually { stage.follower.problem != nil })
        #expect(stage.follower.isReading)
        try stage.write(Results.json("sent1", of: "between"), key: "between")
        stage.cluster.setBroker(1, isUp: true)
        try stage.write(["sent1"], of: "after")
        #expect(eventually { stage.endings.count == 3 })
        #expect(stage.endings.of("between").map(\.reason) == [.complete])
        #expect(eventually { stage.follower.problem == nil })
    }

    @Test func anotherClientGoesOnWithoutAGap() throws {
        let stage = try Stage()
        defer { stage.close() }
        let ids = (0..<300).map { "request-\($0)" }
        for id in ids { try stage.follower.expect(id, until: far, then: stage.endings.note(id)) }
        for (number, id) in ids.enumerated() {
            if number % 100 == 50 { stage.follower.openAgain() }
            try stage.write(["sent1"], of: id)
        }
        #expect(eventually { stage.endings.idCount == ids.count })
        #expect(stage.endings.count == ids.count)
    }

    @Test func newPartitionsAreLookedForWhileResultsCome() throws {
        let stage = try Stage { $0.refreshInterval = .zero }
        defer { stage.close() }
        for number in 0..<10 {
            try stage.follower.expect("\(number)", until: far, then: stage.endings.note("\(number)"))
            try stage.write(["sent1"], of: "\(number)")
        }
        #expect(eventually { stage.endings.count == 10 })
    }

    @Test func whoIsToldMayWaitAgain() throws {
        let stage = try Stage()
        defer { stage.close() }
        let (follower, endings, until) = (stage.follower, stage.endings, far)
        try follower.expect("a", until: until) { ending in
            endings.note("a")(ending)
            _ = try? follower.expect("b", until: until, then: endings.note("b"))
        }
        try stage.write(["sent1"], of: "a")
        #expect(eventually { !endings.of("a").isEmpty && follower.waiterCount == 1 })
        try stage.write(["sent1"], of: "b")
        #expect(eventually { !endings.of("b").isEmpty })
    }

    @Test func onlySoManyMayWait() throws {
        let stage = try Stage { $0.maximumWaiterCount = 1 }
        defer { stage.close() }
        let ticket = try stage.follower.expect("a", until: far, then: stage.endings.note("a"))
        #expect(throws: ResultFollower.WaitRefusal.full) {
            try stage.follower.expect("b", until: far, then: stage.endings.note("b"))
        }
        stage.follower.forget(ticket)
        try stage.follower.expect("c", until: far, then: stage.endings.note("c"))
        try stage.write(["sent1"], of: "a")
        try stage.write(["sent1"], of: "c")
        #expect(eventually { !stage.endings.of("c").isEmpty })
        #expect(stage.endings.of("a").isEmpty && stage.endings.of("b").isEmpty)
    }

    @Test func closingTellsAllThatWait() throws {
        let stage = try Stage()
        let ids = (0..<100).map { "request-\($0)" }
        for id in ids { try stage.follower.expect(id, until: far, then: stage.endings.note(id)) }
        stage.close()
        #expect(ids.allSatisfy { stage.endings.of($0).map(\.reason) == [.closed] })
        stage.follower.close()
        #expect(stage.endings.count == 100)
        #expect(stage.follower.waiterCount == 0)
        #expect(throws: ResultFollower.WaitRefusal.closed) {
            try stage.follower.expect("late", until: far, then: stage.endings.note("late"))
        }
        #expect(stage.endings.of("late").isEmpty)
    }

    @Test func nobodyMayWaitBeforeResultsAreRead() throws {
        var configuration = ResultFollower.Configuration(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topic: "r")
        configuration.openTimeout = .milliseconds(300)
        let follower = ResultFollower(configuration)
        defer { follower.close() }
        let error = #expect(throws: KafkaError.self) { try follower.waitUntilReading() }
        #expect(error?.isUnreachable == true)
        #expect(follower.problem?.isUnreachable == true)
        #expect(!follower.isReading)
        let endings = Endings()
        #expect(throws: ResultFollower.WaitRefusal.notReading) {
            try follower.expect("a", until: .never, then: endings.note("a"))
        }
        follower.close()
        #expect(throws: KafkaError.self) { try follower.waitUntilReading() }
        #expect(endings.count == 0)
    }
}
