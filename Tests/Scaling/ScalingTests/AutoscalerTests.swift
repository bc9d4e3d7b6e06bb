import ScaleModel
import Testing

/// Decisions of the autoscaler of Kubernetes.
@Suite struct AutoscalerTests {
    private static func rule(
        growth: ScalingRule.Behaviour = .init(window: 0, policies: []),
        shrinking: ScalingRule.Behaviour = .init(window: 0, policies: []),
        triggers: [ScalingRule.Trigger] = [.init(.oldestWaiting, target: 20, isForEach: false)]
    ) -> ScalingRule {
        ScalingRule(replicas: 2...12, triggers: triggers, growth: growth, shrinking: shrinking)
    }

    @Test(arguments: [(20, 4), (21, 4), (19, 4), (23, 5), (17, 4), (40, 8), (0, 2), (900, 12)])
    func aValueCountsAsAShareOfItsTargetBeyondTheTolerance(_ value: Int, _ expected: Int) {
        var autoscaler = Autoscaler(Self.rule())
        #expect(autoscaler.decide([Double(value)], current: 4, ready: 4, at: 0) == expected)
    }

    @Test func onlyReadyWorkersAreMultiplied() {
        var autoscaler = Autoscaler(Self.rule())
        #expect(autoscaler.decide([60], current: 8, ready: 3, at: 0) == 9)
        #expect(autoscaler.decide([20], current: 8, ready: 0, at: 15) == 8, "within the tolerance nobody is counted")
    }

    @Test func aTargetForEachIsTheCountItself() {
        var autoscaler = Autoscaler(Self.rule(triggers: [.init(.callsInFlight, target: 38, isForEach: true)]))
        #expect(autoscaler.decide([300], current: 4, ready: 1, at: 0) == 8)
        #expect(autoscaler.decide([300], current: 8, ready: 8, at: 15) == 8)
    }

    @Test func theLargestWishWinsAndASilentTriggerShrinksNothing() {
        let triggers: [ScalingRule.Trigger] = [
            .init(.oldestWaiting, target: 20, isForEach: false), .init(.callsInFlight, target: 38, isForEach: true),
        ]
        var autoscaler = Autoscaler(Self.rule(triggers: triggers))
        #expect(autoscaler.decide([0, 200], current: 4, ready: 4, at: 0) == 6)
        #expect(autoscaler.decide([nil, 10], current: 6, ready: 6, at: 15) == 6)
        #expect(autoscaler.decide([nil, 380], current: 6, ready: 6, at: 30) == 10)
    }

    @Test func growthTakesTheSmallestWishOfItsWindowAndShrinkingTheLargest() {
        var autoscaler = Autoscaler(
            Self.rule(growth: .init(window: 30, policies: []), shrinking: .init(window: 60, policies: [])))
        #expect(autoscaler.decide([20], current: 4, ready: 4, at: 0) == 4)
        #expect(autoscaler.decide([40], current: 4, ready: 4, at: 15) == 4, "a moment is no backlog")
        #expect(autoscaler.decide([40], current: 4, ready: 4, at: 30) == 8)
        #expect(autoscaler.decide([0], current: 8, ready: 8, at: 45) == 8)
        #expect(autoscaler.decide([0], current: 8, ready: 8, at: 75) == 8)
        #expect(autoscaler.decide([0], current: 8, ready: 8, at: 90) == 2)
    }

    @Test func policiesCountFromTheBeginningOfTheirTime() {
        let growth = ScalingRule.Behaviour(
            window: 0, policies: [.init(4, isPercent: false, seconds: 60), .init(100, isPercent: true, seconds: 60)])
        let shrinking = ScalingRule.Behaviour(window: 0, policies: [.init(2, isPercent: false, seconds: 600)])
        var autoscaler = Autoscaler(Self.rule(growth: growth, shrinking: shrinking))
        #expect(autoscaler.decide([900], current: 2, ready: 2, at: 0) == 6)
        #expect(autoscaler.decide([900], current: 6, ready: 6, at: 15) == 6)
        #expect(autoscaler.decide([900], current: 6, ready: 6, at: 60) == 12)
        #expect(autoscaler.decide([0], current: 12, ready: 12, at: 700) == 10)
        #expect(autoscaler.decide([0], current: 10, ready: 10, at: 715) == 10)
        #expect(autoscaler.decide([0], current: 10, ready: 10, at: 1300) == 8)
    }
}
