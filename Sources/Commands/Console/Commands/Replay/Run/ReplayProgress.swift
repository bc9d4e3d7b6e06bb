import Basics
import JobSupport

/// Shows the progress of a replay.
final class ReplayProgress {
    private let total: Int
    private let hasBar: Bool
    private var pace: ProgressPace
    private var start = ContinuousClock.now
    private var startCount = 0

    /// A replay that begins now.
    init(total: Int, _ streams: Streams, hasBar: Bool = false) {
        self.total = total
        self.hasBar = hasBar && streams.traits.isErrorTerminal
        pace = ProgressPace(streams)
    }

    /// Shows the progress, but not too often.
    func show(_ progress: RunProgress) {
        switch progress {
        case .began(let count): (start, startCount) = (.now, count)
        case .reached(let count, let skipped):
            pace.show {
                (hasBar ? Self.bar(count, of: total) + " " : "")
                    + Self.text(count, of: total, skipped: skipped, count - startCount, after: .now - start)
            }
        }
    }

    /// Removes the shown text.
    func end() { pace.end() }

    /// `[#######-------------]`.
    static func bar(_ count: Int, of total: Int) -> String {
        let width = 20
        let full = max(0, min(width, total > 0 ? count * width / total : width))
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full) + "]"
    }

    /// `3400 of 10000, 12 of them left out, 498 a second, 14s to go`.
    static func text(_ count: Int, of total: Int, skipped: Int, _ recent: Int, after time: Duration) -> String {
        let rate = Double(recent) / max(0.001, Double(time.wholeMilliseconds) / 1000)
        let left = skipped > 0 ? ", \(skipped) of them left out" : ""
        guard rate >= 0.01 else { return "\(count) of \(total)\(left)" }
        let rest = Int64(min(Double(max(0, total - count)) / rate * 1000, 1e15))
        return "\(count) of \(total)\(left), \(Int(rate.rounded())) a second, \(TimeText.length(milliseconds: rest)) to go"
    }
}
