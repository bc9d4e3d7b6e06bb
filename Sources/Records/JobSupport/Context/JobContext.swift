package import Delivery
package import Kafka

/// The brokers, topics and callbacks of a job.
///
/// A job runs on the thread that calls it and blocks it. Its callbacks are called on that thread, one at a time. Several threads may use
/// one context at once, if its callbacks allow that: every job opens Kafka clients of its own.
package struct JobContext: Sendable {
    /// The brokers.
    package var kafka: KafkaConfiguration
    /// The topics' names.
    package var topics: Topics
    /// The group of the workers.
    package var group = "pushfan-workers"
    /// The names of the hubs that requests go to, or nil where those in requests alone are known.
    package var hubNames: HubNames?
    /// The longest wait for the brokers while nothing comes.
    package var timeout: Duration
    /// The bytes that a reader of a topic may read ahead.
    package var readAhead = 256 << 20
    /// The wall clock in milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// True as soon as the job should end. It then throws `JobFailure.cancelled`, 100 ms later at most unless a broker is slow.
    package var isCancelled: @Sendable () -> Bool
    /// Gets the progress of whatever reads a topic.
    package var progress: @Sendable (ReadingProgress) -> Void
    /// Gets events that change nothing of the answer.
    package var note: @Sendable (JobNote) -> Void

    /// A context of the given parts.
    package init(
        kafka: KafkaConfiguration, topics: Topics, timeout: Duration, now: @escaping @Sendable () -> Int64,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (ReadingProgress) -> Void = { _ in },
        note: @escaping @Sendable (JobNote) -> Void = { _ in }
    ) {
        self.kafka = kafka
        self.topics = topics
        self.timeout = timeout
        self.now = now
        self.isCancelled = isCancelled
        self.progress = progress
        self.note = note
    }

    /// The same, for a job that ends by another condition, too.
    package func ending(when isOver: @escaping @Sendable () -> Bool) -> JobContext {
        var context = self
        context.isCancelled = { [isCancelled] in isCancelled() || isOver() }
        return context
    }
}
