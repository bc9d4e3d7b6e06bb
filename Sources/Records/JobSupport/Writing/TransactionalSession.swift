import Glibc
package import Kafka

/// The right to write under a transactional id: held by one process at a time.
///
/// A new session fences an earlier one and settles what it left open. It then commits a claim and reads the topic up to that. So it has
/// read whatever an earlier session committed, even if another producer's open transaction had hidden it. A session belongs to one thread
/// at a time.
package final class TransactionalSession {
    /// The producer.
    package let producer: Producer
    /// The topics, in the order of their names.
    package let topics: [Producer.Topic]
    /// The name of this session's claim, and of no other's.
    package let claim = "\(getpid()).\(UInt64.random(in: .min ... .max))"

    private let configuration: KafkaConfiguration
    private let timeout: Duration
    private let isCancelled: () -> Bool

    /// Finds the topics that are written to and read back. No process is fenced yet.
    package init(
        _ configuration: KafkaConfiguration, id: String, topics names: [String] = [], enqueueTimeout: Duration = .seconds(10),
        timeout: Duration, isCancelled: @escaping () -> Bool
    ) throws(KafkaError) {
        let producer = try Producer(configuration, transactionalID: id, enqueueTimeout: enqueueTimeout)
        self.producer = producer
        self.configuration = configuration
        self.timeout = timeout
        self.isCancelled = isCancelled
        topics = try FreshTopics.retrying(unless: isCancelled) { () throws(KafkaError) in
            names.isEmpty ? [] : try producer.warmUp(topics: names, timeout: timeout)
        }
    }

    deinit { producer.close(timeout: .zero) }

    /// Fences every earlier session. Tries again while the coordinator is busy, such as with a transaction that it is ending.
    package func fence() throws(KafkaError) {
        let deadline = Deadline(after: timeout)
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeout: .seconds(10))
            } catch {
                guard error.isRetriable, !deadline.hasPassed, !isCancelled() else { throw error }
            }
        }
    }

    /// Fences whoever holds another transactional id.
    package func fence(_ id: String) throws(KafkaError) {
        try TransactionalSession(configuration, id: id, timeout: timeout, isCancelled: isCancelled).fence()
    }

    /// Reads a topic, from its beginning by default.
    package func reader(of topic: Producer.Topic, from start: TopicReader.Start = .beginning) throws(KafkaError) -> TopicReader {
        try TopicReader(configuration, topic: topic.name, start: start, timeout: timeout)
    }

    /// Reads a topic until `isRead` reports that the claim was read.
    package func readBack(
        _ reader: TopicReader, isInterruptible: Bool = true, until isRead: () -> Bool, _ take: (borrowing ConsumedRecord) -> Void
    ) throws(KafkaError) {
        let deadline = Deadline(after: timeout)
        while !isRead() {
            let result = reader.read(timeout: .milliseconds(100)) { take($0) }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw error }
            guard !deadline.hasPassed, !(isInterruptible && isCancelled()) else {
                throw .invalidArgument("\(reader.topic) cannot be read up to what was written just now")
            }
        }
    }

    /// Writes in one transaction, which is aborted if anything fails.
    package func transact(_ body: () throws(KafkaError) -> Void) throws(KafkaError) {
        try producer.beginTransaction()
        do throws(KafkaError) {
            try body()
            try commit()
        } catch {
            // A transaction that stays open would block the readers of these partitions until it times out.
            if !error.isFatal { try? producer.abortTransaction(timeout: .seconds(5)) }
            throw error
        }
    }

    /// Commits the transaction, as often as it takes. After an error the next session finds out whether it took place.
    package func commit() throws(KafkaError) {
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
    package var isHopeless: Bool { isAuthorization || isAuthentication || isConfiguration || isUnknownTopicOrPartition }
}
