import Kafka
import Settings

/// Waits for the final results of requests that are about to be written.
struct ResultWaiter: ~Copyable {
    private let reader: TopicReader

    /// Starts at the end of the results topic, so it has to be made before anything is written.
    ///
    /// - Throws: The topic cannot be read.
    init(_ settings: Settings, timeout: Duration) throws(KafkaError) {
        reader = try FreshTopics.retrying { () throws(KafkaError) in
            try TopicReader(
                settings.kafkaConfiguration(), topic: settings.kafka.topics.results, start: .end, timeout: timeout)
        }
    }

    deinit { reader.close() }

    /// Fills in the results.
    ///
    /// - Parameters:
    ///   - requests: What was written; a result that does not come stays nil.
    ///   - deadline: When to give up.
    borrowing func wait(for requests: inout [PublishedRequest], until deadline: Deadline) {
        var indices: [String: Int] = [:]
        for (index, request) in requests.enumerated() { indices[request.id] = index }
        while !indices.isEmpty && !deadline.hasPassed && !Interruption.isRequested {
            let found = reader.read(timeout: deadline.step) { record in
                guard let result = ResultRecord(record), result.kind == "final",
                    let index = indices.removeValue(forKey: result.requestID)
                else { return }
                requests[index].result = result
            }
            if case .error(let error) = found, error.isAuthorization || error.isFatal { return }
        }
    }
}
