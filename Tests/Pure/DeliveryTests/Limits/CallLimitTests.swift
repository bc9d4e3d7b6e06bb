import Basics
import Delivery
import TestSupport
import Testing

/// What calls to a hub wait for.
struct CallLimitTests {
    /// A fact about a hub at 2 s, while calls wait.
    enum Fact: Sendable {
        case overdue, held, out, pause
        /// So many calls are in flight, of so many at most.
        case calls(Int, of: Int)
        /// The hub throttled each fourth of 20 calls in a second, so that 16 go in the next.
        case throttling
        /// So many calls may begin in a second.
        case rate(Int)
        /// The same by an order.
        case order(Int)
    }

    private static let now = MonotonicTime.at(2 * HubOutage.second)

    private static func limits(_ facts: [Fact]) -> (limits: HubLimits, isOverdue: Bool) {
        var most = 64
        for case .calls(_, let some) in facts { most = some }
        var (limits, isOverdue) = (HubLimits(concurrency: ConcurrencyLimit(most: most)), false)
        func setRate(_ rate: Int, order: String? = nil) {
            limits.rate = RateLimit(callsPerSecond: rate, member: 1, now: now)
            limits.rate?.owns(1, now: now)
            limits.rate?.sharesByPartitions(1, now: now)
            limits.rate?.setLimit(callsPerSecond: rate, order: order, now: now)
        }
        for fact in facts {
            switch fact {
            case .overdue: isOverdue = true
            case .held: limits.isHeld = true
            case .out: limits.circuit = .opened
            case .pause: limits.pause.asked(for: 60_000, now: now)
            case .calls(let count, _): for _ in 0..<count { _ = limits.started(now: now) }
            case .throttling:
                for place in 0..<40 {
                    let moment = MonotonicTime.at(Int64(place) * 50 * HubOutage.millisecond)
                    _ = limits.started(now: moment)
                    limits.noteEnd(startedAt: moment)
                    _ = limits.answered(isRefusal: place % 4 == 0 && place > 0, now: moment)
                }
            case .rate(let rate): setRate(rate)
            case .order(let rate): setRate(rate, order: "l-12345678")
            }
        }
        limits.noteWaiting(true, now: now)
        return (limits, isOverdue)
    }

    @Test(
        arguments: [
            ([], nil),
            ([.overdue, .out, .calls(4, of: 4)], CallLimit(.kafka)),
            ([.held, .pause], CallLimit(.outage)),
            ([.out, .rate(10)], CallLimit(.outage)),
            ([.pause, .rate(10)], CallLimit(.pause)),
            ([.calls(4, of: 4)], CallLimit(.inFlight)),
            ([.calls(3, of: 4)], nil),
            ([.calls(16, of: 64)], CallLimit(.adaptive)),
            ([.calls(15, of: 64)], nil),
            ([.rate(10), .calls(16, of: 64)], CallLimit(.adaptive)),
            ([.rate(10), .calls(3, of: 64)], CallLimit(.rateLimit, rate: 10_000)),
            ([.order(10)], CallLimit(.order, rate: 10_000, order: "l-12345678")),
            ([.throttling], CallLimit(.throttle, rate: 16_000)),
            ([.throttling, .rate(17)], CallLimit(.throttle, rate: 16_000)),
            ([.throttling, .rate(15)], CallLimit(.rateLimit, rate: 15_000)),
        ] as [([Fact], CallLimit?)])
    func theLimitThatHoldsCallsIsNamed(facts: [Fact], expected: CallLimit?) {
        var (limits, isOverdue) = Self.limits(facts)
        let found = limits.callLimit(isCommitOverdue: isOverdue, now: Self.now)
        #expect(found == expected)
    }

    /// A turn begins when the next call may go, and the report is made before it goes.
    @Test func aRateCountsInTheTurnThatItLetsACallGo() {
        var (limits, _) = Self.limits([.rate(10)])
        let next = Self.now + 100 * HubOutage.millisecond
        let mayStart = limits.mayStart(now: next)
        let found = limits.callLimit(now: next)
        #expect(mayStart && found == CallLimit(.rateLimit, rate: 10_000))
        limits.noteWaiting(false, now: next)
        let after = limits.callLimit(now: next)
        #expect(after == nil)
    }

    @Test func theWordsAreThoseOfDashboards() {
        #expect(
            CallLimit.Cause.allCases.map(\.rawValue) == [
                "kafka", "outage", "pause", "in_flight", "adaptive", "throttle", "rate_limit", "limit",
            ])
    }
}
