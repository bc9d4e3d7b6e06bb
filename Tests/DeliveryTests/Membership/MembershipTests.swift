import Delivery
import PushModel
import Testing

/// What becomes of a worker's partitions, event by event.
struct MembershipTests {
    typealias State = MembershipDesk.State

    /// What can happen.
    enum Event: CaseIterable {
        case assigned, nothingAssigned, revoked, lost, known, knownOfAnother, failed, moved, stopAsked, committerReplaced
    }

    private static let second = MembershipDesk.second

    private static func happen(_ event: Event, at desk: inout MembershipDesk) {
        switch event {
        case .assigned: desk.assign(2)
        case .nothingAssigned: desk.assign(0)
        case .revoked: desk.revoke()
        case .lost: desk.revoke(isLost: true)
        case .known: desk.learn(desk.membership.epoch)
        case .knownOfAnother: desk.learn(desk.membership.epoch - 1)
        case .failed: desk.fail(desk.membership.epoch)
        case .moved: desk.move()
        case .stopAsked: desk.stop()
        case .committerReplaced: desk.replaceCommitter()
        }
    }

    /// A row: what the events of `Event.allCases` are answered with, and what the worker is about then.
    private static let answers: [State: [(String, Membership.Mode)]] = [
        .fresh: [
            ("forget ask", .running), ("forget begin", .running), ("drop", .running), ("drop", .running), ("", .running),
            ("", .running), ("", .running), ("", .running), ("drain", .stopping), ("prepare", .running),
        ],
        .asked: [
            ("forget ask", .running), ("forget begin", .running), ("drop", .running), ("drop", .running), ("begin", .running),
            ("", .running), ("", .running), ("", .running), ("drain", .stopping), ("prepare ask", .running),
        ],
        .empty: [
            ("forget ask", .running), ("forget begin", .running), ("drop", .running), ("drop", .running), ("", .running),
            ("", .running), ("", .running), ("", .running), ("drain", .stopping), ("prepare", .running),
        ],
        .begun: [
            ("forget ask", .running), ("forget begin", .running), ("drain", .revoking), ("drop", .running), ("", .running),
            ("", .running), ("", .running), ("forget ask", .running), ("drain", .stopping), ("prepare", .running),
        ],
        .revoking: [
            ("forget ask", .running), ("forget begin", .running), ("drop", .running), ("drop", .running), ("", .revoking),
            ("", .revoking), ("", .revoking), ("forget", .revoking), ("drain", .stopping), ("prepare", .revoking),
        ],
        .stopping: [
            ("forget", .stopping), ("forget", .stopping), ("", .stopping), ("drop", .stopping), ("", .stopping),
            ("", .stopping), ("", .stopping), ("forget", .stopping), ("", .stopping), ("prepare", .stopping),
        ],
        .stopped: [
            ("forget", .stopped), ("forget", .stopped), ("drop", .stopped), ("drop", .stopped), ("", .stopped),
            ("", .stopped), ("", .stopped), ("forget", .stopped), ("", .stopped), ("prepare", .stopped),
        ],
    ]

    @Test(arguments: State.allCases)
    func eachEventInEachStateHasItsAnswer(state: State) throws {
        let row = try #require(Self.answers[state])
        #expect(row.count == Event.allCases.count)
        for (event, (words, mode)) in zip(Event.allCases, row) {
            var desk = MembershipDesk.at(state)
            Self.happen(event, at: &desk)
            #expect(desk.words == words, "\(event)")
            #expect(desk.membership.mode == mode, "\(event)")
            #expect(desk.faults.isEmpty, "\(event)")
        }
    }

    @Test func partitionsBeginOnceTheirPositionsAreKnown() {
        var desk = MembershipDesk.at(.fresh)
        desk.advance(7 * Self.second)
        desk.assign(3)
        #expect(desk.answer == [.forget, .ask(MembershipDesk.partitions(3), behindCommit: [], epoch: desk.membership.epoch)])
        #expect(!desk.membership.ownsPartitions)
        #expect(desk.membership.assignedAt == desk.now)
        desk.advance(Self.second)
        desk.learn()
        #expect(desk.membership.ownsPartitions)
        #expect(desk.membership.begunAt == Timestamp(milliseconds: 8000))
        desk.learn()
        #expect(desk.beginCount == 1, "a second answer begins nothing")
    }

