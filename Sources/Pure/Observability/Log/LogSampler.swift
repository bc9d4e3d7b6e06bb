/// Limits how many lines one event may write in a span of time, and counts what it holds back.
///
/// A value: time comes in as an argument. Every event has its own span, which begins with the first line after the last one ended.
public struct LogSampler: Sendable {
    /// The decision on a line.
    public enum Decision: Equatable, Sendable {
        /// Write it, and before it the number of `suppressed` lines of this event, unless 0.
        case write(suppressed: Int)
        /// Hold it back.
        case suppress
    }

    private struct Span: Sendable {
        var start: Int64 = 0
        var written = 0
        var suppressed = 0
        var isOpen = false
    }

    private let burst: Int
    private let length: Int64
    private var spans = [Span](repeating: Span(), count: LogEvent.allCases.count)
    private static let position = Dictionary(uniqueKeysWithValues: LogEvent.allCases.enumerated().map { ($1, $0) })

    /// Makes a sampler that has held back nothing.
    ///
    /// - Parameters:
    ///   - burst: Lines of one event in one span. Default 20.
    ///   - milliseconds: The span's length. Default 10 s.
    public init(burst: Int = 20, every milliseconds: Int64 = 10_000) {
        self.burst = max(1, burst)
        self.length = max(1, milliseconds)
    }

    /// Decides about a line.
    ///
    /// - Parameters:
    ///   - event: The line's event.
    ///   - now: Milliseconds of any clock. A clock that was set back begins a new span.
    /// - Returns: Whether to write the line, and how many were held back before it.
    public mutating func admit(_ event: LogEvent, now: Int64) -> Decision {
        guard let index = Self.position[event] else { return .write(suppressed: 0) }
        var held = 0
        if !isRunning(spans[index], at: now) {
            held = spans[index].suppressed
            spans[index] = Span(start: now, isOpen: true)
        }
        guard spans[index].written < burst else {
            spans[index].suppressed += 1
            return .suppress
        }
        spans[index].written += 1
        return .write(suppressed: held)
    }

    /// Takes the counts of spans that have ended, so that the end of a storm is logged even when no further line comes.
    ///
    /// - Parameter now: Milliseconds of the same clock.
    /// - Returns: Each event of which lines were held back, and how many.
    public mutating func takeEnded(now: Int64) -> [(event: LogEvent, suppressed: Int)] {
        var counts: [(event: LogEvent, suppressed: Int)] = []
        for (index, event) in LogEvent.allCases.enumerated()
        where spans[index].suppressed > 0 && !isRunning(spans[index], at: now) {
            counts.append((event, spans[index].suppressed))
            spans[index] = Span()
        }
        return counts
    }

    private func isRunning(_ span: Span, at now: Int64) -> Bool {
        guard span.isOpen, now >= span.start else { return false }
        let (age, overflow) = now.subtractingReportingOverflow(span.start)
        return !overflow && age < length
    }
}
