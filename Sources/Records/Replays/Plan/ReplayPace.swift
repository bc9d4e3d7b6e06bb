import Basics

/// The pace of a replay.
package struct ReplayPace: Sendable {
    /// Requests a second, above 0.
    package let rate: Double
    /// Calls that one worker has in flight at once (`worker.max_in_flight`).
    package let callsAtOnce: Int
    /// The hub's duration of one call.
    package let callTime: Duration

    /// A pace of the given parts.
    package init(rate: Double, callsAtOnce: Int, callTime: Duration) {
        self.rate = rate
        self.callsAtOnce = callsAtOnce
        self.callTime = callTime
    }

    /// The duration of requests and calls, in milliseconds: whichever is slower.
    package func milliseconds(requests: Int, calls: Int) -> Int64 {
        let writing = Double(requests) / rate * 1000
        let rounds = (calls + callsAtOnce - 1) / max(1, callsAtOnce)
        let calling = Double(rounds) * Double(callTime.wholeMilliseconds)
        return Int64(min(max(writing, calling), 1e15))
    }
}
