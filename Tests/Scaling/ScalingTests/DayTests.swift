import ScaleModel
import Testing

/// Simulated days and what is said of them.
@Suite struct DayTests {
    @Test func aDayIsTheSameFromTheSameSeed() throws {
        let scenario = try #require(Scenario.all.first)
        let rule = ScalingRule.byRecords(2...12)
        #expect(Day(scenario, rule: rule, seed: 3).steps.map(\.at) == Day(scenario, rule: rule, seed: 3).steps.map(\.at))
        #expect(Day(scenario, rule: rule, seed: 3).steps.map(\.at) != Day(scenario, rule: rule, seed: 4).steps.map(\.at))
    }

    @Test func physicsIsWhatTheMostWorkersCannotShorten() throws {
        let days = Scenario.all.map { Day($0, rule: .fixed(12), seed: 1) }
        let waits = Dictionary(uniqueKeysWithValues: days.map { ($0.scenario.name, $0.longestWait) })
        #expect(try #require(waits["ordinary day"]) < 1)
        #expect((2400..<2500).contains(try #require(waits["outage"])), "the outage itself")
        #expect(days.allSatisfy { $0.turns == 0 && $0.futileGrowth == 0 && $0.most == 12 })
    }

    @Test func tooFewWorkersAreFound() throws {
        let scenario = try #require(Scenario.all.first)
        let few = ScalingRule.fixed(2)
        let complaints = Verdict(
            Day(scenario, rule: few, seed: 1), rule: few, physics: Day(scenario, rule: .fixed(12), seed: 1)
        ).complaints
        #expect(complaints.count == 2, "\(complaints)")
    }
}
