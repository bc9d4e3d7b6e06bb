import Delivery
import TestSupport
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
        #expect(size.failed(.timedOut, units: 60, bytes: 30_000_000) == .divide)
        #expect(size.byteLimit == CommitSize.firstLimit)
        #expect(size.failed(.timedOut, units: 2, bytes: 1_000_000) == .divide)
        #expect(size.byteLimit == 250_000)
        #expect(size.failed(.timedOut, units: 1, bytes: 500_000) == .again)
        #expect(size.failed(.timedOut, units: 9, bytes: 1000) == .again)
        #expect(size.byteLimit == CommitSize.leastLimit)
    }

    @Test(arguments: [0, 1, 1000])
    func whatSaysNothingOfTheBatchLeavesItAsItIs(units: Int) {
        var size = size()
        #expect(size.failed(.unrelated, units: units, bytes: 50_000_000) == .again)
        #expect(size == self.size())
    }

    /// A queue of units of which some are never taken, and the commits that `CommitSize` has made of it.
    private func search(_ count: Int, bad: Set<Int>, limit: Int = 4000) -> (taken: Set<Int>, replaced: [Int], commits: Int) {
        var size = size()
        var queue = Array(0..<count)
        // Whether others were taken since.
        var aside: [Int: Bool] = [:]
        var (taken, replaced, commits) = (Set<Int>(), [Int](), 0)
        var hasTaken = false
        while !queue.isEmpty && commits < limit {
            commits += 1
            let free = queue.filter { aside[$0] == nil }
            let ripe = queue.first { aside[$0] == true } ?? (free.isEmpty ? queue.first : nil)
            let batch = ripe.map { [$0] } ?? Array(free.prefix(size.unitLimit))
            if bad.isDisjoint(with: batch) {
                hasTaken = true
                size.committed(bytes: batch.count, in: 1)
                taken.formUnion(batch)
                queue.removeAll(where: batch.contains)
                aside = aside.filter { !taken.contains($0.key) }.mapValues { _ in true }
                continue
            }
            let isProven = batch.count == 1 && batch.first.flatMap { aside[$0] } == true
            if size.unitLimit == .max { hasTaken = false }
            switch size.failed(.refused, units: batch.count, bytes: batch.count, isProven: isProven) {
            case .divide, .again: break
            case .setAside: for unit in batch { aside[unit] = aside[unit] ?? hasTaken }
            case .replace:
                replaced += batch
                for unit in batch { aside[unit] = nil }
                queue.removeAll(where: batch.contains)
            }
        }
        return (taken, replaced, commits)
    }

    @Test(arguments: [(2, [0]), (2, [1]), (1000, [500]), (1000, [0, 999]), (1000, Array(100..<126)), (16_384, [7, 8, 9])])
    func whatIsNeverTakenIsFoundAndNothingElseIs(count: Int, bad: [Int]) {
        let (taken, replaced, commits) = search(count, bad: Set(bad))
        #expect(replaced.sorted() == bad)
        #expect(taken == Set(0..<count).subtracting(bad))
        #expect(commits < 40 + 20 * bad.count)
    }

    @Test(arguments: [1, 2, 30])
    func whereNothingIsTakenNothingIsReplaced(count: Int) {
        let (taken, replaced, _) = search(count, bad: Set(0..<count), limit: 500)
        #expect(taken.isEmpty)
        #expect(replaced.isEmpty)
    }

    @Test(arguments: 0..<20)
    func anySearchEnds(seed: Int) {
        var random = SeededRandom(seed)
        let count = 2 + random.below(2000)
        let bad = Set((0..<random.below(20)).map { _ in random.below(count) })
        guard bad.count < count else { return }
        let (taken, replaced, commits) = search(count, bad: bad)
        #expect(Set(replaced) == bad)
        #expect(taken.count + replaced.count == count)
        #expect(commits < 100 + 30 * bad.count)
    }
}
