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

    @Test func aPartitionThatBeginsLaterHasItsPositionCommittedFirst() {
        var desk = MembershipDesk()
        desk.assign(3)
        desk.learn()
        desk.membership.beganLater(isOpening: false)
        #expect(!desk.membership.isOpening)
        desk.membership.beganLater(isOpening: true)
        desk.membership.beganLater(isOpening: false)
        #expect(desk.membership.isOpening)
        desk.membership.noteCommit(hasClosed: false)
        #expect(!desk.membership.isOpening)
        desk.revoke()
        desk.membership.beganLater(isOpening: true)
        #expect(!desk.membership.isOpening, "none begins while partitions are given up")
    }

    @Test func positionsThatSayThatNoOneIsAtWorkAreCommittedFirst() {
        var desk = MembershipDesk()
        desk.isClosed = true
        desk.assign(3)
        desk.learn()
        #expect(desk.membership.isOpening)
        desk.membership.noteCommit(hasClosed: true)
        #expect(desk.membership.isOpening, "not all are committed")
        desk.membership.noteCommit(hasClosed: false)
        #expect(!desk.membership.isOpening)
        desk.revoke()
        desk.membership.noteCommit(hasClosed: true)
        #expect(!desk.membership.isOpening, "they are closed, and stay so")
    }

    @Test func aWorkerJoinsOnceAndNotBeforeItCanTakeRequests() {
        var membership = MembershipDesk().membership
        let joins = [false, false, true, true, false].map { membership.joins(isWanted: $0) }
        #expect(joins == [false, false, true, false, false])
        var stopping = MembershipDesk()
        stopping.stop()
        let joinsLate = stopping.membership.joins(isWanted: true)
        #expect(!joinsLate, "it is about to end")
    }

    /// An owner of whose end nobody knows may go on for a session beside the next one, and no longer.
    @Test func anOwnerBeforeMayGoOnForASession() {
        var desk = MembershipDesk()
        desk.advance(100 * Self.second)
        desk.assign(1)
        desk.learn()
        #expect(desk.membership.overlapEnd == Timestamp(milliseconds: 110_000))
        #expect(desk.membership.mayOverlap(at: Timestamp(milliseconds: 110_000)))
        #expect(!desk.membership.mayOverlap(at: Timestamp(milliseconds: 110_001)))
    }

    /// Where a worker is, how long it stands still, whether a commit is offered then and whether it has read anything, and how many commits
    /// are confirmed until it begins something again.
    @Test(
        arguments: [
            (.begun, 5 * second, false, true, 0), (.begun, 5 * second + 1, false, true, 1), (.begun, 60 * second, false, true, 1),
            (.begun, 60 * second, true, true, 2), (.begun, 60 * second, false, false, 0), (.empty, 60 * second, false, true, 0),
            (.asked, 60 * second, false, true, 0), (.revoking, 60 * second, false, true, 0),
            (.stopping, 60 * second, true, true, 0),
        ] as [(State, Int64, Bool, Bool, Int)])
    func aWorkerThatStoodStillBeginsNothingUntilACommitShowsThatItIsAMember(
        state: State, duration: Int64, isOffering: Bool, hasRead: Bool, commits: Int
    ) {
        var desk = MembershipDesk.at(state)
        desk.membership.noteTurn(now: desk.now, isOffering: isOffering, hasRead: hasRead)
        #expect(!desk.membership.isDoubtful, "it has just begun")
        desk.advance(duration)
        desk.membership.noteTurn(now: desk.now, isOffering: isOffering, hasRead: hasRead)
        for _ in 0..<commits {
            #expect(desk.membership.isDoubtful && desk.membership.isOpening)
            // No matter how long that takes.
            desk.advance(Self.second)
            desk.membership.noteTurn(now: desk.now, isOffering: true, hasRead: hasRead)
            desk.membership.noteCommit(hasClosed: false)
        }
        #expect(!desk.membership.isDoubtful && !desk.membership.isOpening)
    }

    @Test(arguments: [Event.assigned, .nothingAssigned, .revoked, .lost, .moved, .stopAsked])
    func whatBecomesOfThePartitionsEndsTheDoubt(event: Event) {
        var desk = MembershipDesk.at(.begun)
        for _ in 0..<2 {
            desk.membership.noteTurn(now: desk.now, isOffering: false, hasRead: true)
            desk.advance(60 * Self.second)
        }
        #expect(desk.membership.isDoubtful)
        Self.happen(event, at: &desk)
        #expect(!desk.membership.isDoubtful)
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
