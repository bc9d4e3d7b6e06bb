import HubEmulator
import Synchronization
import TestSupport
import WorkerRuntime

extension Bench {
    /// Has the hub refuse the first call and be left alone for as long as a pause can be, until the clock is moved on.
    static let rest = "throttle,retry-after=300,count=1"

    /// Whether the worker has taken in that a call is to be tried again.
    var hasRetries: Bool { metric("pushfan_retries_scheduled_total") >= 1 }

    /// Ends such a rest, and whatever else began before and lasts no more than five minutes.
    func endRest() { clock.advance(by: .seconds(310)) }

    /// Waits until `condition` holds, and moves the clock on by `step` at every look: for what takes several waits one after the other.
    /// Not further than an hour in all: brokers refuse records that are further ahead (`message.timestamp.after.max.ms`).
    func passTime(by step: Duration, until condition: () throws -> Bool) rethrows -> Bool {
        try eventually {
            if try condition() { return true }
            clock.advance(by: step)
            return false
        }
    }

    /// The calls that the hub got, by their tags.
    var tags: [String] { hub.calls().compactMap(\.tags) }
}

/// Lets a hub read calls only when a test says so.
final class HubGate: Sendable {
    private struct State {
        var isOpen = true
        var admitted = 0
    }

    private let state = Mutex(State())

    /// Holds every call from now on.
    func close() { state.withLock { $0 = State(isOpen: false) } }

    /// Lets so many calls more through.
    func admit(_ count: Int) { state.withLock { $0.admitted += count } }

    /// Lets all calls through again.
    func open() { state.withLock { $0.isOpen = true } }

    /// Waits for one's turn.
    func pass() {
        _ = eventually {
            state.withLock { state in
                if !state.isOpen {
                    guard state.admitted > 0 else { return false }
                    state.admitted -= 1
                }
                return true
            }
        }
    }
}
