import Testing

@testable import Bench

@Suite struct AdviceTests {
    @Test func thereAreThreeAndTheBestComesFirst() {
        let advice = Figures().advice
        #expect(advice.count == 3)
        #expect(advice.map(\.gain) == advice.map(\.gain).sorted(by: >))
    }

    @Test func aFullLimitOfAnIdleWorkerIsTheFirstThingToRaise() {
        var figures = Figures()
        figures.backlog.inFlightFullShare = 0.9
        figures.backlog.processorShare = 0.3
        #expect(figures.advice.first?.setting == "worker.max_in_flight=128")
    }

    @Test func aFullLimitOfABusyWorkerIsNoReasonToRaiseIt() {
        var figures = Figures()
        figures.backlog.inFlightFullShare = 0.9
        figures.backlog.processorShare = 1
        #expect(figures.advice.first?.setting.hasPrefix("worker.max_in_flight") == false)
    }

    @Test func theLimitIsNotRaisedBeyondWhatIsAllowed() {
        var figures = Figures()
        figures.backlog.inFlightFullShare = 1
        figures.backlog.processorShare = 0.1
        figures.setting.maxInFlight = 3000
        #expect(figures.advice.contains { $0.setting == "worker.max_in_flight=4096" })
        figures.setting.maxInFlight = 4096
        #expect(!figures.advice.contains { $0.setting.hasPrefix("worker.max_in_flight") })
    }

    @Test func aFullCoreAsksForAnotherWorker() {
        var figures = Figures()
        figures.backlog.processorShare = 1.1
        #expect(figures.advice.first?.setting.hasPrefix("a second worker") == true)
    }

    @Test func aFullCoreWithFewPartitionsAsksForMoreOfThem() {
        var figures = Figures()
        figures.backlog.processorShare = 1.1
        figures.setting.partitions = 2
        #expect(figures.advice.first?.setting.hasPrefix("partitions") == true)
    }

    @Test func aLineForEveryRequestIsNamedWithItsPrice() throws {
        var figures = Figures()
        figures.setting.logLevel = "info"
        figures.backlog.loggedBytesPerRequest = 220
        let advice = try #require(figures.advice.first { $0.setting == "log.requests=failures" })
        #expect(advice.gain == 5.0 / 25)
        #expect(advice.reason.contains("220 bytes"))
    }

    @Test func aQuietLogIsNotNamed() {
        #expect(!Figures().advice.contains { $0.setting == "log.requests=failures" })
    }

    @Test func resultsThatWaitForTheirCommitAskForQuickerOnes() throws {
        var figures = Figures()
        figures.latency.publishToResult = Spread([22, 22, 22])
        let advice = try #require(figures.advice.first)
        #expect(advice.setting == "worker.commit_interval=10ms")
        #expect(advice.gain == 10.0 / 22)
    }

    /// The commits of a flood are further apart than the setting says.
    @Test(arguments: [(3900.0, "90ms"), (20_000, "360ms")])
    func transactionsThatFillACoreAskForFewerOfThem(requestsPerSecond: Double, proposed: String) throws {
        var figures = Figures()
        figures.setting.guarantee = "exactly_once"
        figures.stages.append(
            StageFigure(name: "transaction", part: .rare, what: "", microseconds: 6000, systemMicroseconds: 0))
        figures.latency.publishToResult = Spread([5, 5, 5])
        figures.backlog.processorShare = 0.05
        figures.backlog.requestsPerSecond = requestsPerSecond
        let advice = try #require(figures.advice.first { $0.setting.hasPrefix("worker.commit_interval") })
        #expect(advice.setting == "worker.commit_interval=\(proposed)")
        figures.setting.guarantee = "at_least_once"
        #expect(figures.advice.first { $0.setting.hasPrefix("worker.commit_interval") }?.setting != advice.setting)
    }

    @Test func fewerConnectionsThanCallsAreNamed() {
        var figures = Figures()
        figures.setting.maxConnections = 8
        figures.backlog.inFlightFullShare = 1
        #expect(figures.advice.contains { $0.setting == "hub.max_connections=0" })
    }

    @Test func noGainIsNegativeOrUnbounded() {
        var figures = Figures()
        for share in [0, 0.01, 0.5, 1, 4] {
            figures.backlog.processorShare = share
            figures.backlog.inFlightFullShare = 1
            #expect(figures.advice.count == 3 && figures.advice.allSatisfy { (0...1).contains($0.gain) })
        }
    }
}
