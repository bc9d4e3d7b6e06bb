import CRDKafka

/// Records of which one wants to know what became of each.
///
/// A report comes once, in the thread that polls, flushes, commits, closes, or waits for room in a full queue; it must not block. It may
/// produce, and must not close the producer.
extension Producer {
    /// The fate of a record (`rd_kafka_msg_status_t`, rdkafka.h).
    public enum Delivery: Sendable, Equatable {
        /// It is written. In a transaction, that counts with the commit alone.
        ///
        /// The offset is nil if the broker has the record from an attempt before, whose answer was lost, and does not say where. This is
        /// recognised only while every record for the partition has a report.
        case persisted(partition: Int32, offset: Int64?)
        /// It is not written, and never will be: another attempt makes no second one. A broker has refused it, or none was sent it.
        case notPersisted(KafkaError)
        /// It is unknown whether it is written: it was perhaps sent, and no broker has said that it is or will not be. A broker that is
        /// the partition's leader no more may have written it before it noticed, so that answer decides nothing.
        case possiblyPersisted(KafkaError)
    }

    /// Hands a record to the library, which copies it and writes it in the background, and tells what becomes of it.
    ///
    /// It costs more than `produce` without a report: a lock is taken when the record is handed over and when it is reported.
    ///
    /// - Parameters:
    ///   - topic: A topic of this producer.
    ///   - partition: The partition's number; nil lets the key decide, or chance without a key.
    ///   - key: The key; nil for none.
    ///   - value: The value; nil for a tombstone.
    ///   - headers: The headers.
    ///   - timestamp: Milliseconds since 1970; nil for now.
    ///   - report: Told once, unless this throws; perhaps before this returns.
    /// - Throws: The record was not taken: it is too large, the queue stayed full, the transaction failed, the producer is closed.
    public func produce(
        to topic: Topic, partition: Int32? = nil, key: Span<UInt8>?, value: Span<UInt8>?,
        headers: consuming HeaderList = HeaderList(),
        timestamp: Int64? = nil, report: @escaping @Sendable (Delivery) -> Void
    ) throws(KafkaError) {
        let client = try lease.current()
        let number = try inbox.reports.add(report, sentCount: inbox.sentCount)
        let result: rd_kafka_resp_err_t
        do throws(KafkaError) {
            result = try headers.give { list in
                let code = withBytes(key) { key in
                    withBytes(value) { value in
                        enqueue(
                            client, topic: client.topic(topic.index), partition: partition ?? -1, key: key, value: value,
                            headers: list, timestamp: timestamp ?? 0, number: number)
                    }
                }
                return (code, code == RD_KAFKA_RESP_ERR_NO_ERROR)
            }
        } catch {
            guard inbox.reports.take(number) != nil else { return }
            throw error
        }
        // Where `close` came in between, the report has been told already.
        guard result != RD_KAFKA_RESP_ERR_NO_ERROR, inbox.reports.take(number) != nil else { return }
        throw refusal(result, of: topic, client: client)
    }

    private func enqueue(
        _ client: ClientHandle, topic: OpaquePointer, partition: Int32, key: UnsafeBufferPointer<UInt8>?,
        value: UnsafeBufferPointer<UInt8>?, headers: OpaquePointer?, timestamp: Int64, number: UInt
    ) -> rd_kafka_resp_err_t {
        var deadline: ContinuousClock.Instant?
        while true {
            let result = pushfan_rdkafka_produce_reported(
                client.pointer, topic, partition, key?.baseAddress, key?.count ?? 0, value?.baseAddress, value?.count ?? 0,
                timestamp, headers, number)
            guard result == RD_KAFKA_RESP_ERR__QUEUE_FULL, waitForRoom(client, until: &deadline) else { return result }
        }
    }
}
