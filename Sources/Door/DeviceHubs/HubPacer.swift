package import Basics
import Delivery
import Dispatch
import EventLoop
import HubREST
import PushModel
import Synchronization

/// The pace of a gateway's calls to one hub: so many a second, and none while the hub wants rest.
package final class HubPacer: Sendable {
    /// The longest time that a call waits for its turn, nanoseconds.
    static let patience: Int64 = 2_000_000_000
    /// The nanoseconds in which the rate brings a burst.
    private static let burst: Int64 = 2_000_000_000

    /// The next thing that a call does.
    enum Step: Sendable, Equatable {
        case go
        case wait(until: MonotonicTime)
        /// Milliseconds until one may go.
        case refuse(after: Int64)
    }

    private struct State {
        var bucket: TokenBucket
        var pause = HubPause()
    }

    /// Nothing else is locked while it is held.
    private let state: Mutex<State>
    /// Is signalled at the end, and wakes all that wait.
    private let ending = DispatchSemaphore(value: 0)
    private let now: @Sendable () -> MonotonicTime

    /// A pace of `rate` calls a second, and twice as many at once.
    package init(rate: Int, now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() }) {
        var bucket = TokenBucket(rate: Int64(clamping: rate) * 1000, burst: Self.burst, now: now())
        bucket.fill()
        state = Mutex(State(bucket: bucket))
        self.now = now
    }

    /// Waits until a call may be made. It throws where that would take too long, or the gateway stops.
    func waitForTurn() throws(RegistrationFailure) {
        let began = now()
        while true {
            switch step(since: began) {
            case .go: return
            case .refuse(let wait): throw .held(for: wait)
            case .wait(let moment):
                let left = max(0, moment.nanoseconds(since: now()))
                guard ending.wait(timeout: .now() + .nanoseconds(Int(left))) == .timedOut else {
                    ending.signal()
                    throw .held(for: 1000)
                }
            }
        }
    }

    /// Decides about a call that waits since a moment. It is counted where it may go.
    func step(since began: MonotonicTime) -> Step {
        let now = now()
        return state.withLock { state -> Step in
            let due = max(state.pause.end(now: now) ?? now, state.bucket.nextCall(now: now) ?? now)
            guard due > now else {
                state.bucket.take()
                return .go
            }
            // Rounded up, so that whoever waits that long does not come too early.
            return due.nanoseconds(since: began) > Self.patience
                ? .refuse(after: due.nanoseconds(since: now) / 1_000_000 + 1) : .wait(until: due)
        }
    }

    /// Takes in what the hub has said: one that throttles, or is not available, is left alone as long as it wants.
    func note(_ failure: RegistrationFailure) {
        guard failure.cause == .refused, let wait = failure.retryAfter, failure.status == 429 || failure.status == 503
        else { return }
        let now = now()
        state.withLock { $0.pause.asked(for: wait, now: now) }
    }

    /// Ends every wait.
    func stop() { ending.signal() }
}

extension RegistrationFailure {
    /// A call that is not made yet, for so many milliseconds.
    static func held(for wait: Int64) -> RegistrationFailure {
        var failure = RegistrationFailure(.held, code: .hubThrottled, isWorthRetrying: true)
        failure.retryAfter = wait
        return failure
    }
}
