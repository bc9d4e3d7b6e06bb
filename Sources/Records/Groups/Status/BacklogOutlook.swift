import JobSupport

/// The end of a backlog, estimated by present rates. Pure.
package struct BacklogOutlook: Sendable, Equatable {
    /// The course of the backlog.
    package enum Trend: Sendable, Equatable {
        /// It is done after a time in milliseconds.
        case ends(after: Int64)
        /// More comes than ends.
        case grows
        /// About as much comes as ends.
        case stays
        /// Nothing comes or ends.
        case stands
    }

    /// The course of the backlog.
    package let trend: Trend
    /// True if fewer requests may wait than were counted, so that it may be done earlier.
    package let isAtMost: Bool
    /// The requests that end in a second.
    package let finishedPerSecond: Double
    /// The requests that come in a second, or nil if that is not known.
    package let publishedPerSecond: Double?

    /// The part by which two rates may differ and count as equal, since both are measured.
    private static let tolerance = 0.05
    /// The longest time of an estimate, milliseconds: a thousand days.
    private static let longest = 86_400_000_000.0

    /// An estimate for requests that wait in lanes. Nil if none waits.
    package init?(waiting: Int64, isAtMost: Bool, finishedPerSecond: Double, publishedPerSecond: Double?) {
        guard waiting > 0 else { return nil }
        let (end, come) = (Self.tenths(finishedPerSecond), publishedPerSecond.map(Self.tenths))
        (self.isAtMost, self.finishedPerSecond, self.publishedPerSecond) = (isAtMost, end, come)
        let rest = end - (come ?? 0)
        if end == 0, rest == 0 {
            trend = .stands
        } else if abs(rest) <= end * Self.tolerance {
            trend = .stays
        } else {
            trend = rest < 0 ? .grows : .ends(after: Int64(min(Double(waiting) * 1000 / rest, Self.longest)))
        }
    }

    /// The estimate in one line.
    package var text: String {
        let end = "\(Self.text(finishedPerSecond))/s"
        let come = publishedPerSecond.flatMap { $0 > 0 ? "\(Self.text($0))/s come, \(end) end" : nil }
        switch trend {
        case .ends(let after):
            let length = TimeText.rough(milliseconds: max(1000, after))
            let done = "done in \(isAtMost ? "at most " : "")about \(length)"
            return done + (come.map { ": \($0)" } ?? " at \(end), if nothing more comes")
        case .grows: return "grows: \(come ?? end)"
        case .stays: return "stays: \(come ?? end)"
        case .stands: return "stands: \(end) end"
        }
    }

    /// A rate that anybody may have reported, in whole tenths.
    private static func tenths(_ rate: Double) -> Double {
        rate.isFinite ? (min(max(rate, 0), 1e9) * 10).rounded() / 10 : 0
    }

    private static func text(_ rate: Double) -> String {
        rate < 10 && rate != rate.rounded() ? "\(rate)" : "\(Int(rate.rounded()))"
    }
}
