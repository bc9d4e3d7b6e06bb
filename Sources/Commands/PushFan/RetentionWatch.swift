import Console
import Dispatch
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
    private static let pauses = (first: 5, usual: 300, failed: 30, refused: 900)

    private let survey: RetentionSurvey
    private let metrics: PushfanMetrics
    private let isStopped: FlagOfStop
    private let stopping = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    /// A watch that does not run yet.
    init(_ settings: Settings, metrics: PushfanMetrics) {
        let isStopped = FlagOfStop()
        var terms = settings.groupTerms
        // Clients that come and go tell nothing of the worker's own.
        terms.kafka.watch = nil
        let context = JobContext(
            kafka: terms.kafka, topics: settings.kafka.topics, timeout: .seconds(10), now: WallClock.millisecondsSince1970,
            isCancelled: { isStopped.value.load(ordering: .relaxed) })
        survey = RetentionSurvey(context, terms: terms)
        self.isStopped = isStopped
        self.metrics = metrics
    }

    /// Starts to measure. Called once.
    func start() {
        thread.start(named: "pushfan-keep") { [self] in run() }
    }

    /// Ends. Waits for a second at most. Called after `start`, once.
    func stop() {
        isStopped.value.store(true, ordering: .relaxed)
        stopping.signal()
        thread.waitForEnd(until: .now() + .seconds(1))
    }

    private func run() {
        var pause = Self.pauses.first
        var shown: Set<String> = []
        while stopping.wait(timeout: .now() + .seconds(pause)) == .timedOut {
            let outlooks = try? survey.outlooks()
            let found = outlooks ?? []
            for topic in shown.subtracting(found.map(\.topic)) {
                metrics.topicRetention.remove([topic])
                metrics.topicRetentionLeft.remove([topic])
            }
            for outlook in found {
                metrics.topicRetention.series([outlook.topic]).set(Double(outlook.kept) / 1000)
                metrics.topicRetentionLeft.series([outlook.topic]).set(Double(outlook.left) / 1000)
            }
            shown = Set(found.map(\.topic))
            pause = outlooks == nil ? Self.pauses.failed : found.isEmpty ? Self.pauses.refused : Self.pauses.usual
        }
    }

    /// True once the watch has to end.
    private final class FlagOfStop: Sendable {
        let value = Atomic<Bool>(false)
    }
}
