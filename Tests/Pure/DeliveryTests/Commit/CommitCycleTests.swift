import Basics
import Delivery
import TestSupport
import Testing

/// What becomes of an offered batch, event by event.
struct CommitCycleTests {
    private static let second = CommitDesk.second

    /// A desk that has offered units.
    private func offering(_ units: [CommitUnit]) -> CommitDesk {
        var desk = CommitDesk()
        desk.waiting = units
        desk.turn()
        return desk
    }

    private var pair: [CommitUnit] { [CommitDesk.unit(1), CommitDesk.unit(2)] }

    @Test func whatFitsIsOfferedAsAWholeWithoutALookAtItsUnits() {
        var cycle = CommitDesk().cycle
        let due = cycle.due(waiting: 3, partitions: 1, isHurried: false, now: 0)
        #expect(due == .check)
        let holdings = CommitCycle.Holdings(recordCount: 3, byteCount: 3000, isDrained: false)
        let action = cycle.noteHoldings(holdings, now: 0) {
            Issue.record("units are asked for")
            return []
        }
        guard case .offer(let selection) = action else {
            Issue.record("nothing is offered")
            return
        }
        #expect(selection.isAll && selection.left.isEmpty && !selection.closes)
        let next = cycle.due(waiting: 9, partitions: 1, isHurried: true, now: .at(Self.second))
        #expect(next == .wait, "one at a time")
    }

    @Test func aConfirmedBatchIsSettledAndTheNextOneWaitsForItsTime() {
        var desk = offering(pair)
        desk.confirm()
        #expect(desk.lastAction == .settle(closes: false))
        #expect(desk.taken.map(\.offset) == [1, 2])
        desk.waiting = [CommitDesk.unit(3)]
        desk.turn()
        #expect(desk.offered == nil)
        desk.now += 250 * CommitDesk.millisecond
        desk.turn()
        #expect(desk.offered?.count == 1)
    }

    /// What two units come to when their commit fails.
    @Test(
        arguments: [
            (.tooLarge, .unpublished, .putBack), (.refused, .unpublished, .putBack), (.timedOut, .unpublished, .wait),
            (.fenced, .unpublished, .wait), (.outOfGroup, .unpublished, .wait), (.other, .unpublished, .wait),
            (.metadataTooLarge, .unpublished, .putBackInOrder), (.refused, .doubtful, .wait), (.refused, .written, .wait),
            (.timedOut, .doubtful, .wait),
        ] as [(CommitCycle.Cause, CommitCycle.Standing, CommitCycle.Action)])
    func whatAFailureMeans(cause: CommitCycle.Cause, standing: CommitCycle.Standing, action: CommitCycle.Action) {
        var desk = offering(pair)
        desk.fail(cause, standing)
        #expect(desk.lastAction == action)
        #expect(desk.cycle.isOutOfGroup == (cause == .outOfGroup))
        #expect(desk.cycle.isInOrder == (cause == .metadataTooLarge))
        guard action == .wait else { return }
        #expect(desk.cycle.isOverdue(now: .at(desk.now)), "nothing is begun meanwhile")
        desk.now += CommitCycle.retryInterval - 1
        desk.turn()
        #expect(desk.lastAction == .wait)
        desk.now += 1
        desk.turn()
        #expect(desk.lastAction == .offerAgain(standing))
    }

    @Test(arguments: [(1, false), (14, true)] as [(Int64, Bool)])
    func aFencedProducerHasTimedOutIfItsTransactionWasLong(seconds: Int64, isDivided: Bool) {
        let large = [CommitDesk.unit(1, bytes: 400_000), CommitDesk.unit(2, bytes: 400_000)]
        var desk = offering(large)
        desk.fail(.fenced, after: seconds * Self.second)
        #expect((desk.lastAction == .putBack) == isDivided)
        guard isDivided else { return }
        desk.now += Self.second
        desk.turn()
        #expect(desk.offered?.map(\.id.offset) == [1])
        #expect(desk.selection?.left == [0: [2]])
    }

    @Test func whoeverIsFencedForGoodStops() {
        let desk = offering(pair)
        #expect(desk.cycle.takenOver() == .stop)
    }

    @Test(arguments: [CommitCycle.ResetCause.overtaken, .misplaced])
    func whatCannotBeCommittedBeginsTheAssignmentAgain(reason: CommitCycle.ResetCause) {
        var desk = offering(pair)
        desk.perform(desk.cycle.impossible(reason))
        #expect(desk.lastAction == .reset(reason))
        #expect(!desk.cycle.isOffering)
    }

