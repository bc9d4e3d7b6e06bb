import Basics
import Delivery
import TestSupport
import Testing

/// How it is found which result of a batch brokers reject, and in how many commits.
struct RefusalSearchTests {
    /// Lets brokers reject some results for ever, until each has its result or a dead letter.
    private func search(_ count: Int, bad: Set<Int64>) -> CommitDesk {
        var desk = CommitDesk(patience: 0)
        desk.waiting = (0..<Int64(count)).map { CommitDesk.unit($0, bytes: 10) }
        for _ in 0..<4000 where desk.taken.count < count {
            desk.now += 250 * CommitDesk.millisecond
            desk.turn()
            guard let batch = desk.offered else { continue }
            let isRejected = batch.contains { bad.contains($0.id.offset) && $0.topics == [.results] }
            if isRejected { desk.fail(.refused) } else { desk.confirm() }
        }
        return desk
    }

    @Test(
        arguments: [(2, [0]), (2, [1]), (1000, [500]), (1000, [0, 999]), (1000, Array(100..<126)), (4000, [7, 8, 9])]
            as [(Int, [Int64])])
    func whatIsNeverTakenIsFoundAndNothingElseIs(count: Int, bad: [Int64]) {
        let desk = search(count, bad: Set(bad))
        #expect(desk.letters.map(\.offset).sorted() == bad)
        #expect(desk.taken.count == count && Set(desk.taken.map(\.offset)) == Set(0..<Int64(count)))
        #expect(desk.offerCount < 40 + 20 * bad.count, "\(desk.offerCount)")
    }

    @Test(arguments: 0..<20)
    func anySearchEnds(seed: Int) {
        var random = SeededRandom(seed)
        let count = 2 + random.below(1000)
        let bad = Set((0..<random.below(20)).map { _ in Int64(random.below(count)) })
        guard bad.count < count else { return }
        let desk = search(count, bad: bad)
        #expect(Set(desk.letters.map(\.offset)) == bad)
        #expect(desk.taken.count == count)
        #expect(desk.offerCount < 100 + 30 * bad.count, "\(desk.offerCount)")
    }

    /// Half of those that may be at fault are offered, so that each commit tells as much as it can: 1,024 are ten halves.
    @Test(arguments: [0, 1, 511, 512, 1000, 1023] as [Int64])
    func oneOfAThousandIsFoundInTwelveCommits(bad: Int64) {
        var desk = CommitDesk()
        desk.waiting = (0..<1024).map { CommitDesk.unit($0, bytes: 10) }
        var isAlone = false
        for _ in 0..<200 where !isAlone {
            desk.now += 250 * CommitDesk.millisecond
            desk.turn()
            guard let batch = desk.offered else { continue }
            guard batch.contains(where: { $0.id.offset == bad }) else {
                desk.confirm()
                continue
            }
            isAlone = batch.count == 1
            desk.fail(.refused)
        }
        #expect(isAlone)
        #expect(desk.offerCount <= 12, "\(desk.offerCount)")
    }

    /// What rejected one may reject them all, so the next are not searched as a whole.
    @Test func whereATopicTakesNothingEightAreFoundInFewCommits() {
        var desk = CommitDesk()
        desk.waiting = (0..<64).map { CommitDesk.unit($0, bytes: 10) }
        for _ in 0..<200 where !desk.cycle.isOverdue(now: .at(desk.now)) {
            desk.now += 250 * CommitDesk.millisecond
            desk.turn()
            if desk.offered != nil { desk.fail(.refused) }
        }
        #expect(desk.cycle.isOverdue(now: .at(desk.now)), "eight were rejected and none was taken")
        #expect(desk.offerCount <= 20, "\(desk.offerCount)")
    }

    @Test func afterASearchCommitsGrowUntilTheyHoldAllAgain() {
        var desk = search(64, bad: [0])
        var counts: [Int] = []
        for round in 1...12 {
            desk.waiting = (0..<8000).map { CommitDesk.unit(Int64(round) * 8000 + $0, bytes: 10) }
            desk.now += CommitDesk.second
            desk.turn()
            counts.append(desk.offered?.count ?? 0)
            desk.confirm()
        }
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 <= $1 }, "\(counts)")
        #expect(counts.last == 8000, "\(counts)")
    }
}
