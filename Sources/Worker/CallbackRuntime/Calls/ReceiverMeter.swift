import Observability
import Webhooks

/// The instruments of a receiver, and what its status says that they do not.
final class ReceiverMeter {
    private static let states = ["running", "paused", "disabled", "away", "waiting"]

    private let name: String
    private let metrics: CallbackMetrics
    private let duration: Histogram
    private let taken: Counter
    private let deadLetters: Counter
    private let lost: Counter
    private let waiting: Gauge
    private let oldest: Gauge
    private let behind: Gauge
    private let inFlight: Gauge
    private var answers: [String: Counter] = [:]
    private var shownState: String?

    /// The instruments of the receiver of that name.
    init(_ name: String, in metrics: CallbackMetrics) {
        (self.name, self.metrics) = (name, metrics)
        duration = metrics.callDuration.series([name])
        taken = metrics.taken.series([name])
        deadLetters = metrics.deadLetters.series([name])
        lost = metrics.lost.series([name])
        waiting = metrics.waiting.series([name])
        oldest = metrics.oldestWaiting.series([name])
        behind = metrics.behind.series([name])
        inFlight = metrics.inFlight.series([name])
    }

    /// The calls so far, by the word of their answers.
    var calls: [(name: String, count: Int)] { answers.map { ($0.key, Int(clamping: $0.value.value)) } }

    /// Counts a call that took so many nanoseconds.
    func count(_ answer: CallbackAnswer, after nanoseconds: Int64) {
        let word = answer.word
        let counter = answers[word] ?? metrics.calls.series([name, word])
        answers[word] = counter
        counter.increment()
        duration.observe(nanoseconds: nanoseconds)
        if answer.verdict == .taken { taken.increment() }
    }

    /// Counts a result that became a dead letter.
    func countDeadLetter() { deadLetters.increment() }

    /// Counts results that retention took.
    func countLost(_ count: Int64) { lost.increment(by: UInt64(max(0, count))) }

    /// Shows how things stand.
    func show(_ status: ReceiverStatus) {
        waiting.set(Double(status.waiting))
        oldest.set(Double(status.oldestMilliseconds) / 1000)
        inFlight.set(Double(status.inFlight))
        if let count = status.behind { behind.set(Double(count)) }
        guard shownState != status.state else { return }
        shownState = status.state
        for word in Self.states { metrics.state.series([name, word]).set(word == status.state ? 1 : 0) }
    }

    /// Takes out what shows the present of a receiver that is gone.
    func retire() {
        for family in [metrics.waiting, metrics.oldestWaiting, metrics.behind, metrics.inFlight] { family.remove([name]) }
        for word in Self.states { metrics.state.remove([name, word]) }
    }
}
