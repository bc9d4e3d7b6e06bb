import Basics
import Delivery
import TestSupport
import Testing

struct HubAvailabilityTests {
    private static let second: Int64 = 1_000_000_000
    private static let good = HubFinding(status: 404, detail: "", asksToWait: false)
    private static let refused = HubFinding(status: 401, detail: "", asksToWait: false)
    private static let out = HubFinding(status: 503, detail: "", asksToWait: false)

    private static func moment(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

    private static func asked(_ finding: HubFinding, at seconds: Int64 = 0) -> HubAvailability {
        var standing = HubAvailability(of: "h", isAsked: true)
        standing.asked()
        standing.note(finding, now: moment(seconds))
        return standing
    }

    @Test(arguments: [true, false]) func anUnknownHubIsAskedAtOnceAndDoesNotCountAsGood(isIdle: Bool) {
        var standing = HubAvailability(of: "h", isAsked: true)
        #expect(standing.isDue(isClosed: true, isIdle: isIdle, now: Self.moment(0)))
        #expect(!standing.isWell(isClosed: true))
        #expect(standing.problem(isClosed: true, reason: nil) == "the hub h is being asked whether it takes the key")
        standing.asked()
        #expect(!standing.isDue(isClosed: true, isIdle: isIdle, now: Self.moment(9)), "one question at a time")
        standing.mustAskAgain()
        #expect(standing.isDue(isClosed: true, isIdle: isIdle, now: Self.moment(9)))
    }

    @Test func aHubThatIsNeverAskedIsGoodUntilCallsFail() {
        var standing = HubAvailability(of: "h", isAsked: false)
        #expect(standing.isWell(isClosed: true) && standing.problem(isClosed: true, reason: nil) == nil)
        for _ in 0..<3 { standing.noteFailure("timeout") }
        #expect(!standing.isWell(isClosed: true))
        #expect(!standing.isDue(isClosed: true, isIdle: true, now: Self.moment(100)))
    }

    @Test func aGoodHubIsNotAskedAgain() {
        let standing = Self.asked(Self.good)
        #expect(standing.isWell(isClosed: true) && standing.problem(isClosed: true, reason: nil) == nil)
        #expect(!standing.isDue(isClosed: true, isIdle: true, now: Self.moment(1_000_000)))
    }

    @Test(arguments: [
        (refused, "the hub h refuses the key: 401"), (out, "the hub h answers 503"),
    ])
    func aBadFindingIsTheReason(finding: HubFinding, sentence: String) {
        let standing = Self.asked(finding)
        #expect(standing.problem(isClosed: true, reason: nil) == sentence)
        let both = standing.problem(isClosed: false, reason: .failuresInRow)
        #expect(both?.hasPrefix(sentence + "; the circuit of the hub h is open (failures_in_row)") == true)
    }

    @Test func aBadHubIsAskedAfterWaitsThatDoubleWhileThereIsNothingToSend() {
        var standing = Self.asked(Self.out)
        var now: Int64 = 0
        for wait: Int64 in [1, 2, 4, 8, 16, 30, 30] {
            #expect(!standing.isDue(isClosed: true, isIdle: true, now: Self.moment(now + wait) + -1))
            #expect(!standing.isDue(isClosed: true, isIdle: false, now: Self.moment(now + wait)), "calls tell")
            now += wait
            #expect(standing.isDue(isClosed: true, isIdle: true, now: Self.moment(now)))
            standing.asked()
            standing.note(Self.out, now: Self.moment(now))
        }
        standing.answered()
        #expect(standing.isWell(isClosed: true))
        standing.asked()
        standing.note(Self.out, now: Self.moment(now))
        #expect(
            standing.isDue(isClosed: true, isIdle: true, now: Self.moment(now + 1)), "a new trouble begins with the first wait")
    }

    /// What the first question comes to, why calls are held then, and whether a worker may take requests for the hub.
    @Test(
        arguments: [
            (good, nil, true), (HubFinding(status: 429, detail: "", asksToWait: true), nil, true),
            (HubFinding(status: 403, detail: "", asksToWait: false), nil, true),
            (HubFinding(status: 405, detail: "", asksToWait: false), nil, true), (out, nil, true),
            (refused, .keyRefused, false), (HubFinding(unanswered: "", isTrust: false), .away, true),
            (HubFinding(unanswered: "", isTrust: true), .away, true),
            (HubFinding(status: 404, detail: "No service is hosted here", asksToWait: false), .away, true),
        ] as [(HubFinding, HubAvailability.Hold?, Bool)])
    func callsAreHeldUntilAQuestionHasShownThatTheyCanSucceed(
        finding: HubFinding, hold: HubAvailability.Hold?, allowsJoining: Bool
    ) {
        let fresh = HubAvailability(of: "h", isAsked: true)
        #expect(fresh.hold == .unasked && fresh.hold?.allowsJoining == false)
        var standing = Self.asked(finding)
        #expect(standing.hold == hold && standing.hold?.allowsJoining ?? true == allowsJoining)
        standing.asked()
        standing.note(Self.good, now: Self.moment(1))
        #expect(standing.hold == nil)
    }

    @Test func aHubThatIsNeverAskedHoldsNoCalls() {
        #expect(HubAvailability(of: "h", isAsked: false).hold == nil)
    }

