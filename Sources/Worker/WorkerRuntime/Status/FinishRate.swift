import Basics

/// The number of requests that were finished per second over the last ten seconds, from a count that is read once a second.
struct FinishRate {
    /// The newest last.
    private var samples: [(at: MonotonicTime, count: Int)] = []

    private static let span: Int64 = 10_000_000_000

    /// Takes in the count at a moment.
    mutating func add(_ count: Int, at now: MonotonicTime) {
        samples.append((now, count))
        while samples.count > 2, now - samples[1].at >= Self.span { samples.removeFirst() }
    }

    /// Requests per second, or 0 before there are two samples.
    var perSecond: Double {
        guard let first = samples.first, let last = samples.last, last.at > first.at else { return 0 }
        return Double(last.count - first.count) * 1e9 / Double(last.at - first.at)
    }
}
