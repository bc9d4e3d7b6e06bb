import PushModel
import TestSupport
import Testing

@testable import Delivery

/// The slots that have something to do, beside a table of all of them.
@Suite struct SlotTurnsTests {
    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    @Test func slotsHaveTurnsInTheOrderInWhichTheyCame() {
        var turns = SlotTurns(count: 4)
        #expect(turns.nextMoment == nil && turns.next(now: at(0)) == nil)
        for slot in [2, 0, 2] { turns.list(slot, at: .past) }
        turns.list(3, at: at(50))
        turns.list(1, at: nil)
        #expect(turns.nextMoment == .past)
        #expect(turns.next(now: at(49)) == 2)
        turns.list(2, at: .past)
        #expect(turns.next(now: at(50)) == 0)
        #expect(turns.next(now: at(50)) == 2)
        #expect(turns.next(now: at(50)) == 3)
        #expect(turns.next(now: at(50)) == nil && turns.nextMoment == nil)
    }

    @Test(arguments: 0..<20) func noSlotIsForgottenHoweverItsMomentsChange(seed: Int) {
        var random = SeededRandom(seed)
        var turns = SlotTurns(count: 8)
        var due: [Int: Int64] = [:]
        var now: Int64 = 0
        for _ in 0..<5000 {
            let slot = random.below(8)
            if random.below(3) > 0 {
                let moment = random.below(4) == 0 ? 0 : now + Int64(random.below(100))
                turns.list(slot, at: moment == 0 ? .past : at(moment))
                due[slot] = min(due[slot] ?? .max, moment)
            } else {
                now += Int64(random.below(20))
                while let found = turns.next(now: at(now)) { if due[found] ?? .max <= now { due[found] = nil } }
                #expect(due.values.allSatisfy { $0 > now })
            }
            guard let first = due.values.min() else { continue }
            #expect((turns.nextMoment ?? .never) <= (first == 0 ? .past : at(first)), "it is known when one has its turn")
        }
    }

    /// A far moment is listed again each time that a near one has passed.
    @Test func aMomentThatIsListedAgainAndAgainTakesNoMoreMemory() {
        var turns = SlotTurns(count: 2)
        for moment in Int64(1)...1000 {
            turns.list(0, at: at(1_000_000))
            turns.list(0, at: at(moment))
            #expect(turns.next(now: at(moment)) == 0)
        }
        turns.list(0, at: at(1_000_000))
        var turnCount = 0
        while turns.next(now: at(1_000_000)) != nil { turnCount += 1 }
        #expect(turnCount == 1 && turns.waitingCount == 0)
        for _ in 0..<1000 {
            turns.list(1, at: at(2_000_000))
            turns.list(1, at: .past)
            _ = turns.next(now: .past)
        }
        #expect(turns.waitingCount <= 65)
    }

    @Test(arguments: 0..<20) func aSetHasWhatWasPutIntoIt(seed: Int) {
        var random = SeededRandom(seed)
        var (numbers, model) = (NumberSet(), Set<Int>())
        for _ in 0..<2000 {
            let (number, isMember) = (random.below(30), random.below(2) == 0)
            numbers.set(number, isMember: isMember)
            if isMember { model.insert(number) } else { model.remove(number) }
            #expect(numbers.members.count == model.count && Set(numbers.members) == model)
        }
    }
}
