import Publishing
import Testing

/// When all is known that one waits for.
@Suite struct AwaitedTests {
    private func standings(_ goal: Awaited.Goal, _ words: [String]) throws -> [Awaited.Standing] {
        var awaited = Awaited(goal)
        return try words.map { awaited.take(try Results.record($0, of: "a")) }
    }

    @Test(
        arguments: [
            ([], []), (["sent1"], [.complete]), (["failed"], [.complete]), (["sent1", "outcome0"], [.complete, .complete]),
            (["interim", "outcome0", "sent1"], [.incomplete, .incomplete, .complete]), (["strange"], [.complete]),
            (["sameKey"], [.complete]), (["sameID"], [.settling]), (["sameID", "sent1"], [.settling, .complete]),
            (["sent1", "sameID"], [.complete, .complete]), (["sameID", "sameID"], [.settling, .settling]),
        ] as [([String], [Awaited.Standing])])
    func theFinalResultIsKnown(words: [String], expected: [Awaited.Standing]) throws {
        #expect(try standings(.finalResult, words) == expected)
    }

    @Test(
        arguments: [
            (["sent0"], [.complete]), (["failed"], [.complete]), (["parts"], [.complete]), (["strange"], [.complete]),
            (["negative"], [.complete]), (["endless"], [.incomplete]),
            (["sent2", "outcome0", "outcome1"], [.incomplete, .incomplete, .complete]),
            (["outcome1", "sent2", "outcome0"], [.incomplete, .incomplete, .complete]),
            (["sent2", "outcome0", "outcome0", "outcome1"], [.incomplete, .incomplete, .incomplete, .complete]),
            (["sent1", "elsewhere0", "callless", "outcome0"], [.incomplete, .incomplete, .incomplete, .complete]),
            (["sameID", "sent1", "outcome0"], [.settling, .incomplete, .complete]), (["sameKey"], [.complete]),
            (["sent1", "sameID", "outcome0"], [.incomplete, .incomplete, .complete]),
            (["outcome0", "sameID", "sent1"], [.incomplete, .settling, .complete]),
        ] as [([String], [Awaited.Standing])])
    func theOutcomesOfAllCallsAreKnown(words: [String], expected: [Awaited.Standing]) throws {
        #expect(try standings(.outcomes, words) == expected)
    }

    @Test(
        arguments: [
            (["interim"], [.incomplete]), (["sent1"], [.complete]), (["outcome0"], [.complete]), (["sameID"], [.complete]),
        ] as [([String], [Awaited.Standing])])
    func anyResultIsNews(words: [String], expected: [Awaited.Standing]) throws {
        #expect(try standings(.nextResult, words) == expected)
    }

    @Test(arguments: [["sameID", "sent1"], ["sent1", "sameID"], ["sameID", "sent1", "failed"], ["sent1", "failed"]])
    func theResultThatIsNoRepetitionCounts(words: [String]) throws {
        var awaited = Awaited(.finalResult)
        for word in words { awaited.take(try Results.record(word, of: "a")) }
        #expect(awaited.finalResult?.state == "sent")
    }

    @Test func outcomesAreInTheOrderOfTheirCalls() throws {
        var awaited = Awaited(.outcomes)
        for word in ["outcome2", "elsewhere1", "outcome0", "sent3", "outcome1"] {
            awaited.take(try Results.record(word, of: "a"))
        }
        let expected = try (0..<3).map { try Results.record("outcome\($0)", of: "a").json }
        #expect(awaited.outcomes.map(\.json) == expected)
    }

    @Test func moreOutcomesThanAreKeptEndTheWait() throws {
        var awaited = Awaited(.outcomes)
        awaited.take(try Results.record("endless", of: "a"))
        for index in 0..<Awaited.maximumOutcomeCount + 10 {
            let expected: Awaited.Standing = index < Awaited.maximumOutcomeCount - 1 ? .incomplete : .complete
            let standing = awaited.take(try Results.record("outcome\(index)", of: "a"))
            #expect(standing == expected)
        }
        #expect(awaited.outcomes.count == Awaited.maximumOutcomeCount)
    }
}
