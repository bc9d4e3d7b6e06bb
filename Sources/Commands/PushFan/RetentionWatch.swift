import Console
import EventLoop
import GroupPositions
import JobSupport
import Kafka
import KafkaCare
import Observability
import Settings
import Synchronization

/// Measures for a worker's metrics the time that is left until brokers may delete requests without a result, of all topics of its group.
///
/// It has a thread and clients of its own, so that no loop waits for it. Where Kafka does not answer, or the settings of a topic may not
/// be read, there is no series.
final class RetentionWatch: Sendable {
    /// The seconds before the first survey, after one, after one that failed, and after one without a topic whose settings may be read. A
    /// retention is hours or days, and brokers log each refusal.
    static let pauses = (first: 5, usual: 300, failed: 30, refused: 900)

    private let repeated = RepeatedSurvey()
    private let survey: RetentionSurvey
    private let metrics: PushfanMetrics
    /// The topics that have series. No other lock is taken while it is held.
    private let shown = Mutex<Set<String>>([])

    /// A watch that does not run yet.
    init(_ settings: Settings, metrics: PushfanMetrics) {
        var terms = settings.groupTerms
        // Clients that come and go tell nothing of the worker's own.
        terms.kafka.watch = nil
        let context = JobContext(
            kafka: terms.kafka, topics: settings.kafka.topics, timeout: .seconds(10), now: WallClock.millisecondsSince1970,
            isCancelled: repeated.isCancelled)
        survey = RetentionSurvey(context, terms: terms)
        self.metrics = metrics
    }

    /// Starts to measure. Called once.
    func start() {
        repeated.start(named: "pushfan-keep", after: Self.pauses.first) { [self] in measure() }
    }

    /// Ends. Waits for a second at most. Called after `start`, once.
    func stop() { repeated.stop() }

    private func measure() -> Int {
        let outlooks = try? survey.outlooks()
        let found = outlooks ?? []
        for topic in shown.withLock({ $0.subtracting(found.map(\.topic)) }) {
            metrics.topicRetention.remove([topic])
            metrics.topicRetentionLeft.remove([topic])
        }
        for outlook in found {
            metrics.topicRetention.series([outlook.topic]).set(Double(outlook.kept) / 1000)
            metrics.topicRetentionLeft.series([outlook.topic]).set(Double(outlook.left) / 1000)
        }
        shown.withLock { $0 = Set(found.map(\.topic)) }
        return outlooks == nil ? Self.pauses.failed : found.isEmpty ? Self.pauses.refused : Self.pauses.usual
    }
}
