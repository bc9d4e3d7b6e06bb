import Glibc
import Kafka

/// The right to write under a transactional id: held by one process at a time.
///
/// A new session fences an earlier one and settles what it left open. It then commits a claim and reads the topic up to that. So it has
/// read whatever an earlier session committed, even if another producer's open transaction had hidden it.
final class TransactionalSession {
    /// The producer.
    let producer: Producer
    /// The topics, in the order of their names.
    let topics: [Producer.Topic]
    /// What this session's claim is called, and no other's.
    let claim = "\(getpid()).\(UInt64.random(in: .min ... .max))"

    private let configuration: KafkaConfiguration
    private let timeout: Duration

    /// Finds the topics that are written to and read back. No process is fenced yet.
    ///
    /// - Throws: No broker answers, or a topic is missing or not allowed.
    init(
        _ configuration: KafkaConfiguration, id: String, topics names: [String] = [], enqueueTimeout: Duration = .seconds(10),
        timeout: Duration
    ) throws(KafkaError) {
        let producer = try Producer(configuration, transactionalID: id, enqueueTimeout: enqueueTimeout)
        self.producer = producer
        self.configuration = configuration
        self.timeout = timeout
        topics = try FreshTopics.retrying { () throws(KafkaError) in
            names.isEmpty ? [] : try producer.warmUp(topics: names, timeout: timeout)
        }
    }

    deinit { producer.close(timeout: .zero) }

    /// Fences every earlier session; tried again while the coordinator is busy, such as with a transaction that it is ending.
    ///
    /// - Throws: The last attempt's error; also when the person has interrupted the command.
    func fence() throws(KafkaError) {
        let deadline = Deadline(after: timeout)
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeout: .seconds(10))
            } catch {
                guard error.isRetriable, !deadline.hasPassed, !Interruption.isRequested else { throw error }
            }
        }
    }

    /// Fences whoever holds another transactional id.
    func fence(_ id: String) throws(KafkaError) {
        try TransactionalSession(configuration, id: id, timeout: timeout).fence()
    }

    /// Reads a topic from its beginning.
    func reader(of topic: Producer.Topic) throws(KafkaError) -> TopicReader {
        try TopicReader(configuration, topic: topic.name, start: .beginning, timeout: timeout)
    }

    /// Reads a topic until `isRead` says that the claim was read.
    ///
    /// - Throws: The topic may not be read, or the claim does not come in time.
    func readBack(
        _ reader: TopicReader, isInterruptible: Bool = true, until isRead: () -> Bool, _ take: (borrowing ConsumedRecord) -> Void
    ) throws(KafkaError) {
        let deadline = Deadline(after: timeout)
        while !isRead() {
            let result = reader.read(timeout: .milliseconds(100)) { take($0) }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw error }
            guard !deadline.hasPassed, !(isInterruptible && Interruption.isRequested) else {
                throw .invalidArgument("\(reader.topic) cannot be read up to what was written just now")
            }
        }
    }

    /// Writes in one transaction, which is aborted if anything fails.
    ///
    /// - Throws: What `body` throws, or Kafka did not confirm it.
    func transact(_ body: () throws(KafkaError) -> Void) throws(KafkaError) {
        try producer.beginTransaction()
        do throws(KafkaError) {
            try body()
            try commit()
        } catch {
            // What is left open would hold up the readers of these partitions until it times out.
            if !error.isFatal { try? producer.abortTransaction(timeout: .seconds(5)) }
            throw error
        }
    }

    /// Commits the transaction, as often as it takes.
    ///
    /// - Throws: Kafka did not confirm it. Whether it took place, the next session finds out.
    func commit() throws(KafkaError) {
        while true {
            do throws(KafkaError) {
                return try producer.commitTransaction(timeout: nil)
            } catch {
                guard error.isRetriable, !error.isFatal else { throw error }
            }
        }
    }
}

extension KafkaError {
    /// Another session would do no better.
    var isHopeless: Bool { isAuthorization || isAuthentication || isConfiguration || isUnknownTopicOrPartition }
}
