package import Kafka

/// The names of the topics that jobs read and write.
package struct JobTopics: Sendable {
    /// Results are read here.
    package var results: String
    /// Records that could not be understood are read here.
    package var deadLetter: String
    /// Cancelled requests are listed here.
    package var control: String
    /// Replays keep here how far they are.
    package var replays: String
    /// Replays write their new requests here, and the parts of requests whose audience is a file.
    package var requestsOwn: String
    /// Requests in parts are counted here.
    package var parents: String
    /// Dead device handles are listed here.
    package var handles: String

    /// Topics of the given names.
    package init(
        results: String, deadLetter: String, control: String, replays: String, requestsOwn: String, parents: String,
        handles: String
    ) {
        self.results = results
        self.deadLetter = deadLetter
        self.control = control
        self.replays = replays
        self.requestsOwn = requestsOwn
        self.parents = parents
        self.handles = handles
    }
}

/// The brokers, topics and callbacks of a job.
///
/// A job runs on the thread that calls it and blocks it. Its callbacks are called on that thread, one at a time. Several threads may use
/// one context at once, if its callbacks allow that: every job opens Kafka clients of its own.
package struct JobContext: Sendable {
    /// The brokers.
    package var kafka: KafkaConfiguration
    /// The topics' names.
    package var topics: JobTopics
    /// The longest wait for the brokers while nothing comes.
    package var timeout: Duration
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
        kafka: KafkaConfiguration, topics: JobTopics, timeout: Duration, now: @escaping @Sendable () -> Int64,
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
}