    @Test(arguments: [true, false]) func aKeyThatIsRefusedAfterItOnceWorkedHoldsNoCalls(byCall: Bool) {
        var standing = byCall ? Self.asked(Self.out) : Self.asked(Self.good)
        if byCall { standing.answered() }
        standing.asked()
        standing.note(Self.refused, now: Self.moment(1))
        #expect(standing.hold == nil && !standing.isWell(isClosed: true))
    }

    @Test func oneRefusalOfEveryKeyTellsAndIsAskedAboutEveryFiveSecondsAtMost() {
        var standing = Self.asked(Self.good)
        standing.noteFailure("it answers 401", isProof: true)
        #expect(standing.problem(isClosed: true, reason: nil) == "calls to the hub h fail: it answers 401")
        var now: Int64 = 1
        for wait: Int64 in [0, 1, 2, 4, 5, 5] {
            now += wait
            #expect(standing.isDue(isClosed: true, isIdle: true, now: Self.moment(now)))
            standing.asked()
            standing.note(Self.refused, now: Self.moment(now))
        }
        standing.asked()
        standing.note(Self.good, now: Self.moment(now))
        #expect(standing.isWell(isClosed: true))
    }

    @Test func aHubThatWasOutAndThenRefusesTheKeyHoldsCalls() {
        var standing = Self.asked(Self.out)
        standing.asked()
        standing.note(Self.refused, now: Self.moment(1))
        #expect(standing.hold == .keyRefused)
        #expect(standing.isDue(isClosed: false, isIdle: false, now: Self.moment(100)), "no call can be the circuit's probe")
    }

    @Test(arguments: [true, false]) func whileCallsAreHeldQuestionsAreTheProbes(isIdle: Bool) {
        var standing = Self.asked(Self.refused)
        var now: Int64 = 0
        for wait: Int64 in [1, 2, 4, 5, 5] {
            #expect(!standing.isDue(isClosed: true, isIdle: isIdle, now: Self.moment(now + wait) + -1))
            now += wait
            #expect(standing.isDue(isClosed: true, isIdle: isIdle, now: Self.moment(now)))
            standing.asked()
            standing.note(Self.refused, now: Self.moment(now))
        }
    }

    @Test(arguments: [(true, true), (false, false)])
    func aHubWhoseCircuitIsOpenIsNotWellAndIsAskedInPlaceOfCalls(isIdle: Bool, isDue: Bool) {
        let standing = Self.asked(Self.good)
        #expect(!standing.isWell(isClosed: false))
        #expect(standing.problem(isClosed: false, reason: .failureShare)?.contains("failure_share") == true)
        #expect(standing.isDue(isClosed: false, isIdle: isIdle, now: Self.moment(1)) == isDue)
    }

    @Test func aCallThatIsAnsweredTellsMoreThanAQuestionOfThatTime() {
        var standing = HubAvailability(of: "h", isAsked: true)
        standing.asked()
        standing.answered()
        standing.note(Self.out, now: Self.moment(1))
        #expect(standing.isWell(isClosed: true))
    }

    @Test func threeCallsInARowTellAndFewerDoNot() {
        var standing = Self.asked(Self.good)
        for _ in 0..<2 {
            standing.noteFailure("timeout")
            standing.noteFailure("timeout")
            #expect(standing.isWell(isClosed: true))
            standing.answered()
        }
        for _ in 0..<3 { standing.noteFailure("timeout") }
        #expect(standing.problem(isClosed: true, reason: nil) == "calls to the hub h fail: timeout")
        #expect(standing.isDue(isClosed: true, isIdle: true, now: Self.moment(1)))
    }

    /// Outages begin and end at random while nothing is sent. The hub is well again soon after each, its circuit closed, and it was not
    /// stormed in between.
    @Test(arguments: 1...4) func anIdleHubRecoversByItself(seed: Int) {
        var random = SeededRandom(seed)
        var standing = Self.asked(Self.good)
        var circuit = CircuitBreaker()
        var now = Self.moment(1)
        for _ in 0..<20 {
            while circuit.state == .closed {
                circuit.noteFailure(circuit.started(now: now), now: now, using: &random)
                now += 30_000_000
            }
            let end = now + Int64.random(in: 1...200, using: &random) * Self.second
            var questions = 0
            while !standing.isWell(isClosed: circuit.state == .closed), now < end + 60 * Self.second {
                let isClosed = circuit.state == .closed
                if standing.isDue(isClosed: isClosed, isIdle: true, now: now), isClosed || circuit.mayStart(now: now) {
                    let probe = isClosed ? nil : circuit.started(now: now)
                    standing.asked()
                    let isOut = now < end
                    if isOut { questions += 1 }
                    if let probe, isOut { circuit.noteFailure(probe, now: now, using: &random) }
                    if let probe, !isOut { circuit.succeeded(probe, now: now) }
                    standing.note(isOut ? Self.out : Self.good, now: now)
                }
                now += 200_000_000
            }
            #expect(standing.isWell(isClosed: circuit.state == .closed) && now - end <= 40 * Self.second)
            #expect(questions <= 14, "\(questions) in at most 200 s")
        }
    }
}
