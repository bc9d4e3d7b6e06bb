import Kafka
import Settings

/// Reads results, shows how far it is, and makes sure that none is left out unseen.
struct ResultScan {
    private static let step = Duration.milliseconds(100)

    /// The topic that is read.
    let topic: String
    private let kafka: KafkaSettings
    private let configuration: KafkaConfiguration
    private let timeout: Duration
    private let invocation: Invocation

    /// Scans for a command.
    ///
    /// - Parameters:
    ///   - invocation: The command.
    ///   - settings: Where the results are.
    ///   - timeout: How long to wait for the brokers while nothing comes.
    init(_ invocation: Invocation, _ settings: Settings, timeout: Duration) {
        self.invocation = invocation
        self.timeout = timeout
        topic = settings.kafka.topics.results
        kafka = settings.kafka
        configuration = settings.kafkaConfiguration()
    }

    private init(_ other: ResultScan, topic: String) {
        self.topic = topic
        kafka = other.kafka
        configuration = other.configuration
        timeout = other.timeout
        invocation = other.invocation
    }

    /// A scan of another topic.
    func of(_ topic: String) -> ResultScan { ResultScan(self, topic: topic) }

    /// Finds out where to read.
    ///
    /// - Throws: The topic cannot be read.
    func open(_ start: TopicReader.Start, _ stop: TopicReader.Stop) throws(CommandFailure) -> TopicReader {
        do throws(KafkaError) {
            return try TopicReader(configuration, topic: topic, start: start, stop: stop, timeout: timeout)
        } catch {
            throw failure(error)
        }
    }

    /// The same; nil when there is no such topic.
    ///
    /// - Throws: The topic cannot be read.
    func openIfThere(_ start: TopicReader.Start, _ stop: TopicReader.Stop) throws(CommandFailure) -> TopicReader? {
        do throws(KafkaError) {
            return try TopicReader(configuration, topic: topic, start: start, stop: stop, timeout: timeout)
        } catch {
            if error.isUnknownTopicOrPartition { return nil }
            throw failure(error)
        }
    }

    /// A reader of what comes from now on; topics that were just made are waited for.
    ///
    /// - Throws: The topic cannot be read.
    func openAtEnd() throws(CommandFailure) -> TopicReader {
        do throws(KafkaError) {
            return try FreshTopics.retrying { () throws(KafkaError) in
                try TopicReader(configuration, topic: topic, start: .end, timeout: timeout)
            }
        } catch {
            throw failure(error)
        }
    }

    /// A reader that knows where the topic begins and ends, and reads nothing yet.
    ///
    /// - Throws: The topic cannot be read.
    func survey() throws(CommandFailure) -> TopicReader {
        do throws(KafkaError) {
            return try TopicReader(surveying: topic, configuration, timeout: timeout)
        } catch {
            throw failure(error)
        }
    }

    /// Reads to where the reader stops.
    ///
    /// - Throws: The topic cannot be read, or not to its end.
    func read(_ reader: TopicReader, _ body: (borrowing ConsumedRecord) -> Void) throws(CommandFailure) {
        try readOn(reader) { record in
            body(record)
            return true
        }
    }

    /// Reads to where the reader stops, or until `body` has enough.
    ///
    /// - Parameters:
    ///   - reader: What to read.
    ///   - body: Looks at each record, and says whether to go on.
    /// - Throws: The topic cannot be read, or not to its end.
    func readOn(_ reader: TopicReader, while body: (borrowing ConsumedRecord) -> Bool) throws(CommandFailure) {
        var progress = ScanProgress(topic: topic, total: reader.remainingCount, invocation.streams)
        defer { progress.end() }
        var deadline = Deadline(after: timeout)
        var hasMoved = false
        var count = 0
        var isEnough = false
        while !reader.hasReachedEnd && !isEnough {
            switch reader.read(timeout: Self.step, { isEnough = !body($0) }) {
            case .record:
                count += 1
                hasMoved = true
                // Looking at clock and signals costs as much as passing over a record.
                guard count & 0xFFF == 0 else { continue }
            case .endOfPartition: hasMoved = true
            case .error(let error):
                if error.isAuthorization || error.isFatal || deadline.hasPassed { throw failure(error) }
            case .empty: break
            }
            if hasMoved { deadline = Deadline(after: timeout) }
            hasMoved = false
            progress.show(remaining: reader.remainingCount)
            if Interruption.isRequested { throw CommandFailure(Interruption.exitCode, "interrupted") }
            if deadline.hasPassed { throw stalled(reader) }
        }
    }

    private func stalled(_ reader: TopicReader) -> CommandFailure {
        CommandFailure(
            .temporary, "nothing came from \(topic) for some time, and \(reader.remainingCount) of its offsets are not read yet",
            hint: "--timeout waits longer")
    }

    /// What an error of Kafka means for a command that reads results.
    func failure(_ error: KafkaError) -> CommandFailure {
        invocation.failure(error, kafka, to: "read \(topic)")
    }
}
