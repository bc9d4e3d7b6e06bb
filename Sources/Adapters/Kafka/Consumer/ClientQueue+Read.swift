import CRDKafka

extension ClientQueue {
    /// Takes one record off the queue and lets `body` look at it. `onEnd` is called at the end of a partition.
    func read<Failure>(
        waiting milliseconds: Int32 = 0, perform body: (borrowing ConsumedRecord) throws(Failure) -> Void,
        onEnd: (_ partition: Int32, _ offset: Int64) -> Void = { _, _ in }
    ) throws(Failure) -> ReadResult {
        guard let message = nextMessage(waiting: milliseconds) else { return .empty }
        defer { rd_kafka_message_destroy(message) }
        let code = message.pointee.err
        guard code != RD_KAFKA_RESP_ERR__PARTITION_EOF else {
            onEnd(message.pointee.partition, message.pointee.offset)
            return .endOfPartition(offset: message.pointee.offset)
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            let reason = rd_kafka_message_errstr(message).map { String(cString: $0) }
            return .error(client.diagnosis.explain(.reported(code, message: reason, by: client.pointer, isFatal: false)))
        }
        lastValueByteCount = message.pointee.len
        try body(ConsumedRecord(message))
        return .record
    }
}
