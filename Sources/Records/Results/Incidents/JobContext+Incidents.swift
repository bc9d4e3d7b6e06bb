import Delivery
package import JobSupport
package import Kafka
import PushModel
package import Replay
package import ResultQuery

extension JobContext {
    /// A reader of the incidents since a moment, and of those that come.
    ///
    /// - Parameter moment: The time of the first record, in milliseconds since 1970, or nil for all that the topic has.
    /// - Returns: The reader, or nil when there is no such topic.
    /// - Throws: The topic cannot be read.
    package func openIncidents(since moment: Int64?) throws(JobFailure) -> TopicReader? {
        do throws(KafkaError) {
            return try TopicReader(
                kafka, topic: topics.history, start: moment.map { .time($0) } ?? .beginning, timeout: timeout, readAhead: 4 << 20)
        } catch {
            if error.isUnknownTopicOrPartition { return nil }
            throw .kafka(error, .read(topic: topics.history))
        }
    }

    /// The incidents of the last days, or nil when there is no topic of them.
    package func incidents() throws(JobFailure) -> IncidentList? {
        let scan = TopicScan(self, topic: topics.history)
        var list = IncidentList()
        for window in IncidentList.windows {
            let start = now() - window
            let isLast = window == IncidentList.span
            guard let reader = try scan.openIfThere(isLast ? .beginning : .time(start), .end) else { return nil }
            defer { reader.close() }
            try scan.read(reader) { if let value = $0.value { list.take(record: value, now: now()) } }
            if list.isWhole(since: start) { break }
        }
        return list
    }
}

extension ResultAnswers {
    /// The number of open failures.
    package func openFailures(_ filter: ResultFilter, after history: ReplayHistory) throws(JobFailure) -> Int {
        try failures(FailureReport.narrowed(filter), history).tally.groups.reduce(0) { $0.addingSaturated($1.openCount) }
    }
}
