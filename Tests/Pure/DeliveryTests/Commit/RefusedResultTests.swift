import Basics
import Delivery
import TestSupport
import Testing

/// Results that brokers reject: they hold up no others, and are given up after minutes only.
struct RefusedResultTests {
    private static let second = CommitDesk.second

    @Test func aBatchIsHalvedBeforeADeadLetterIsCut() {
        var desk = CommitDesk()
        var letter = CommitDesk.unit(1, bytes: 400_000, [.deadLetters])
        letter.canBeCut = true
        desk.waiting = [letter, CommitDesk.unit(2, [.delay(1)])]
        desk.run(for: 10 * Self.second) { $0.id.offset == 2 ? .tooLarge : nil }
        #expect(desk.cut.isEmpty)
        #expect(desk.taken.map(\.offset) == [1])
    }

    @Test(arguments: [(.tooLarge, true), (.refused, false)] as [(CommitCycle.Cause, Bool)])
    func aDeadLetterIsCutWhenItIsRejectedAloneForItsSize(cause: CommitCycle.Cause, isCut: Bool) {
        var desk = CommitDesk()
        var letter = CommitDesk.unit(1, bytes: 400_000, [.deadLetters])
        letter.canBeCut = true
        desk.waiting = [letter, CommitDesk.unit(2)]
        desk.run(for: 10 * Self.second) { $0.id.offset == 1 && $0.canBeCut ? cause : nil }
        #expect(desk.cut.map(\.offset) == (isCut ? [1] : []))
        #expect(Set(desk.taken.map(\.offset)) == (isCut ? [1, 2] : [2]))
        #expect(desk.letters.isEmpty)
    }

    @Test func aRejectedResultIsGivenUpAfterMinutesWhileOthersGoOn() {
        var desk = CommitDesk()
        desk.waiting = [CommitDesk.unit(0)]
        var next: Int64 = 0
        func arrive(_ desk: inout CommitDesk) {
            next += 1
            desk.waiting.append(CommitDesk.unit(next))
        }
        desk.run(for: CommitCycle.refusalPatience - 5 * Self.second, arrive) { $0.id.offset == 0 ? .tooLarge : nil }
        #expect(desk.letters.isEmpty)
        #expect(desk.taken.count > 1100, "\(desk.taken.count) of \(next)")
        #expect(desk.offerCount - desk.taken.count < 40, "it is offered less and less often")
        #expect(!desk.cycle.isOverdue(now: .at(desk.now)))
        desk.run(for: 10 * Self.second, arrive) { $0.id.offset == 0 && $0.topics == [.results] ? .tooLarge : nil }
        #expect(desk.letters.map(\.offset) == [0])
        #expect(desk.taken.contains(CommitUnit.ID(slot: 0, offset: 0)), "the dead letter is there")
    }

    @Test(arguments: [1, 5, 30]) func aSettingThatIsWrongForAMinuteLosesNoResult(count: Int) {
        var desk = CommitDesk()
        desk.waiting = (0..<count).map { CommitDesk.unit(Int64($0), bytes: $0 % 3 == 0 ? 2000 : 500) }
        let end = desk.now + 60 * Self.second
        desk.run(for: 60 * Self.second) { $0.byteCount > 1000 ? .tooLarge : nil }
        #expect(desk.now >= end && desk.taken.count == count - (count + 2) / 3)
        desk.run(for: 60 * Self.second) { _ in nil }
        #expect(desk.letters.isEmpty)
        #expect(desk.taken.count == count)
    }

    /// What its topic took before, while another record was looked for, says nothing about a record that is rejected later.
    @Test func aTopicThatClosesDuringASearchLosesNoResult() {
        var desk = CommitDesk()
        desk.waiting = (0..<4).map { CommitDesk.unit($0) }
        desk.run(for: 5 * Self.second) { $0.id.offset == 0 ? .tooLarge : nil }
        #expect(desk.taken.count == 3)
        desk.waiting.append(CommitDesk.unit(9))
        desk.run(for: CommitCycle.refusalPatience + 60 * Self.second) { $0.topics == [.results] ? .refused : nil }
        #expect(desk.letters.map(\.offset) == [0])
        desk.run(for: 60 * Self.second) { _ in nil }
        #expect(desk.taken.contains(CommitUnit.ID(slot: 0, offset: 9)))
    }

    @Test func whereNothingIsTakenNothingIsGivenUpAndLittleIsBegun() {
        var desk = CommitDesk(patience: 0)
        desk.waiting = (0..<20).map { CommitDesk.unit($0) }
        var pauses = 0
        desk.run(for: 120 * Self.second, { if $0.cycle.isOverdue(now: .at($0.now)) { pauses += 1 } }) { _ in .refused }
        #expect(desk.letters.isEmpty && desk.taken.isEmpty)
        #expect(pauses > 240, "\(pauses) of 480 turns")
        desk.run(for: 60 * Self.second) { _ in nil }
        #expect(desk.taken.count == 20)
        #expect(!desk.cycle.isOverdue(now: .at(desk.now)))
    }

