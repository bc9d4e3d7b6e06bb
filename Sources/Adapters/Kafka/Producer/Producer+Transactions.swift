import Basics
import CRDKafka

/// The calls of a transaction. They block the thread. Without a time-out they take as long as the transaction may.
///
/// How to go on after an error: `isRetriable` means the same call again, `requiresAbort` means `abortTransaction` and everything again; any
/// other, and `isFatal` above all, means a new producer with the same transactional id. After a time-out of `commitTransaction` the outcome is
/// unknown: a new producer's `initTransactions` settles it, and the group's committed offsets tell it.
extension Producer {
    /// Announces the transactional id: fences every earlier producer, and completes or aborts what it left open.
    ///
    /// - Parameter timeout: How long to wait; nil for as long as the transaction may take.
    /// - Throws: `isRetriable` to try again; `isFatal` or `isFenced` to give up.
    public func initTransactions(timeout: Duration?) throws(KafkaError) {
        try perform { rd_kafka_init_transactions($0, timeout.timeoutMilliseconds) }
    }

    /// Begins a transaction, and counts failed deliveries from here. Throws where one is open already, or the producer has failed
    /// for good.
    public func beginTransaction() throws(KafkaError) {
        inbox.resetFailures()
        try perform { rd_kafka_begin_transaction($0) }
    }

    /// Makes the group's offsets part of the transaction. Produce everything before: that makes it quick.
    ///
    /// - Parameters:
    ///   - offsets: The next offset to read of each partition, with metadata.
    ///   - group: The place in the group of the consumer that read them.
    ///   - timeout: How long to wait; nil for as long as the transaction may take. librdkafka does not always keep it if the coordinator is gone.
    /// - Throws: `isRetriable` for the same call again, `requiresAbort` above all when the group has moved on.
    public func sendOffsets(_ offsets: [OffsetCommit], group: GroupMetadata, timeout: Duration?) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = try OffsetList(offsets)
        let pointer = list.pointer
        try perform { rd_kafka_send_offsets_to_transaction($0, pointer, group.pointer, timeout.timeoutMilliseconds) }
    }

    /// Writes what is waiting and commits.
    ///
    /// - Parameter timeout: How long to wait; nil for as long as the transaction may take.
    /// - Throws: `isRetriable` for the same call again, `requiresAbort`, or an error after which the outcome is unknown.
    public func commitTransaction(timeout: Duration?) throws(KafkaError) {
        try perform { rd_kafka_commit_transaction($0, timeout.timeoutMilliseconds) }
    }

    /// Drops what is waiting and aborts.
    ///
    /// - Parameter timeout: How long to wait; nil for as long as the transaction may take.
    /// - Throws: `isRetriable` for the same call again; any other error needs a new producer.
    public func abortTransaction(timeout: Duration?) throws(KafkaError) {
        try perform { rd_kafka_abort_transaction($0, timeout.timeoutMilliseconds) }
    }

    private func perform(_ call: (OpaquePointer) -> OpaquePointer?) throws(KafkaError) {
        let client = try lease.current()
        // Between a new connection and the answer to its first question, which comes before records, nothing shows the change.
        try client.checkCluster()
        if let error = KafkaError(consuming: call(client.pointer)) { throw client.diagnosis.explain(error) }
        client.diagnosis.watch?.answered()
    }
}
