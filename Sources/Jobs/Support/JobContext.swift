package import Kafka

/// The names of the topics that jobs read, write and examine.
package struct JobTopics: Sendable {
    /// Requests are published here, ordinary ones, urgent ones, and those that go to many.
    package let requests, requestsHigh, requestsBulk: String
    /// Parts of large requests and replays write their new requests here.
    package let requestsOwn: String
    /// Requests wait here that must not be sent yet, for 10 s, 1 min, 10 min and 1 h.
    package let delays: [String]
    /// Requests with ordering keys wait here that must not be sent yet, and those behind them.
    package let held: String
    /// Large requests are kept here until their parts have ended.
    package let parents: String
    /// Results are read here.
    package let results: String
    /// Records that could not be understood are read here.
    package let deadLetter: String
    /// Cancelled requests are listed here.
    package let control: String
    /// Dead device handles are listed here.
    package let handles: String
    /// Workers share a hub's rate by it.
    package let shares: String
    /// The texts of secure push are kept here, encrypted.
    package let secure: String
    /// Replays, and the collecting of dead handles, keep here how far they are.
    package let replays: String

    /// Topics of the given names.
    package init(
        requests: String, requestsHigh: String, requestsBulk: String, requestsOwn: String, delays: [String], held: String,
        parents: String, results: String, deadLetter: String, control: String, handles: String, shares: String, secure: String,
        replays: String
    ) {
        self.requests = requests
        self.requestsHigh = requestsHigh
        self.requestsBulk = requestsBulk
        self.requestsOwn = requestsOwn
        self.delays = delays
        self.held = held
        self.parents = parents
        self.results = results
        self.deadLetter = deadLetter
        self.control = control
        self.handles = handles
        self.shares = shares
        self.secure = secure
        self.replays = replays
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