    /// Whether their own topic is at fault shows by others that begin, so these must begin.
    @Test func unitsOfOneTopicDoNotStopThoseOfAnotherForGood() {
        var desk = CommitDesk()
        desk.waiting = (0..<30).map { CommitDesk.unit($0, [.delay(2)]) }
        desk.run(for: 30 * Self.second) { _ in .tooLarge }
        var hasBegun = false
        desk.run(
            for: 30 * Self.second,
            { desk in
                guard !hasBegun, !desk.cycle.isOverdue(now: .at(desk.now)) else { return }
                hasBegun = true
                desk.waiting.append(CommitDesk.unit(99))
            }
        ) { $0.topics == [.results] ? nil : .tooLarge }
        #expect(hasBegun)
        #expect(desk.taken.map(\.offset) == [99])
        #expect(!desk.cycle.isOverdue(now: .at(desk.now)))
    }

    @Test func aUnitThatIsOfferedByItselfLeavesWhatWaitsInAllPartitions() {
        var desk = CommitDesk()
        desk.waiting = [CommitDesk.unit(5)]
        desk.turn()
        desk.fail(.refused)
        desk.waiting += [CommitDesk.unit(3), CommitDesk.unit(7), CommitDesk.unit(1, slot: 2)]
        // The others first, who have every other turn.
        for _ in 0..<40 where desk.offered?.map(\.id.offset) != [5] {
            desk.now += 250 * CommitDesk.millisecond
            desk.turn()
            if desk.offered?.map(\.id.offset) != [5], desk.offered != nil {
                desk.fail(.refused)
            }
        }
        #expect(desk.offered?.map(\.id.offset) == [5])
        #expect(desk.selection?.left == [0: [3, 7], 2: [1]])
    }

    @Test(arguments: [false, true]) func onlyWhatAPositionCanSayGoesOutBeforeARejectedUnit(isWhole: Bool) {
        var desk = CommitDesk()
        var first = CommitDesk.unit(0)
        first.isWhole = isWhole
        desk.waiting = [first]
        desk.turn()
        desk.fail(.refused)
        let far = Int64(20_000)
        var last = CommitDesk.unit(far)
        last.isWhole = isWhole
        desk.waiting += [CommitDesk.unit(1), last]
        desk.run(for: 20 * Self.second) { $0.id.offset == 0 ? .refused : nil }
        #expect(desk.taken.map(\.offset) == (isWhole ? [1, far] : [1]), "a map has room for 16,384 offsets")
    }

    /// Where positions cannot say it, a result goes out with those before it or not at all, by itself neither.
    @Test func inOrderARejectedUnitIsNotOfferedBeforeThoseInFrontOfItAreFinished() {
        var desk = CommitDesk()
        var unit = CommitDesk.unit(1)
        unit.isNext = false
        desk.waiting = [unit]
        desk.turn()
        desk.fail(.refused)
        desk.now += Self.second
        desk.turn()
        desk.fail(.metadataTooLarge)
        #expect(desk.cycle.isInOrder && desk.offered == nil)
        for _ in 0..<40 {
            desk.now += 250 * CommitDesk.millisecond
            desk.turn()
            if desk.offered?.isEmpty ?? false { desk.confirm() }
            #expect(desk.offered?.isEmpty ?? true)
        }
        #expect(desk.taken.isEmpty)
    }

    private static func inOrder(_ waiting: [CommitUnit]) -> CommitDesk {
        var desk = CommitDesk()
        desk.waiting = waiting
        desk.turn()
        desk.fail(.metadataTooLarge)
        return desk
    }

    /// Nothing can be offered behind it that would show whether its topic is at fault.
    @Test(arguments: [CommitCycle.Cause.tooLarge, .refused])
    func inOrderAResultThatIsNeverTakenHoldsUpItsPartitionForMinutesOnly(cause: CommitCycle.Cause) {
        var desk = Self.inOrder((0..<40).map { CommitDesk.unit($0) })
        func rejection(_ unit: CommitUnit) -> CommitCycle.Cause? {
            unit.id.offset % 20 == 5 && unit.topics == [.results] ? cause : nil
        }
        desk.run(for: CommitCycle.refusalPatience - 10 * Self.second, rejecting: rejection)
        #expect(desk.letters.isEmpty)
        #expect(desk.taken.map(\.offset).sorted() == [0, 1, 2, 3, 4])
        desk.run(for: CommitCycle.refusalPatience * 2, rejecting: rejection)
        #expect(desk.letters.map(\.offset) == [5, 25])
        #expect(desk.taken.map(\.offset).sorted() == Array(Int64(0)..<40))
    }