    @Test func whatAnEndedAssignmentOfferedIsForgottenHoweverItEnds() {
        let ends: [(inout CommitDesk) -> Void] = [
            { $0.confirm() }, { $0.fail(.refused) }, { $0.fail(.metadataTooLarge) },
            { $0.perform($0.cycle.impossible(.overtaken)) }, { $0.perform($0.cycle.committerReplaced(now: .at($0.now))) },
        ]
        for end in ends {
            var desk = offering(pair)
            desk.perform(desk.cycle.assignmentEnded())
            #expect(desk.lastAction == .wait && desk.cycle.isOffering, "the committer has it")
            end(&desk)
            #expect(desk.lastAction == .forget)
            #expect(!desk.cycle.isOffering && !desk.cycle.isInOrder && desk.taken.isEmpty)
        }
    }

    @Test func whatWaitsToBeOfferedAgainIsForgottenWithItsAssignment() {
        var desk = offering(pair)
        desk.fail(.other)
        desk.perform(desk.cycle.assignmentEnded())
        #expect(desk.lastAction == .forget)
        #expect(!desk.cycle.isOffering)
    }

    @Test func afterItsCommitterIsReplacedABatchIsDoubtful() {
        var desk = offering(pair)
        desk.now += 60 * Self.second
        desk.perform(desk.cycle.committerReplaced(now: .at(desk.now)))
        desk.turn()
        #expect(desk.lastAction == .offerAgain(.doubtful))
        // One that waits anyway keeps its standing.
        desk.fail(.other, .unpublished)
        desk.perform(desk.cycle.committerReplaced(now: .at(desk.now)))
        desk.turn()
        #expect(desk.lastAction == .wait)
        desk.now += CommitCycle.retryInterval
        desk.turn()
        #expect(desk.lastAction == .offerAgain(.unpublished))
    }

    @Test func withoutAPlaceInTheGroupABatchWaits() {
        var desk = offering(pair)
        desk.cycle.notHandedOver(isOutOfGroup: true, now: .at(desk.now))
        #expect(desk.cycle.isOutOfGroup && desk.cycle.isOverdue(now: .at(desk.now)))
        #expect(desk.cycle.wakeTime(waiting: 0, partitions: 1, now: .at(desk.now)) == .at(desk.now + CommitCycle.groupInterval))
        desk.now += CommitCycle.groupInterval
        desk.turn()
        #expect(desk.lastAction == .offerAgain(.unpublished))
        #expect(!desk.cycle.isOutOfGroup)
    }

    /// Otherwise the loop would turn without a rest for as long as the result in front is missing.
    @Test(arguments: [(0, Int64?.none), (5, CommitCycle.checkInterval)] as [(Int, Int64?)])
    func whatWaitsForResultsBeforeItIsLookedAtNowAndThen(waiting: Int, rest: Int64?) {
        var desk = CommitDesk()
        desk.cycle.noteNothingPending(waiting: waiting, now: .at(desk.now))
        let wake = desk.cycle.wakeTime(waiting: waiting, partitions: 1, now: .at(desk.now))
        #expect(wake == rest.map { .at(desk.now + $0) } ?? .never)
        desk.waiting = [CommitDesk.unit(1)]
        desk.turn()
        #expect((desk.offerCount == 0) == (rest != nil))
        desk.now += CommitCycle.checkInterval
        desk.turn()
        #expect(desk.offerCount == 1)
    }

    /// How long the commits before took, milliseconds, and how long one may take. An outage makes one commit slow, slow brokers all of them.
    @Test(
        arguments: [
            ([], 500), ([5], 500), ([800], 800), ([3000], 2000), ([3000, 5], 500), ([5, 3000, 3000], 500),
            ([900, 700, 1200], 700),
            ([5] + [Int64](repeating: 900, count: 8), 900),
        ] as [([Int64], Int64)])
    func callsWaitForACommitThatTakesLong(before: [Int64], patience: Int64) {
        var desk = CommitDesk()
        for (index, duration) in before.enumerated() {
            desk.waiting = [CommitDesk.unit(Int64(index))]
            desk.now += CommitDesk.second
            desk.turn()
            desk.confirm(after: duration * CommitDesk.millisecond)
        }
        #expect(desk.taken.count == before.count)
        desk.waiting = [CommitDesk.unit(100)]
        desk.now += CommitDesk.second
        desk.turn()
        #expect(!desk.cycle.isOverdue(now: .at(desk.now + patience * CommitDesk.millisecond)))
        #expect(desk.cycle.isOverdue(now: .at(desk.now + patience * CommitDesk.millisecond + 1)))
    }

