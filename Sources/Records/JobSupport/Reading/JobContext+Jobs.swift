import Delivery
package import Kafka
import PushModel

extension JobContext {
    /// Reads the topic of jobs from its beginning to its end, or nothing if there is no such topic yet.
    package func readJobs(_ take: (borrowing ConsumedRecord) -> Void) throws(JobFailure) {
        let scan = TopicScan(self, topic: topics.replays)
        guard let reader = try scan.openIfThere(.beginning, .end) else { return }
        defer { reader.close() }
        try readJobs(reader, of: scan, take)
    }

    /// Reads on to the end of what `reader` reads of the topic of jobs.
    package func readJobs(
        _ reader: TopicReader, of scan: TopicScan, _ take: (borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) {
        var deadline = Deadline(after: timeout)
        var isNewer = false
        while !reader.hasReachedEnd {
            let result = reader.read(timeout: .milliseconds(100)) { record in
                if RecordFormat.isNewer(record, of: nil) { isNewer = true }
                take(record)
            }
            if case .record = result { deadline = Deadline(after: timeout) }
            if case .error(let error) = result, error.isAuthorization { throw scan.failure(error) }
            guard !isNewer else { throw .newerRecords(topic: scan.topic) }
            if isCancelled() { throw .cancelled }
            if deadline.hasPassed { throw .unfinished(topic: scan.topic) }
        }
    }
}
