import Basics

/// What the calls of one or several requests cost, as far as it is known before they are made.
struct PlanEstimate {
    /// What limits the calls, and how long one takes.
    struct Limits {
        /// Calls that one worker has in flight at once (`worker.max_in_flight`).
        var callsAtOnce: Int
        /// How long the hub takes for one call; it is unknown before the call.
        var callTime: Duration
        /// Calls that all workers together may start in a second (`hub.rate_limit`); 0 for as many as there are.
        var callsPerSecond = 0
    }

    /// Hub calls.
    private(set) var callCount = 0
    /// Bytes of the calls' requests, heads included.
    private(set) var byteCount = 0
    /// The requests of their own that large ones are sent as; 0 while there is none.
    private(set) var partCount = 0
    /// Whether a device could be in two calls of one request.
    private(set) var mayReachTwice = false
    private let limits: Limits

    /// Nothing yet.
    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Adds a call.
    mutating func add(callOf byteCount: Int) {
        callCount += 1
        self.byteCount += byteCount
    }

    /// Notes that the calls are made by parts.
    mutating func divide(into count: Int) {
        partCount += count
    }

    /// Notes that a device could be in two calls.
    mutating func noteOverlap() {
        mayReachTwice = true
    }

    /// Adds the calls of another request.
    mutating func add(_ other: PlanEstimate) {
        callCount += other.callCount
        byteCount += other.byteCount
        partCount += other.partCount
        mayReachTwice = mayReachTwice || other.mayReachTwice
    }

    /// How long one worker with nothing else to do takes. Calls that do not fit side by side follow each other, and no more are made in a
    /// second than the hub's rate allows.
    private var milliseconds: Int64 {
        let rounds = (callCount + limits.callsAtOnce - 1) / limits.callsAtOnce
        let (time, overflow) = limits.callTime.wholeMilliseconds.multipliedReportingOverflow(by: Int64(rounds))
        let byRate = limits.callsPerSecond > 0 ? Int64(callCount) * 1000 / Int64(limits.callsPerSecond) : 0
        return overflow ? .max : max(time, byRate)
    }

    /// One line.
    var text: String {
        let calls = callCount == 1 ? "1 call" : "\(callCount) calls"
        let rate = limits.callsPerSecond > 0 ? ", \(limits.callsPerSecond) a second" : ""
        let time = TimeText.length(milliseconds: limits.callTime.wholeMilliseconds)
        let limit = "\(limits.callsAtOnce) at once, \(time) each\(rate)"
        let parts = partCount > 0 ? " in \(partCount) parts" : ""
        let isRounded = partCount > 0 ? "about " : ""
        return "\(calls)\(parts), \(isRounded)\(byteCount) bytes, about \(TimeText.length(milliseconds: milliseconds)) (\(limit))"
    }

    /// The same as a JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("calls", callCount)
        if partCount > 0 { object.add("parts", partCount) }
        object.add("bytes", byteCount)
        object.add("calls_at_once", limits.callsAtOnce)
        if limits.callsPerSecond > 0 { object.add("calls_per_second", limits.callsPerSecond) }
        object.add("estimated_ms", Int(milliseconds))
        object.add("may_reach_twice", mayReachTwice)
        return object.bytes
    }
}
