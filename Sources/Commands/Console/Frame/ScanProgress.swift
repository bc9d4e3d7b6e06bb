import Basics
import JobSupport
import PushModel
import Synchronization

/// Shows the progress of a long reading on a terminal. A short reading shows nothing.
struct ScanProgress {
    /// The time below which a reading needs no explanation.
    fileprivate static let patience = Duration.milliseconds(700)
    private static let interval = Duration.milliseconds(200)

    private let topic: String
    private let total: Int64
    private let streams: Streams
    private let start: ContinuousClock.Instant
    private var next: ContinuousClock.Instant
    /// It takes so long that it was shown.
    private(set) var isShown = false

    /// A reading that begins at `start`. One that is a piece of a long one is shown at once.
    init(topic: String, total: Int64, from start: ContinuousClock.Instant, isPiece: Bool = false, _ streams: Streams) {
        self.topic = topic
        self.total = total
        self.start = start
        self.streams = streams
        next = isPiece ? start : start + Self.patience
    }

    /// Shows how far it is, but not too often.
    mutating func show(remaining: Int64, now: ContinuousClock.Instant) {
        guard now >= next, total > 0 else { return }
        next = now + Self.interval
        isShown = true
        streams.showStatus(Self.text(topic: topic, done: total - remaining, total: total, after: now - start))
    }

    /// Removes the shown text.
    func end() {
        if isShown { streams.showStatus(nil) }
    }

    /// `reading push.results.v1: 43 % of 1000000, 350000 a second, 2 s left`.
    static func text(topic: String, done: Int64, total: Int64, after time: Duration) -> String {
        let seconds = Double(max(1, time.wholeMilliseconds)) / 1000
        let rate = Int64(min(Double(done) / seconds, 1e15))
        let left = rate > 0 ? ", \((total - done).addingSaturated(rate - 1) / rate) s left" : ""
        return "reading \(topic): \(Int(Double(done) * 100 / Double(max(1, total)))) % of \(total), \(rate) a second\(left)"
    }
}

/// Shows the progress of one reading after another.
final class ProgressLine: Sendable {
    private struct State {
        var reading: ScanProgress?
        /// The moment at which the first reading began. A list of requests is read in pieces of a second.
        var beginning: ContinuousClock.Instant?
        /// The last reading was a long one.
        var isLong = false
    }

    private let streams: Streams
    private let now: @Sendable () -> ContinuousClock.Instant
    /// No other lock is taken while it is held but that of the streams.
    private let state = Mutex(State())

    /// Nothing is shown yet. `now` is the present moment.
    init(_ streams: Streams, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.streams = streams
        self.now = now
    }

    /// Shows the progress, but not too often.
    func show(_ progress: ReadingProgress) {
        state.withLock { state in
            switch progress {
            case .began(.topic(let topic), let count): begin(topic, total: count, in: &state)
            case .began(.originals, let count): begin("the originals", total: count, in: &state)
            case .reached(let remaining): state.reading?.show(remaining: remaining, now: now())
            case .ended:
                state.isLong = state.reading?.isShown ?? false
                state.reading?.end()
                state.reading = nil
            case .sorting(let done, let count):
                if state.isLong { streams.showStatus(done < count ? "sorting the index: step \(done + 1) of \(count)" : nil) }
            }
        }
    }

    private func begin(_ source: String, total: Int64, in state: inout State) {
        let now = now()
        let isPiece = state.beginning.map { now - $0 >= ScanProgress.patience } ?? false
        state.beginning = state.beginning ?? now
        state.reading = ScanProgress(topic: source, total: total, from: now, isPiece: isPiece, streams)
    }
}
