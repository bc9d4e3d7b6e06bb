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
        _ = dispute.fenced(now: at(0), jitter: 1)
        return dispute
    }

    @Test(
        arguments: [
            (.nobody, 1, .rejoin), (.nobody, 100, .rejoin), (.own, 1, .check(at: at(2))), (.ended, 1, .check(at: at(2))),
            (.other, 1, .check(at: at(2))), (.other, 100, .end), (.own, 100, .end), (.ended, 13.5, .end),
            (.unnamed, 13, .check(at: at(14))), (.unnamed, 13.5, .end),
        ] as [(NameHolder, Double, NameDispute.Action)])
    func onlyWhoHasTheNameForLongerThanASessionEndsTheWorker(sighting: NameHolder, seconds: Double, action: NameDispute.Action) {
        #expect(Self.fenced().noteHolder(sighting, now: Self.at(seconds)) == action)
    }

    @Test(arguments: [(1, .check(at: at(2))), (13, .check(at: at(14))), (13.5, .rejoin)] as [(Double, NameDispute.Action)])
    func brokersThatSayNothingAreAskedForASession(seconds: Double, action: NameDispute.Action) {
        #expect(Self.fenced().noteNoAnswer(now: Self.at(seconds)) == action)
    }

    @Test(
        arguments: [
            (0.0, [0.5, 1, 2, 4, 8, 15, 15, 15]), (1, [1, 2, 4, 8, 16, 30, 30, 30]), (7, [1, 2, 4]), (-1, [0.5, 1]),
        ] as [(Double, [Double])])
    func theWaitDoublesUpToItsLimit(jitter: Double, waits: [Double]) {
        var dispute = NameDispute(session: Self.session)
        for wait in waits {
            let action = dispute.fenced(now: Self.at(5), jitter: jitter)
            #expect(action == .check(at: Self.at(5 + wait)))
        }
    }

    @Test func afterACalmTheWaitIsShortAgain() {
        var dispute = NameDispute(session: Self.session)
        for _ in 0..<4 { _ = dispute.fenced(now: Self.at(0), jitter: 1) }
        let stillLong = dispute.fenced(now: Self.at(59), jitter: 1)
        let short = dispute.fenced(now: Self.at(119), jitter: 1)
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
