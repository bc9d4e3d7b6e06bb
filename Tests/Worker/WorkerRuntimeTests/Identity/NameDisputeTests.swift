import Basics
import Testing

@testable import WorkerRuntime

/// What a worker does that was fenced.
struct NameDisputeTests {
    private static let second: Int64 = 1_000_000_000
    private static let session = 10 * second

    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    private static func fenced() -> NameDispute {
        var dispute = NameDispute(session: session)
        _ = dispute.fenced(as: "own", now: at(0), jitter: 1)
        return dispute
    }

    /// What a group says of the name at some moments, in seconds since the worker was fenced. A session lasts 10 s on the broker's clock
    /// too.
    private struct Group {
        /// When the member under the name joined last without a word to its client, or with one.
        var joins: [Double] = [0]
        /// From when to when no broker answers. Sessions begin anew then.
        var outages: [Range<Double>] = []
        /// From when to when the group is rebalanced. Sessions begin anew then.
        var rebalances: [Range<Double>] = []
        /// When another broker takes the group over. Sessions begin anew then.
        var moves: [Double] = []
        /// From when to when the worker's process stands between a question and what it does with the answer.
        var pauses: [Range<Double>] = []
        /// Another process has the name from the last join on.
        var isHeld = false
        /// The member is the worker's own, whose client is left behind and lives on.
        var isOwn = false

        func member(at moment: Double) -> NameMember? {
            let isRebalanced = rebalances.contains { $0.contains(moment) }
            let joined = joins.lastIndex { $0 <= moment } ?? 0
            let renewals = joins + moves + outages.map(\.upperBound) + rebalances.map(\.upperBound)
            let heard = renewals.filter { $0 <= moment }.max() ?? 0
            let hasName = isHeld || isOwn || isRebalanced || moment - heard <= 10
            return hasName
                ? NameMember(
                    memberID: isOwn ? "own" : "member \(joined)", coordinator: Int32(moves.count { $0 <= moment }),
                    isStable: !isRebalanced)
                : nil
        }

        /// What a worker does in the end, and when. Nil if that is not within an hour.
        func outcome() -> (action: NameDispute.Action, seconds: Double)? {
            var dispute = NameDisputeTests.fenced()
            var asked = 1.0
            while asked < 3600 {
                let now = pauses.first { $0.contains(asked) }?.upperBound ?? asked
                let action =
                    outages.contains { $0.contains(asked) }
                    ? dispute.noteNoAnswer(now: at(now))
                    : dispute.noteMember(member(at: asked), asked: at(asked), now: at(now))
                guard case .check(let moment) = action else { return (action, now) }
                asked = Double(moment.nanoseconds) / 1e9
            }
            return nil
        }
    }

    /// In all but the first of these, the worker took itself for the victim of another process while a session since the fencing was
    /// all that counted.
    @Test(
        arguments: [
            ("its shadow is silent", Group(), 11),
            ("its broker crashes and comes back", Group(outages: [5..<8]), 19),
            ("its broker is away between two looks", Group(outages: [4.5..<5.5]), 16),
            ("its broker crashes again and again", Group(outages: (0..<20).map { Double($0 * 8 + 4)..<Double($0 * 8 + 8) }), 171),
            ("its broker comes back late", Group(outages: [2..<12.5]), 23),
            ("its group moves to another broker, and back", Group(moves: [9, 18]), 29),
            ("its group is rebalanced", Group(rebalances: [4..<16]), 27),
            ("its group is rebalanced for a minute", Group(rebalances: [4..<64]), 75),
            ("a join on its way makes one more shadow", Group(joins: [0, 8]), 19),
            ("it stands still with an answer", Group(pauses: [9..<60]), 61),
            ("a client of its own lives on", Group(isOwn: true), 1),
        ] as [(String, Group, Double)])
    private func aWorkerThatIsAloneJoinsAgain(course: String, group: Group, seconds: Double) throws {
        let outcome = try #require(group.outcome())
        #expect(outcome.action == .rejoin && outcome.seconds == seconds)
    }

    @Test(
        arguments: [
            ("from the start", Group(isHeld: true), 15), ("from later on", Group(joins: [0, 8], isHeld: true), 22),
            ("through a crash of its broker", Group(outages: [5..<8], isHeld: true), 22),
            ("through a rebalance", Group(rebalances: [4..<16], isHeld: true), 30),
            ("on another broker", Group(moves: [9], isHeld: true), 23),
        ] as [(String, Group, Double)])
    private func aWorkerWhoseNameAnotherHasEnds(since: String, group: Group, seconds: Double) throws {
        let outcome = try #require(group.outcome())
        #expect(outcome.action == .end && outcome.seconds == seconds)
    }

    @Test func looksThatAreFarApartProveNothing() {
        for (distance, isProof) in [(3.0, true), (3.1, false)] {
            var dispute = Self.fenced()
            var actions: [NameDispute.Action] = []
            for look in 1...20 {
                let now = Self.at(Double(look) * distance)
                let member = NameMember(memberID: "other", coordinator: nil, isStable: true)
                actions.append(dispute.noteMember(member, asked: now, now: now))
            }
            #expect(actions.contains(.end) == isProof)
        }
    }

