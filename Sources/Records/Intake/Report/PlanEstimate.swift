internal import PushModel

/// The estimated cost of the calls of one or several requests.
public struct PlanEstimate: Sendable, Equatable {
    /// The limits of the calls, and the duration of one.
    public struct Limits: Sendable, Equatable {
        /// Calls that one worker has in flight at once (`worker.max_in_flight`), from 1.
        public var callsAtOnce: Int
        /// Milliseconds that the hub is thought to take for one call.
        public var callMilliseconds: Int64
        /// Calls that all workers together may start in a second (`hub.rate_limit`), or 0 for no limit.
        public var callsPerSecond: Int

        /// Limits without a rate.
        public init(callsAtOnce: Int, callMilliseconds: Int64, callsPerSecond: Int = 0) {
            self.callsAtOnce = callsAtOnce
            self.callMilliseconds = callMilliseconds
            self.callsPerSecond = callsPerSecond
        }
    }

    /// Hub calls.
    public private(set) var callCount = 0
    /// Bytes of the calls' requests, heads included.
    public private(set) var byteCount = 0
    /// The number of requests of their own into which large ones are divided, or 0 without any.
    public private(set) var partCount = 0
    /// True if a device could be in two calls of one request.
    public private(set) var mayReachTwice: Bool
    /// The limits of the calls.
    public let limits: Limits

    /// No calls yet.
    init(_ limits: Limits, mayReachTwice: Bool) {
        self.limits = limits
        self.mayReachTwice = mayReachTwice
    }

    mutating func add(callOf byteCount: Int) {
        callCount += 1
        self.byteCount += byteCount
    }

    /// Notes that the calls are made by parts.
    mutating func divide(into count: Int) { partCount += count }

    /// Adds the calls of another request.
    public mutating func add(_ other: PlanEstimate) {
        callCount += other.callCount
        byteCount += other.byteCount
        partCount += other.partCount
        mayReachTwice = mayReachTwice || other.mayReachTwice
    }

    /// Milliseconds that one worker with nothing else to do takes. Calls that do not fit side by side follow each other, and no more are
    /// made in a second than the hub's rate allows.
    public var milliseconds: Int64 {
        let rounds = (callCount + limits.callsAtOnce - 1) / limits.callsAtOnce
        let (time, overflow) = limits.callMilliseconds.multipliedReportingOverflow(by: Int64(rounds))
        let byRate = limits.callsPerSecond > 0 ? Int64(callCount) * 1000 / Int64(limits.callsPerSecond) : 0
        return overflow ? .max : max(time, byRate)
    }

    /// The estimate as a JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("calls", value: callCount)
        if partCount > 0 { object.add("parts", value: partCount) }
        object.add("bytes", value: byteCount)
        object.add("calls_at_once", value: limits.callsAtOnce)
        if limits.callsPerSecond > 0 { object.add("calls_per_second", value: limits.callsPerSecond) }
        object.add("estimated_ms", value: Int(milliseconds))
        object.add("may_reach_twice", value: mayReachTwice)
        return object.bytes
    }
}
