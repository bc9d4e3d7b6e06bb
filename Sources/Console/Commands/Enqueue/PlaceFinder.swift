import Kafka
import PushModel

/// Reads written requests back to learn their partitions and offsets, which also proves that readers see them.
struct PlaceFinder: ~Copyable {
    private let reader: TopicReader

    /// Starts at the end of the topic, so it has to be made before anything is written.
    ///
    /// - Throws: The topic cannot be read.
    init(_ configuration: KafkaConfiguration, topic: String, timeout: Duration) throws(KafkaError) {
        reader = try FreshTopics.retrying { () throws(KafkaError) in
            try TopicReader(configuration, topic: topic, start: .end, timeout: timeout)
        }
    }

    deinit { reader.close() }

    /// Fills in the places of what was written.
    ///
    /// - Parameters:
    ///   - requests: What was written; a place that is not found stays nil.
    ///   - deadline: When to give up.
    /// - Throws: The topic must not be read.
    borrowing func find(_ requests: inout [PublishedRequest], until deadline: Deadline) throws(KafkaError) {
        var indices: [String: Int] = [:]
        for (index, request) in requests.enumerated() { indices[request.id] = index }
        while !indices.isEmpty && !deadline.hasPassed && !Interruption.isRequested {
            let found = reader.read(timeout: deadline.step) { record in
                guard let id = Self.identity(of: record), let index = indices.removeValue(forKey: id) else { return }
                requests[index].partition = record.partition
                requests[index].offset = record.offset
            }
            if case .error(let error) = found, error.isAuthorization || error.isFatal { throw error }
        }
    }

    /// The header `ce_id`.
    private static func identity(of record: borrowing ConsumedRecord) -> String? {
        var headers = PushModel.RecordHeaders()
        record.forEachHeader { name, value in
            if let value { headers.add(name: name, value: value) }
        }
        guard let id = headers.value(.ceID) else { return nil }
        return id.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
