import Testing

@testable import Bench

@Suite struct SizingTests {
    private static let large = Demand(
        requestsPerSecond: 200_000, peakPerSecond: 500_000, hubMilliseconds: 100, users: 1e8, platforms: 3, cores: 4)
    private static let small = Demand(requestsPerSecond: 2000, peakPerSecond: 20_000, hubMilliseconds: 60, users: 1e6)

    private func close(_ value: Double, to other: Double) -> Bool { abs(value - other) <= abs(other) * 1e-9 }

    @Test func callsInFlightAreRateTimesLatencyAtThePeakWithRetries() {
        let sizing = Sizing(Self.small, cost: .recorded)
        #expect(close(sizing.callsPerSecond, to: 21_000))
        #expect(close(sizing.callsInFlight, to: 1260))
    }

    /// The loops, loops of a worker, workers, calls in flight of a loop, memory of a loop and of a worker, and partitions for a demand.
    private static let fleets: [(Demand, [Int])] = [
        (small, [1, 1, 2, 2112, 256, 610, 12]),
        (large, [65, 4, 18, 4096, 256, 3112, 288]),
        (Demand(requestsPerSecond: 10, peakPerSecond: 30), [1, 1, 2, 64, 256, 405, 12]),
    ]

    @Test(arguments: fleets)
    func aFleetCarriesThePeakWithoutOneOfItsWorkers(demand: Demand, figures: [Int]) {
        let sizing = Sizing(demand, cost: .recorded)
        #expect(
            figures == [
                sizing.loops, sizing.loopsOfWorker, sizing.workers, sizing.maxInFlight, sizing.loopMemory, sizing.workerMemory,
                sizing.partitions,
            ])
        let left = Double((sizing.workers - 1) * sizing.loopsOfWorker * sizing.maxInFlight)
        #expect(left * demand.utilisation >= sizing.callsInFlight)
    }

    @Test func aDearCallNeedsMoreLoops() {
        let sizing = Sizing(Self.small, cost: CallCost(microseconds: 120, origin: "a test"))
        #expect(sizing.loops == 5)
        #expect(sizing.workers == 6)
        #expect(sizing.maxInFlight == 448)
        #expect(sizing.partitions == 24)
    }

    @Test func largeRecordsNeedMoreMemory() {
        var demand = Self.small
        demand.payloadBytes = 262_144
        #expect(Sizing(demand, cost: .recorded).loopMemory == 4288)
    }

    @Test(arguments: [(1, 50_000.0, 3125.0), (3, 150_000, 10_000), (8, 400_000, 25_000)])
    func aLargeRequestHasTwentyUsersInACallAndSixteenCallsInAPart(platforms: Int, calls: Double, parts: Double) throws {
        var demand = Self.small
        demand.platforms = platforms
        let largeRequest = try #require(Sizing(demand, cost: .recorded).largeRequest)
        #expect(largeRequest.calls == calls)
        #expect(largeRequest.parts == parts)
        #expect(close(largeRequest.milliseconds, to: 50_000 / 21))
    }

    @Test func withoutUsersThereIsNoBroadcast() {
        var demand = Self.small
        demand.users = 0
        #expect(Sizing(demand, cost: .recorded).largeRequest == nil)
        #expect(!SizeReport(Sizing(demand, cost: .recorded)).figures.contains { $0.name == "large request" })
    }

    /// Topics with their partitions and bytes.
    private static let known: [(String, Int, Double)] = [
        ("push.requests.v1", 12, 3_715_891_200_000), ("push.results.v1", 12, 9_072_164_062_500),
        ("push.requests-own.v1", 12, 571_200_000), ("push.delay-10s.v1", 12, 185_794_560_000),
        ("push.shares.v1", 1, 201_326_592), ("push.history.v1", 1, 1_610_612_736),
    ]

    @Test(arguments: known)
    func aTopicTakesWhatComesADayForItsDaysOnAllReplicas(topic: String, partitions: Int, bytes: Double) throws {
        let size = try #require(TopicSize.all(Sizing(Self.small, cost: .recorded)).first { $0.topic == topic })
        #expect(size.partitions == partitions)
        let known = try #require(size.bytes)
        #expect(close(known, to: bytes))
    }

    @Test func aRetentionOfOnesOwnCountsForRequestsAndResults() throws {
        var demand = Self.small
        (demand.retentionDays, demand.replication) = (1, 1)
        let topics = TopicSize.all(Sizing(demand, cost: .recorded))
        for (topic, bytes) in [("push.requests.v1", 172_800_000.0 * 1024), ("push.results.v1", 172_803_125.0 * 1250)] {
            let known = try #require(topics.first { $0.topic == topic }?.bytes)
            #expect(close(known, to: bytes), "\(topic)")
        }
    }

    @Test(arguments: ["push.held.v1", "push.parents.v1", "push.deadletter.v1", "push.control.v1", "push.requests-high.v1"])
    func aSizeThatNobodyKnowsIsAbsent(topic: String) throws {
        let size = try #require(TopicSize.all(Sizing(Self.small, cost: .recorded)).first { $0.topic == topic })
        #expect(size.bytes == nil)
        #expect(!size.because.isEmpty)
    }

    @Test func heldRequestsHaveThreePartitionsForEachOfRequests() {
        let topics = TopicSize.all(Sizing(Self.large, cost: .recorded))
        #expect(topics.first { $0.topic == "push.requests.v1" }?.partitions == 288)
        #expect(topics.first { $0.topic == "push.held.v1" }?.partitions == 864)
        #expect(topics.first { $0.topic == "push.status.v1" }?.partitions == 1)
    }

    /// Values that no flag lets in.
    private static let hostile: [Double] = [0, -1, 1e308, -1e308, .nan, .infinity, -.infinity, .leastNonzeroMagnitude]

    @Test(arguments: hostile, [0, -1, 1, .max, .min])
    func nothingTraps(value: Double, count: Int) {
        for other in Self.hostile {
            let demand = Demand(
                requestsPerSecond: value, peakPerSecond: other, hubMilliseconds: value, users: other, largeRequestsPerDay: value,
                platforms: count, retries: other, payloadBytes: value, retentionDays: other, replication: count,
                utilisation: other, cores: count)
            let report = SizeReport(Sizing(demand, cost: CallCost(microseconds: value, origin: "a test")))
            #expect(report.figures.allSatisfy { !$0.text.isEmpty && !$0.because.isEmpty })
        }
    }

    @Test(arguments: [
        (0.0, "0"), (0.0042, "0.0042"), (0.42, "0.42"), (1.05, "1.05"), (60, "60"), (99.96, "100"), (1260, "1,260"),
        (172_800_000, "172,800,000"), (-20_000, "-20,000"), (1e20, "1e+20"),
    ])
    func numbersAreGrouped(number: Double, text: String) {
        #expect(SizeText.number(number) == text)
    }

    @Test(arguments: [
        (0.0, "0 B"), (999, "999 B"), (999.6, "1 kB"), (3_715_891_200_000, "3.72 TB"), (571_200_000, "571 MB"),
        (1e25, "10,000,000 EB"),
    ])
    func bytesHaveThreeDigits(count: Double, text: String) {
        #expect(SizeText.bytes(count) == text)
    }

    @Test(arguments: [(0.1, "0.1 ms"), (60.0, "60 ms"), (2381, "2.38 s"), (90_000, "1.5 min"), (7_200_000, "2 h")])
    func timesHaveTheirUnit(milliseconds: Double, text: String) {
        #expect(SizeText.time(milliseconds: milliseconds) == text)
    }
}