    /// What an hour costs of the results of two partitions in order, where nothing is taken, or nothing but dead letters.
    @Test(arguments: [(false, 1...1), (true, 2...12)])
    func inOrderATopicThatIsClosedForAnHourCostsFewResults(takesDeadLetters: Bool, count: ClosedRange<Int>) {
        var desk = Self.inOrder((0..<40).map { CommitDesk.unit($0, slot: Int($0) % 2) })
        desk.run(for: 3600 * Self.second) { takesDeadLetters && $0.topics == [.deadLetters] ? nil : .refused }
        #expect(count.contains(desk.letters.count), "\(desk.letters.count)")
        desk.run(for: 120 * Self.second) { _ in nil }
        #expect(desk.taken.count == 40)
    }

    /// In order, too: a whole would never end without it.
    @Test func whatAPartCameToIsNotGivenUpWhileItsTopicTakesNothing() {
        var desk = Self.inOrder([CommitDesk.unit(0, [.results, .parents])])
        var next: Int64 = 0
        func arrive(_ desk: inout CommitDesk, _ topics: Set<CommitTopic>) {
            next += 1
            desk.waiting.append(CommitDesk.unit(next, slot: 1, topics))
        }
        desk.run(for: CommitCycle.refusalPatience + 60 * Self.second, { arrive(&$0, [.results, .parents]) }) {
            $0.id.slot == 0 ? .refused : nil
        }
        desk.run(for: 10 * Self.second) { $0.id.slot == 0 ? .refused : nil }
        #expect(desk.letters.map(\.offset) == [0] && desk.waiting.count == 1)
        desk.run(for: 3 * CommitCycle.refusalPatience, { arrive(&$0, [.results]) }) {
            $0.topics.contains(.parents) ? .refused : nil
        }
        #expect(desk.letters.map(\.offset) == [0] && !desk.taken.contains { $0.slot == 0 })
        desk.run(for: 60 * Self.second) { _ in nil }
        #expect(desk.letters.map(\.offset) == [0] && desk.taken.contains { $0.slot == 0 })
    }

    @Test func oneRejectedWholeHoldsUpNoneOfThirty() {
        var desk = CommitDesk()
        desk.waiting = (0..<31).map { number in
            var unit = CommitDesk.unit(Int64(number) * 100_000, slot: 7, [.results, .parents])
            unit.isWhole = true
            return unit
        }
        desk.run(for: 20 * Self.second) { $0.id.offset == 0 ? .tooLarge : nil }
        #expect(desk.taken.count == 30)
        #expect(desk.letters.isEmpty)
    }

    /// Nothing is taken there meanwhile, so that no record is at fault.
    @Test func whatIsForALaneWithoutATopicWaitsForItAndHoldsUpNoOther() {
        var desk = CommitDesk()
        desk.waiting = (0..<20).map { CommitDesk.unit(Int64($0), [.delay(1)]) }
        var next: Int64 = 20
        func arrive(_ desk: inout CommitDesk) {
            desk.waiting.append(CommitDesk.unit(next))
            next += 1
        }
        desk.run(for: 2 * CommitCycle.refusalPatience, arrive) { $0.topics == [.delay(1)] ? .refused : nil }
        #expect(desk.letters.isEmpty)
        #expect(desk.taken.count > 1000 && desk.taken.allSatisfy { $0.offset >= 20 }, "\(desk.taken.count) of \(next - 20)")
        desk.run(for: 60 * Self.second) { _ in nil }
        #expect(desk.letters.isEmpty)
        #expect(desk.taken.count == Int(next), "the lane has a topic again")
    }

    /// Any units that are rejected for ever, among any others, for any reason: all end, the right ones as dead letters.
    @Test(arguments: 0..<20) func everyUnitEnds(seed: Int) {
        var random = SeededRandom(seed)
        var desk = CommitDesk(patience: seed % 2 == 0 ? 0 : 20 * Self.second)
        let count = 50 + random.below(200)
        let bad = Set((0..<random.below(12)).map { _ in Int64(random.below(count)) })
        desk.waiting = (0..<count).map { CommitDesk.unit(Int64($0), slot: $0 % 3, [random.below(2) == 0 ? .results : .delay(1)]) }
        var next = Int64(count)
        desk.run(
            for: 400 * Self.second,
            { desk in
                next += 1
                desk.waiting.append(CommitDesk.unit(next, [next % 2 == 0 ? .results : .delay(1)]))
            }
        ) { bad.contains($0.id.offset) && $0.topics != [.deadLetters] ? .refused : nil }
        #expect(Set(desk.letters.map(\.offset)) == bad)
        #expect(Set(desk.taken.map(\.offset)).isSuperset(of: (0..<Int64(count))))
        #expect(Set(desk.taken).count == desk.taken.count, "nothing is taken twice")
    }
}
