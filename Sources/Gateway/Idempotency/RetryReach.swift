import Basics
import Observability

/// The time for which workers find a repeated request: while it is within `dedupe.reach` offsets behind the first in its partition.
///
/// With keys that spread evenly that is reach × partitions ÷ rate.
struct RetryReach: Sendable, Equatable {
    /// Seconds for which a caller that gets no answer is expected to go on trying.
    static let retrySeconds = 60

    /// `dedupe.reach`, in offsets.
    let offsets: Int
    /// The partitions of the topic of requests.
    let partitions: Int

    /// The requests in a second up to which a minute of retries is within reach.
    var highestRate: Double { Double(offsets) * Double(partitions) / Double(Self.retrySeconds) }

    /// Computes the time for which a repeated request is found.
    ///
    /// - Parameter rate: The requests that are written in a second.
    /// - Returns: Seconds, or nil where that does not end.
    func seconds(atRate rate: Double) -> Double? {
        rate > 0 ? Double(offsets) * Double(partitions) / rate : nil
    }

    /// Finds out whether a retry within a minute may be out of reach.
    ///
    /// - Parameter rate: The requests that are written in a second.
    /// - Returns: True if it may.
    func isShort(atRate rate: Double) -> Bool { rate * Double(Self.retrySeconds) > Double(offsets) * Double(partitions) }
}

/// Finds out when a gateway publishes so fast that a minute of retries is out of reach. Without clock.
struct RetryReachWatch: Sendable {
    /// Time over which the rate is measured.
    private static let span = Duration.seconds(60)

    private let reach: RetryReach
    private var start: (time: MonotonicTime, count: UInt64)?
    private var hasWarned = false

    /// Nothing is measured yet.
    init(_ reach: RetryReach) {
        self.reach = reach
    }

    /// Notes how much was published. Called every few seconds.
    ///
    /// - Parameters:
    ///   - count: The requests published since the process began.
    ///   - now: The present.
    /// - Returns: The rate of the last minute in requests for each second, if it is too high and that was not said before.
    mutating func rateToWarnOf(published count: UInt64, now: MonotonicTime) -> Double? {
        guard let start else {
            start = (now, count)
            return nil
        }
        let elapsed = now - start.time
        guard now >= start.time.advanced(by: Self.span) else { return nil }
        self.start = (now, count)
        let rate = Double(count - min(start.count, count)) * 1e9 / Double(elapsed)
        guard reach.isShort(atRate: rate), !hasWarned else { return nil }
        hasWarned = true
        return rate
    }
}

extension GatewayServices {
    /// Warns that retries of a minute are out of reach.
    ///
    /// - Parameters:
    ///   - reach: The reach.
    ///   - rate: The requests published in a second.
    func warn(of reach: RetryReach, atRate rate: Double) {
        let seconds = Int64((reach.seconds(atRate: rate) ?? 0).rounded(.down))
        log.warning(
            .configurationDoubtful, "a publish that is repeated within a minute may be sent twice: raise dedupe.reach",
            [
                .setting: "dedupe.reach", .count: LogValue(Int64(rate.rounded())),
                .reason: .string("at this rate in a second a repetition is found for \(seconds) s"),
            ])
    }
}