    @Test func positionsThatCameTooLateBeginNothing() {
        var desk = MembershipDesk.at(.asked)
        let first = desk.asked[0]
        desk.assign(2)
        desk.learn(first)
        #expect(desk.answer.isEmpty)
        desk.learn()
        #expect(desk.answer == [.begin])
    }

    @Test func positionsThatCannotBeLearntAreAskedForAgainAfterHalfASecond() {
        var desk = MembershipDesk.at(.asked)
        desk.fail()
        desk.advance(Membership.askInterval - 1)
        desk.tick()
        #expect(desk.answer.isEmpty)
        desk.advance(1)
        desk.tick()
        #expect(desk.words == "ask")
        desk.advance(Self.second)
        desk.tick()
        #expect(desk.answer.isEmpty, "one question at a time")
        desk.learn()
        #expect(desk.answer == [.begin])
    }

    /// Also nothing that was assigned has to be answered.
    @Test(arguments: [0, 3])
    func partitionsThatCannotBeReadAreTriedAgain(count: Int) {
        var desk = MembershipDesk()
        desk.isUnreadable = true
        desk.assign(count)
        if count > 0 { desk.learn() }
        #expect(desk.answer.last == .begin && desk.beginCount == 0)
        desk.isUnreadable = false
        desk.advance(Membership.askInterval)
        desk.tick()
        #expect(desk.words == "ask")
        desk.learn()
        #expect(desk.beginCount == 1)
        #expect(desk.faults.isEmpty)
    }

    @Test(arguments: [(true, 29, false), (true, 31, true), (false, 31, false)] as [(Bool, Int64, Bool)])
    func positionsThatAreHeldBackForLongAreReported(isTimeout: Bool, seconds: Int64, isReported: Bool) {
        var desk = MembershipDesk.at(.asked)
        desk.advance(seconds * Self.second)
        desk.fail(isTimeout: isTimeout)
        #expect(desk.words == (isReported ? "report" : ""))
        desk.advance(Membership.askInterval)
        desk.tick()
        #expect(desk.words == "ask", "it is asked on")
    }

    @Test func aQuestionThatWaitsIsForgottenWithItsAssignment() {
        var desk = MembershipDesk.at(.asked)
        desk.fail()
        desk.revoke()
        desk.advance(Self.second)
        desk.tick()
        #expect(desk.answer.isEmpty)
    }

    @Test func positionsThatSayThatNoOneIsAtWorkAreCommittedFirst() {
        var desk = MembershipDesk()
        desk.isClosed = true
        desk.assign(3)
        desk.learn()
        #expect(desk.membership.isOpening)
        desk.membership.settled(hasClosed: true)
        #expect(desk.membership.isOpening, "not all are committed")
        desk.membership.settled(hasClosed: false)
        #expect(!desk.membership.isOpening)
        desk.revoke()
        desk.membership.settled(hasClosed: true)
        #expect(!desk.membership.isOpening, "they are closed, and stay so")
    }

    @Test func partitionsThatEndBeforeThePositionAreRememberedUntilOneBeginsThatKnowsOfIt() {
        var desk = MembershipDesk.at(.begun)
        let short = MembershipDesk.partitions(2)[1]
        desk.membership.foundBehindCommit(short)
        desk.move()
        #expect(
            desk.answer == [.forget, .ask(MembershipDesk.partitions(3), behindCommit: [short], epoch: desk.membership.epoch)])
        desk.revoke()
        #expect(desk.membership.behindCommit == [short])
        desk.assign(2)
        #expect(desk.answer.last == .ask(MembershipDesk.partitions(2), behindCommit: [short], epoch: desk.membership.epoch))
        desk.learn()
        #expect(desk.membership.behindCommit.isEmpty)
    }
}
