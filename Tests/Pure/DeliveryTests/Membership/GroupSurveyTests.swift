import Basics
import Delivery
import Testing

/// When a worker looks for partitions without a consumer, and when it rejoins the group because of them.
struct GroupSurveyTests {
    private static let second = MembershipDesk.second

    /// A worker that owns partitions, seconds after it began.
    private struct Watch {
        var desk: MembershipDesk

        init(checksForUnread: Bool = true) {
            desk = MembershipDesk(checksForUnread: checksForUnread)
            assign()
        }

        mutating func assign() {
            desk.assign(1)
            desk.learn()
        }

        /// Whether it looks after so many seconds.
        mutating func looks(at seconds: Int64) -> Bool {
            desk.now = MonotonicTime(nanoseconds: seconds * MembershipDesk.second)
            desk.perform(desk.membership.secondPassed(isBrokerDoubtful: false, now: desk.now))
            return desk.answer == [.survey]
        }

        /// Whether it rejoins when it finds so many partitions.
        mutating func rejoins(finding count: Int) -> Bool {
            let unread = MembershipDesk.partitions(count)
            desk.perform(desk.membership.surveyed(unread, now: desk.now))
            return desk.answer == [.rejoin(unread: unread)]
        }
    }

    @Test func nothingIsLookedForWithoutAnAssignment() {
        var watch = Watch()
        watch.desk.revoke(isLost: true)
        let looks = watch.looks(at: 1000)
        let rejoins = watch.rejoins(finding: 1)
        #expect(!looks && !rejoins)
    }

    @Test func nothingIsLookedForByMembersWithoutAName() {
        var watch = Watch(checksForUnread: false)
        let looks = watch.looks(at: 1000)
        #expect(!looks)
    }

    @Test func membersWithoutANameLookWhileAPartitionWaitsForItsLeader() {
        var watch = Watch(checksForUnread: false)
        watch.desk.awaitsLeader = true
        watch.assign()
        let looks = watch.looks(at: 5)
        let rejoinsAtOnce = watch.rejoins(finding: 1)
        let looksAgain = watch.looks(at: 8)
        let rejoins = watch.rejoins(finding: 1)
        #expect(looks && !rejoinsAtOnce && looksAgain && rejoins)
        watch.desk.awaitsLeader = false
        watch.assign()
        let looksOn = watch.looks(at: 1000)
        #expect(!looksOn)
    }

    @Test func nothingIsLookedForWhilePartitionsAreGivenUp() {
        var watch = Watch()
        watch.desk.revoke()
        let looks = watch.looks(at: 10)
        #expect(!looks)
    }

    @Test func aPartitionIsMissedTwiceBeforeTheWorkerRejoins() {
        var watch = Watch()
        var looks: [Int64] = []
        var rejoins: [Int64] = []
        for second in Int64(0)..<100 {
            guard watch.looks(at: second) else { continue }
            looks.append(second)
            let looksAgain = watch.looks(at: second)
            #expect(!looksAgain, "one at a time")
            if watch.rejoins(finding: second < 30 ? 0 : 2) { rejoins.append(second) }
        }
        #expect(looks == [5, 15, 25, 35, 38, 98])
        #expect(rejoins == [38])
    }

    @Test func whatWasMissedOnceAndIsReadNowWasARebalance() {
        var watch = Watch()
        for (second, count) in [(5, 1), (8, 0), (18, 1), (21, 0), (31, 1)] as [(Int64, Int)] {
            let looks = watch.looks(at: second)
            let rejoins = watch.rejoins(finding: count)
            #expect(looks && !rejoins, "\(second)")
        }
    }

    /// The assignment that follows begins no second round at once: what has no consumer then has another reason.
    @Test func rejoiningThatDoesNotHelpIsNotRepeatedWithinAMinute() {
        var watch = Watch()
        var rejoins: [Int64] = []
        for second in Int64(1)...600 {
            guard watch.looks(at: second), watch.rejoins(finding: 1) else { continue }
            rejoins.append(second)
            watch.desk.now = MonotonicTime(nanoseconds: (second + 1) * Self.second)
            watch.assign()
        }
        #expect(zip(rejoins, rejoins.dropFirst()).allSatisfy { $1 - $0 >= 60 })
        #expect(rejoins.first == 8 && rejoins.count > 5)
    }

    @Test func aLookWhoseAnswerWasLostIsRepeated() {
        var watch = Watch()
        let first = watch.looks(at: 5)
        watch.desk.replaceCommitter()
        let early = watch.looks(at: 9)
        let second = watch.looks(at: 10)
        #expect(first && !early && second)
    }
}
