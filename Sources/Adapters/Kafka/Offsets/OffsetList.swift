import CRDKafka

/// Owns an `rd_kafka_topic_partition_list_t`.
struct OffsetList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int) { pointer = rd_kafka_topic_partition_list_new(Int32(capacity)) }

    deinit {
        rd_kafka_topic_partition_list_destroy(pointer)
    }

    /// Adds a partition with an offset, and the metadata of a commit. Throws for a text with a zero byte, where the library would
    /// cut it.
    func add(_ partition: TopicPartition, offset: Int64, metadata: String = "") throws(KafkaError) {
        guard let element = rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition) else { return }
        element.pointee.offset = offset
        guard !metadata.isEmpty else { return }
        guard !metadata.utf8.contains(0) else {
            throw .invalidArgument("the commit metadata of \(partition) holds a zero byte")
        }
        // Freed with the list, which therefore must get a copy from the library's allocator.
        let size = metadata.utf8.count
        guard let copy = rd_kafka_mem_malloc(nil, size + 1) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, message: "out of memory")
        }
        let bytes = UnsafeMutableRawBufferPointer(start: copy, count: size + 1)
        bytes.copyBytes(from: metadata.utf8)
        bytes[size] = 0
        element.pointee.metadata = copy
        element.pointee.metadata_size = size
    }

    /// The results of `transform` for each element, in order.
    func map<Result>(_ transform: (rd_kafka_topic_partition_t) -> Result) -> [Result] {
        UnsafeBufferPointer(start: pointer.pointee.elems, count: Int(pointer.pointee.cnt)).map(transform)
    }

    /// Throws the first element's error, if any has one.
    func checkElements(_ what: String) throws(KafkaError) {
        let errors = map { element in
            element.err == RD_KAFKA_RESP_ERR_NO_ERROR
                ? nil
                : KafkaError(
                    element.err,
                    message: "\(what) of \(element.topicPartition): \(String(cString: rd_kafka_err2str(element.err)))")
        }
        if let error = errors.lazy.compactMap({ $0 }).first { throw error }
    }
}

extension rd_kafka_topic_partition_t {
    /// The partition that the element names.
    var topicPartition: TopicPartition {
        TopicPartition(topic: topic.map { String(cString: $0) } ?? "", partition: partition)
    }

    /// The metadata of a commit. What is not UTF-8 becomes U+FFFD.
    var metadataText: String {
        guard let metadata, metadata_size > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
    }
}

/// The logical offsets of rdkafka.h (`RD_KAFKA_OFFSET_…`), which are macros that Swift does not see as `Int64`.
enum LogicalOffset {
    static let beginning: Int64 = -2
    static let end: Int64 = -1
    static let invalid: Int64 = -1001
}
