import Basics
import PushModel
import Testing

@testable import Delivery

struct LogDoubtsTests {
    private static let first = Membership.Partition(topic: "t", number: 0)
    private static let second = Membership.Partition(topic: "t", number: 1)
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func oneInDoubtIsExaminedAfterAWhileAndOnlyOnce() {
        var doubts = LogDoubts()
        #expect(doubts.takeDue(now: Self.at(1)).isEmpty)
        doubts.note(Self.first, now: Self.at(0))
        #expect(doubts.takeDue(now: Self.at(0)).isEmpty, "its leader may still give what is deleted")
        #expect(doubts.takeDue(now: Self.at(1)) == [Self.first])
        doubts.note(Self.second, now: Self.at(1))
        #expect(doubts.takeDue(now: Self.at(100)).isEmpty, "an answer is to come")
    }

    @Test func oneThatComesInDoubtWhileOthersAreExaminedIsExaminedAfterThem() {
        var doubts = LogDoubts()
        doubts.note(Self.first, now: Self.at(0))
        _ = doubts.takeDue(now: Self.at(1))
        doubts.note(Self.second, now: Self.at(2))
        doubts.answered([Self.first], now: Self.at(3))
        #expect(doubts.takeDue(now: Self.at(3)).isEmpty)
        #expect(doubts.takeDue(now: Self.at(4)) == [Self.second])
    }

    @Test func whatIsNotKnownIsExaminedAgainAfterAWhile() {
        var doubts = LogDoubts()
        doubts.note(Self.second, now: Self.at(0))
        doubts.note(Self.first, now: Self.at(0))
        #expect(doubts.takeDue(now: Self.at(1)) == [Self.first, Self.second])
        doubts.answered([Self.first], now: Self.at(2))
        #expect(doubts.takeDue(now: Self.at(2)).isEmpty)
        #expect(doubts.takeDue(now: Self.at(3)) == [Self.second])
        doubts.answered([Self.second], now: Self.at(4))
        #expect(doubts.partitions.isEmpty && doubts.takeDue(now: Self.at(100)).isEmpty)
    }

    private static func begun() -> Membership {
        var membership = Membership(.init(drainTimeout: 1, transactionTimeout: 1, checksForUnread: false))
        _ = membership.assigned([first, second], now: at(1))
        _ = membership.positionsKnown(epoch: membership.epoch)
        membership.noteStart(isOpening: false, now: at(1), at: Timestamp(milliseconds: 0))
        return membership
    }

    @Test func aPartitionThatHoldsOtherRecordsBeginsAgain() {
        var membership = Self.begun()
        membership.foundDoubt(Self.first, now: Self.at(1))
        let epoch = membership.epoch
        #expect(membership.tick(isOutOfGroup: false, now: Self.at(2)) == [.examine([Self.first], epoch: epoch)])
        let settled = membership.examined(same: [], changed: [Self.first], epoch: epoch, now: Self.at(2))
        #expect(settled.isEmpty && membership.behindCommit == [Self.first])
        let ask = Membership.Action.ask([Self.first, Self.second], behindCommit: [Self.first], epoch: epoch + 1)
        #expect(membership.positionsMoved(now: Self.at(2)) == [.forget, ask])
    }

    @Test func oneThatHoldsWhatWasReadGoesOn() {
        var membership = Self.begun()
        membership.foundDoubt(Self.first, now: Self.at(1))
        _ = membership.tick(isOutOfGroup: false, now: Self.at(2))
        let settled = membership.examined(same: [Self.first], changed: [], epoch: membership.epoch, now: Self.at(2))
        #expect(settled == [Self.first] && membership.behindCommit.isEmpty)
        #expect(membership.tick(isOutOfGroup: false, now: Self.at(9)).isEmpty)
    }

    @Test func theAnswerToAnotherAssignmentCountsNoMore() {
        var membership = Self.begun()
        membership.foundDoubt(Self.first, now: Self.at(1))
        _ = membership.tick(isOutOfGroup: false, now: Self.at(2))
        let epoch = membership.epoch
        _ = membership.assigned([Self.first, Self.second], now: Self.at(3))
        let settled = membership.examined(same: [], changed: [Self.first], epoch: epoch, now: Self.at(3))
        #expect(settled.isEmpty)
        #expect(membership.behindCommit.isEmpty)
    }

    @Test func anExaminationThatIsGivenUpIsMadeAgain() {
        var membership = Self.begun()
        membership.foundDoubt(Self.first, now: Self.at(1))
        _ = membership.tick(isOutOfGroup: false, now: Self.at(2))
        _ = membership.committerReplaced(now: Self.at(3))
        #expect(membership.tick(isOutOfGroup: false, now: Self.at(4)) == [.examine([Self.first], epoch: membership.epoch)])
    }
}
