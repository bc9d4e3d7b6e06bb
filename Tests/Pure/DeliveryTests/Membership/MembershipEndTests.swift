import Delivery
import Testing

/// How partitions are given up, how a worker ends, and what is tried again until then.
struct MembershipEndTests {
    typealias State = MembershipDesk.State

    private static let second = MembershipDesk.second

    @Test(arguments: [State.revoking, .stopping])
    func whatIsGivenUpWaitsForItsCallsAndItsCommit(state: State) {
        var desk = MembershipDesk.at(state)
        let end = state == .revoking ? "drop" : "stop"
        desk.advance(Self.second)
        desk.finish()
        #expect(desk.answer.isEmpty, "calls are in flight")
        desk.work.isIdle = true
        desk.finish()
        #expect(desk.answer.isEmpty, "results are not committed")
        desk.work.isCommitted = true
        desk.work.canClose = true
        desk.finish()
        #expect(desk.answer.isEmpty, "positions are not closed")
        #expect(desk.membership.isClosing(now: desk.now))
        desk.work.canClose = false
        desk.finish()
        #expect(desk.words == end)
    }

    @Test func closingIsNotWaitedForLongerThanTwoSeconds() {
        var desk = MembershipDesk.at(.revoking)
        desk.work = Membership.Work(isIdle: true, isCommitted: true, isOutOfGroup: false, canClose: true)
        desk.finish()
        desk.advance(Membership.closingPatience - 1)
        desk.finish()
        #expect(desk.answer.isEmpty)
        desk.advance(1)
        #expect(!desk.membership.isClosing(now: desk.now))
        desk.finish()
        #expect(desk.words == "drop")
        #expect(desk.membership.mode == .running)
    }

    @Test(arguments: [State.revoking, .stopping])
    func whenTimeIsUpCallsAreCutAndLaterResultsGivenUp(state: State) {
        var desk = MembershipDesk.at(state)
        desk.advance(MembershipDesk.drainTimeout - 1)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.advance(1)
        desk.tick()
        #expect(desk.answer == [.cut])
        desk.work.isIdle = true
        desk.advance(MembershipDesk.transactionTimeout - 1)
        desk.finish()
        #expect(desk.answer.isEmpty, "the last commit may take as long as its transaction")
        desk.advance(1)
        desk.finish()
        let expected: [Membership.Action] = state == .revoking ? [.drop] : [.stop(isCommitted: false)]
        #expect(desk.answer == expected)
    }

    @Test(arguments: [State.revoking, .stopping])
    func whoeverIsOutOfTheGroupGivesUpAtOnce(state: State) {
        var desk = MembershipDesk.at(state)
        desk.work = Membership.Work(isIdle: false, isCommitted: false, isOutOfGroup: true, canClose: true)
        desk.tick()
        #expect(desk.answer == [.cut])
        desk.work.isIdle = true
        desk.finish()
        let expected: [Membership.Action] = state == .revoking ? [.drop] : [.stop(isCommitted: false)]
        #expect(desk.answer == expected)
    }

    @Test func aSecondStopHastensTheFirst() {
        var desk = MembershipDesk.at(.stopping)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.stop(isUrgent: true)
        #expect(desk.answer.isEmpty, "it drains already")
        desk.tick()
        #expect(desk.answer == [.cut])
    }

    @Test func aStopWhilePartitionsAreRevokedHasItsOwnTime() {
        var desk = MembershipDesk.at(.revoking)
        desk.advance(MembershipDesk.drainTimeout - 1)
        desk.stop()
        desk.advance(Self.second)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.advance(MembershipDesk.drainTimeout)
        desk.tick()
        #expect(desk.answer == [.cut])
    }

    @Test(arguments: [State.fresh, .asked, .empty])
    func whoeverOwnsNothingStopsAtOnce(state: State) {
        var desk = MembershipDesk.at(state)
        desk.stop()
        desk.finish()
        #expect(desk.words == "stop")
    }

    @Test func whoeverCannotGoOnIsAskedNothingMore() {
        var desk = MembershipDesk.at(.begun)
        desk.membership.stop()
        desk.advance(1000 * Self.second)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.finish()
        #expect(desk.answer.isEmpty)
        #expect(desk.membership.mode == .stopped)
    }

    @Test func aProducerThatIsNotReadyIsTriedAgainAfterASecond() {
        var desk = MembershipDesk()
        desk.membership.producerFailed(now: desk.now)
        desk.advance(Membership.prepareInterval - 1)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.advance(1)
        desk.tick()
        #expect(desk.answer == [.prepare])
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.membership.producerPrepared()
        #expect(desk.membership.isProducerReady)
        desk.replaceCommitter()
        #expect(!desk.membership.isProducerReady)
    }

    @Test func aBrokerThatFailedIsAskedOnceAtATimeByWhoeverOwnsPartitions() {
        var desk = MembershipDesk.at(.asked)
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: true, now: desk.now))
        #expect(desk.answer.isEmpty)
        desk.learn()
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: true, now: desk.now))
        #expect(desk.answer == [.probe])
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: true, now: desk.now))
        #expect(desk.answer.isEmpty)
        desk.membership.probed()
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: false, now: desk.now))
        #expect(desk.answer.isEmpty)
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: true, now: desk.now))
        #expect(desk.answer == [.probe])
        desk.replaceCommitter()
        desk.perform(desk.membership.secondPassed(isBrokerDoubtful: true, now: desk.now))
        #expect(desk.answer == [.probe], "the answer to the one before was lost")
    }
}