    @Test func anAnswerSaysNothingOfTheTimeBehindItsQuestion() {
        var dispute = Self.fenced()
        let member = NameMember(memberID: "other", coordinator: 1, isStable: true)
        for second in 1...13 { _ = dispute.noteMember(member, asked: Self.at(Double(second)), now: Self.at(Double(second))) }
        let late = dispute.noteMember(member, asked: Self.at(14), now: Self.at(14.9))
        let next = dispute.noteMember(member, asked: Self.at(15.9), now: Self.at(15.9))
        #expect(late == .check(at: Self.at(15.9)) && next == .end)
    }

    @Test func aNewFencingNeedsANewProof() {
        var dispute = Self.fenced()
        let member = NameMember(memberID: "other", coordinator: 1, isStable: true)
        for second in 1...14 { _ = dispute.noteMember(member, asked: Self.at(Double(second)), now: Self.at(Double(second))) }
        _ = dispute.fenced(as: nil, now: Self.at(14.5), jitter: 0)
        let first = dispute.noteMember(member, asked: Self.at(15), now: Self.at(15))
        #expect(first == .check(at: Self.at(16)))
    }

    @Test(arguments: [(1, .check(at: at(2))), (13, .check(at: at(14))), (13.5, .rejoin)] as [(Double, NameDispute.Action)])
    func brokersThatSayNothingAreAskedForASession(seconds: Double, action: NameDispute.Action) {
        var dispute = Self.fenced()
        let first = dispute.noteNoAnswer(now: Self.at(seconds))
        #expect(first == action)
        var other = Self.fenced()
        let member = NameMember(memberID: "other", coordinator: 1, isStable: true)
        _ = other.noteMember(member, asked: Self.at(20), now: Self.at(20))
        let behindAnAnswer = other.noteNoAnswer(now: Self.at(20 + seconds))
        #expect((behindAnAnswer == .rejoin) == (action == .rejoin))
    }

    @Test(
        arguments: [
            (0.0, [0.5, 1, 2, 4, 8, 15, 15, 15]), (1, [1, 2, 4, 8, 16, 30, 30, 30]), (7, [1, 2, 4]), (-1, [0.5, 1]),
        ] as [(Double, [Double])])
    func theWaitDoublesUpToItsLimit(jitter: Double, waits: [Double]) {
        var dispute = NameDispute(session: Self.session)
        for wait in waits {
            let action = dispute.fenced(as: nil, now: Self.at(5), jitter: jitter)
            #expect(action == .check(at: Self.at(5 + wait)))
        }
    }

    @Test func afterACalmTheWaitIsShortAgain() {
        var dispute = NameDispute(session: Self.session)
        for _ in 0..<4 { _ = dispute.fenced(as: nil, now: Self.at(0), jitter: 1) }
        let stillLong = dispute.fenced(as: nil, now: Self.at(59), jitter: 1)
        let short = dispute.fenced(as: nil, now: Self.at(119), jitter: 1)
        #expect(stillLong == .check(at: Self.at(59 + 16)) && short == .check(at: Self.at(120)))
    }
}

/// When a worker that starts takes its name.
struct NameWatchTests {
    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test(arguments: [NameHolder.nobody, .own, .ended])
    func aNameThatIsFreeIsTakenAtOnce(sighting: NameHolder) {
        var watch = NameWatch()
        let action = watch.noteHolder(sighting, now: Self.at(0), jitter: 0.3)
        #expect(action == .take)
    }

    @Test(arguments: [NameHolder.other, .unnamed])
    func aNameThatAnotherHasIsWaitedForHoweverLong(sighting: NameHolder) {
        var watch = NameWatch()
        var now = Self.at(0)
        var waits: [Int64] = []
        for _ in 0..<1000 {
            guard case .check(let moment) = watch.noteHolder(sighting, now: now, jitter: 1) else {
                Issue.record("it was taken")
                return
            }
            waits.append(moment.nanoseconds(since: now) / 1_000_000)
            now = moment
        }
        #expect(waits.prefix(6) == [500, 1000, 2000, 4000, 5000, 5000] && waits.last == 5000)
        let action = watch.noteHolder(.nobody, now: now, jitter: 1)
        #expect(action == .take)
    }

    @Test func brokersThatSayNothingAreAskedForAWhile() {
        var watch = NameWatch()
        var now = Self.at(0)
        while case .check(let moment) = watch.noteNoAnswer(now: now, jitter: 1) { now = moment }
        #expect(now >= Self.at(30) && now <= Self.at(35))
    }

    @Test func anAnswerBeginsThatWhileAnew() {
        var watch = NameWatch()
        _ = watch.noteNoAnswer(now: Self.at(0), jitter: 1)
        _ = watch.noteHolder(.other, now: Self.at(20), jitter: 1)
        let first = watch.noteNoAnswer(now: Self.at(40), jitter: 1)
        let last = watch.noteNoAnswer(now: Self.at(70), jitter: 1)
        #expect(first != .take && last == .take)
    }
}
