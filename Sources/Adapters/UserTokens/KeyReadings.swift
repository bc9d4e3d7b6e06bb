import Basics

/// Decides when the keys are read: in regular intervals, soon after a read that failed, and when a token asks for it. Pure.
struct KeyReadings: Sendable {
    /// The shortest time between two reads that tokens ask for. It bounds what strangers can have the gateway do.
    static let pause: Duration = .seconds(10)

    private let interval: Duration
    private var isReading = false
    private var began: MonotonicTime?
    /// The moment of the next read.
    private(set) var next = MonotonicTime.past
    /// True if the last read failed.
    private(set) var hasFailed = false

    /// Readings in intervals of at least 1 s. The first is due.
    init(every interval: Duration) { self.interval = max(interval, .seconds(1)) }

    /// Says if a read is due, which begins then.
    mutating func begin(at now: MonotonicTime) -> Bool {
        guard !isReading, next <= now else { return false }
        (isReading, began) = (true, now)
        return true
    }

    /// Notes the end of a read.
    mutating func end(at now: MonotonicTime, failed hasFailed: Bool) {
        isReading = false
        self.hasFailed = hasFailed
        next = now.advanced(by: hasFailed ? min(interval, Self.pause) : interval)
    }

    /// Asks for a read, because a token names a key that is not known.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - age: The seconds since the token was made, at least, or nil where it does not say. The last read may have been before its key was
    ///     listed, and the next one is as soon as one may be then.
    /// - Returns: True if a read is in progress, begins now, or is sooner for this token.
    mutating func ask(at now: MonotonicTime, tokenAge age: Int64? = nil) -> Bool {
        if isReading || next <= now { return true }
        let soonest = max(now, began?.advanced(by: Self.pause) ?? .past)
        let isNewer = age.map { age in began.map { age <= (now - $0) / 1_000_000_000 } ?? false } ?? false
        guard soonest == now || isNewer else { return false }
        next = min(next, soonest)
        return true
    }

    /// The milliseconds until the next read, at least one second.
    func wait(at now: MonotonicTime) -> Int64 { max(1000, isReading ? 0 : (next - now) / 1_000_000) }
}
