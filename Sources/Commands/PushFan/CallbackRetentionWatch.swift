import CallbackRecords
import Console
import EventLoop
import JobSupport
import Kafka
import Observability
import Settings
import Synchronization
import Webhooks

/// Measures for the metrics of callbacks the time that is left until brokers may delete results that a receiver has not taken.
///
/// It has a thread and clients of its own. Where Kafka does not answer, or the topic's settings may not be read, there is no series.
final class CallbackRetentionWatch: Sendable {
    private let repeated = RepeatedSurvey()
    private let file: String
    private let lag: CallbackLag
    private let metrics: CallbackMetrics
    /// The receivers that have series. No other lock is taken while it is held.
    private let shown = Mutex<Set<String>>([])

    /// A watch that does not run yet.
    init(_ settings: Settings, file: String, metrics: CallbackMetrics) {
        var kafka = settings.kafkaConfiguration()
        // Clients that come and go tell nothing of the service's own.
        kafka.watch = nil
        let context = JobContext(
            kafka: kafka, topics: settings.kafka.topics, timeout: .seconds(10), now: WallClock.millisecondsSince1970,
            isCancelled: repeated.isCancelled)
        lag = CallbackLag(settings.callbackTopics, by: context)
        (self.file, self.metrics) = (file, metrics)
    }

    /// Starts to measure. Called once.
    func start() {
        repeated.start(named: "pushfan-keep", after: RetentionWatch.pauses.first) { [self] in measure() }
    }

    /// Ends. Waits for a second at most. Called after `start`, once.
    func stop() { repeated.stop() }

    private func measure() -> Int {
        // A file with a fault is the service's to report.
        guard let set = try? ReceiversFile.read(Host.readFile(file)),
            let standings = try? lag.standings(of: set.receivers.map(\.name))
        else { return RetentionWatch.pauses.failed }
        let found = standings.filter { $0.left != nil }
        for name in shown.withLock({ $0.subtracting(found.map(\.receiver)) }) { metrics.retentionLeft.remove([name]) }
        for standing in found {
            if let left = standing.left { metrics.retentionLeft.series([standing.receiver]).set(Double(left) / 1000) }
        }
        shown.withLock { $0 = Set(found.map(\.receiver)) }
        return found.isEmpty && !set.receivers.isEmpty ? RetentionWatch.pauses.refused : RetentionWatch.pauses.usual
    }
}
