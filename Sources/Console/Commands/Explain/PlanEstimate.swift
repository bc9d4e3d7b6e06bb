/// What the calls of one or several requests cost, as far as it is known before they are made.
struct PlanEstimate {
    /// What limits the calls, and how long one takes.
    struct Limits {
        /// Calls that one worker has under way at once (`worker.max_in_flight`).
        var callsAtOnce: Int
        /// How long the hub takes for one call; nobody knows before it is made.
        var callTime: Duration
    }

    /// Hub calls.
    private(set) var callCount = 0
    /// Bytes of the calls' requests, heads included.
    private(set) var byteCount = 0
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

    /// Notes that a device could be in two calls.
    mutating func noteOverlap() {
        mayReachTwice = true
    }

    /// Adds the calls of another request.
    mutating func add(_ other: PlanEstimate) {
        callCount += other.callCount
        byteCount += other.byteCount
        mayReachTwice = mayReachTwice || other.mayReachTwice
    }

    /// How long one worker with nothing else to do takes: as many calls after each other as do not fit side by side.
    private var milliseconds: Int64 {
        let rounds = (callCount + limits.callsAtOnce - 1) / limits.callsAtOnce
        let (time, overflow) = limits.callTime.wholeMilliseconds.multipliedReportingOverflow(by: Int64(rounds))
        return overflow ? .max : time
    }

    /// One line.
    var text: String {
        let calls = callCount == 1 ? "1 call" : "\(callCount) calls"
        let limit = "\(limits.callsAtOnce) at once, \(TimeText.length(milliseconds: limits.callTime.wholeMilliseconds)) each"
        return "\(calls), \(byteCount) bytes, about \(TimeText.length(milliseconds: milliseconds)) (\(limit))"
    }

    /// The same as a JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("calls", callCount)
        object.add("bytes", byteCount)
        object.add("calls_at_once", limits.callsAtOnce)
        object.add("estimated_ms", Int(milliseconds))
        object.add("may_reach_twice", mayReachTwice)
        return object.bytes
    }
}
