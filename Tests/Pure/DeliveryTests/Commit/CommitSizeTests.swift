import Delivery
import Testing

struct CommitSizeTests {
    private static let second: Int64 = 1_000_000_000

    private func size(timeout: Int64 = 60) -> CommitSize { CommitSize(transactionTimeout: timeout * Self.second) }

    /// Commits at a pace of brokers until the limit stays.
    private func settled(latency: Int64, bytesPerSecond: Int64, timeout: Int64 = 60) -> (size: CommitSize, longest: Int64) {
        var size = size(timeout: timeout)
        var longest: Int64 = 0
        for round in 0..<40 {
            let bytes = size.byteLimit
            let duration = latency + Int64(bytes) * Self.second / bytesPerSecond
            if round >= 10 { longest = max(longest, duration) }
            size.committed(bytes: bytes, in: duration)
        }
        return (size, longest)
    }

    @Test(
        arguments: [(1_000_000, 500_000_000), (50_000, 10_000_000), (20_000_000, 5_000_000), (1_000_000_000, 1_000_000)]
            as [(Int64, Int64)])
    func commitsTakeAboutTwoSecondsOfWhateverBrokersManage(bytesPerSecond: Int64, latency: Int64) {
        let (size, longest) = settled(latency: latency, bytesPerSecond: bytesPerSecond)
        #expect(longest <= 2 * size.target + latency)
        #expect((CommitSize.leastLimit...CommitSize.greatestLimit).contains(size.byteLimit))
        if bytesPerSecond >= 1_000_000_000 { #expect(size.byteLimit == CommitSize.greatestLimit) }
    }

    @Test(arguments: [1, 4, 10, 60, 900] as [Int64])
    func theTargetFitsIntoATransaction(timeout: Int64) {
        #expect(size(timeout: timeout).target * 4 <= timeout * Self.second)
        #expect(size(timeout: timeout).target <= 2 * Self.second)
    }

    @Test func smallCommitsSayNothingOfLargeOnes() {
        var size = size()
        for _ in 0..<100 { size.committed(bytes: 1000, in: 3_000_000) }
        #expect(size.byteLimit == CommitSize.firstLimit)
    }

    /// A commit is some four answers of the brokers.
    @Test(
        arguments: [(2400, 1000), (2400, 300_000), (2400, 700_000), (2400, Int.max), (3600, Int.max), (2400, 1), (6000, 5000)]
            as [(Int64, Int)])
    func slowAnswersShrinkNoCommit(milliseconds: Int64, bytes: Int) {
        var size = size(timeout: 15)
        for round in 0..<40 {
            // All of a size, or some small ones between.
            let held = bytes == 1 ? (round % 3 == 0 ? size.byteLimit : 1200) : min(bytes, size.byteLimit)
            size.committed(bytes: held, in: (milliseconds + Int64(round % 7) * 20) * 1_000_000 + Int64(held) * 10)
            #expect(size.byteLimit >= CommitSize.firstLimit, "round \(round)")
        }
    }

    @Test func whatSlowAnswersCostTellsNothingOfTheBytesWhenTheyAreFastAgain() {
        var size = size(timeout: 15)
        for _ in 0..<20 { size.committed(bytes: size.byteLimit, in: 2_400_000_000 + Int64(size.byteLimit) * 10) }
        for _ in 0..<20 { size.committed(bytes: size.byteLimit, in: 5_000_000 + Int64(size.byteLimit) * 10) }
        #expect(size.byteLimit == CommitSize.greatestLimit)
        // And bytes that become slow are noticed.
        for _ in 0..<20 { size.committed(bytes: size.byteLimit, in: 5_000_000 + Int64(size.byteLimit) * 10_000) }
        #expect(size.byteLimit < 500_000)
    }

    /// Where each answer takes long, bytes may take as long as the answers, and no longer than leaves room in a transaction.
    @Test(arguments: [(1_000_000, 2400), (100_000, 2400), (1_000_000, 6000)] as [(Int64, Int64)])
    func withSlowAnswersAndSlowBytesACommitStillFits(bytesPerSecond: Int64, milliseconds: Int64) {
        let (size, longest) = settled(latency: milliseconds * 1_000_000, bytesPerSecond: bytesPerSecond, timeout: 15)
        #expect(longest <= 7_600_000_000, "\(longest)")
        #expect(Int64(size.byteLimit) >= bytesPerSecond * 4 / 5)
    }

    @Test func afterATimeOutABatchIsDividedUntilItIsSmall() {
        var size = size()
        #expect(size.noteFailure(.timedOut, units: 60, bytes: 30_000_000) == .divide)
        #expect(size.byteLimit == CommitSize.firstLimit)
        #expect(size.noteFailure(.timedOut, units: 2, bytes: 1_000_000) == .divide)
        #expect(size.byteLimit == 250_000)
        #expect(size.noteFailure(.timedOut, units: 1, bytes: 500_000) == .again)
        #expect(size.noteFailure(.timedOut, units: 9, bytes: 1000) == .again)
        #expect(size.byteLimit == CommitSize.leastLimit)
    }

    @Test(arguments: [0, 1, 1000])
    func whatSaysNothingOfTheBatchLeavesItAsItIs(units: Int) {
        var size = size()
        #expect(size.noteFailure(.unrelated, units: units, bytes: 50_000_000) == .again)
        #expect(size == self.size())
    }

    @Test(
        arguments: [(0, false, .again), (1, false, .postpone), (1, true, .replace), (2, true, .divide), (1000, false, .divide)]
            as [(Int, Bool, CommitSize.Cure)])
    func whatIsRefusedIsDividedUntilOneUnitIsLeft(units: Int, isProven: Bool, cure: CommitSize.Cure) {
        var size = size()
        #expect(size.noteFailure(.refused, units: units, bytes: 50_000_000, isProven: isProven) == cure)
        #expect(size == self.size(), "its bytes are not at fault")
    }
}