    @Test func positionsCloseOnlyWhenNothingIsLeft() {
        var desk = CommitDesk()
        desk.isDrained = true
        desk.waiting = [CommitDesk.unit(1, bytes: 900_000), CommitDesk.unit(2, bytes: 900_000)]
        desk.turn()
        #expect(desk.selection?.closes == false)
        #expect(!desk.cycle.isOnlyClosing)
        desk.confirm()
        desk.turn()
        #expect(desk.selection?.closes == true)
        #expect(!desk.cycle.isOnlyClosing, "it has results too")
        desk.confirm()
        #expect(desk.lastAction == .settle(closes: true))
        let holdings = CommitCycle.Holdings(recordCount: 0, byteCount: 0, isDrained: true)
        let action = desk.cycle.noteHoldings(holdings, now: .at(desk.now)) { [] }
        guard case .offer(let selection) = action else {
            Issue.record("nothing is offered")
            return
        }
        #expect(selection.closes && desk.cycle.isOnlyClosing)
    }

    @Test func positionsWithoutResultsGoOutByThemselvesEveryFiveSeconds() {
        var desk = CommitDesk()
        #expect(desk.cycle.isGapDue(now: .at(desk.now)))
        desk.waiting = pair
        desk.turn()
        #expect(!desk.cycle.isGapDue(now: .at(desk.now + CommitCycle.gapInterval - 1)))
        #expect(desk.cycle.isGapDue(now: .at(desk.now + CommitCycle.gapInterval)))
    }

    @Test func whereBrokersTakeNoMapResultsWaitForThoseBeforeThem() {
        var desk = offering(pair)
        desk.fail(.metadataTooLarge)
        desk.waiting[1].isNext = false
        desk.now += Self.second
        desk.turn()
        #expect(desk.offered?.map(\.id.offset) == [1])
        #expect(desk.selection?.left.isEmpty == true, "what is beyond the mark is not left out by a position")
        desk.fail(.metadataTooLarge)
        #expect(desk.lastAction == .wait, "that cannot help twice")
    }

    /// No position could say that a later one is finished.
    @Test func inOrderNothingFollowsARejectedUnitOfItsPartition() {
        var desk = offering(pair)
        desk.fail(.metadataTooLarge)
        desk.waiting += [CommitDesk.unit(3), CommitDesk.unit(1, slot: 1)]
        desk.run(for: 10 * Self.second) { $0.id.offset == 2 ? .refused : nil }
        #expect(Set(desk.taken.map { [$0.slot, Int($0.offset)] }) == [[0, 1], [1, 1]])
    }

    /// Each step of it is more than a commit should hold, and is there as soon as the one before it is committed.
    @Test func aLargeRequestThatGoesOnAndOnHoldsUpNoOther() {
        var desk = CommitDesk()
        desk.waiting = [CommitDesk.unit(0, bytes: 8_000_000)]
        var steps: Int64 = 0
        for round in 0..<20 {
            desk.now += Self.second
            desk.turn()
            desk.waiting.append(CommitDesk.unit(Int64(round), slot: 1))
            let hasStep = desk.offered?.contains { $0.id.slot == 0 } ?? false
            desk.confirm(after: 2 * Self.second)
            if hasStep {
                steps += 1
                desk.waiting.append(CommitDesk.unit(steps, bytes: 8_000_000))
            }
            let late = desk.waiting.filter { $0.id.slot == 1 && $0.id.offset < Int64(round) - 1 }
            #expect(late.isEmpty, "\(round): \(late.map(\.id.offset))")
        }
        #expect(steps >= 9)
    }

    @Test func aUnitWhoseSizeCanBeChosenHasHalfOfACommit() {
        var desk = offering([CommitDesk.unit(1, bytes: 400_000), CommitDesk.unit(2, bytes: 400_000)])
        #expect(desk.cycle.roomOfUnit == CommitSize.firstLimit / 2)
        desk.fail(.timedOut)
        #expect(desk.cycle.roomOfUnit == 100_000)
    }

    /// 0.6 s for each answer of the brokers: 2.4 s for a commit, and 3.6 s where it is read back.
    @Test(arguments: [1, 13, 300, 1000]) func aThousandResultsAreCommittedInSecondsHoweverSlowEachAnswerIs(first: Int) {
        var desk = CommitDesk()
        let all = (0..<1000).map { CommitDesk.unit(Int64($0), bytes: 1200) }
        desk.waiting = Array(all.prefix(first))
        var isWhole = false
        while desk.taken.count < 1000 && desk.now < 200 * Self.second {
            desk.turn()
            if !isWhole {
                isWhole = true
                desk.waiting += all.dropFirst(first)
            }
            if desk.offered == nil {
                desk.now += 10 * CommitDesk.millisecond
            } else {
                desk.confirm(after: 3600 * CommitDesk.millisecond)
            }
        }
        #expect(desk.taken.count == 1000)
        #expect(desk.now <= 20 * Self.second, "\(desk.now)")
    }
}
