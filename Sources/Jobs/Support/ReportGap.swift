package import Kafka

/// A query that failed, so that a report has a gap.
package enum ReportGap: Sendable {
    /// There is no such topic.
    case missing(topic: String)
    /// Kafka did not describe the topic.
    case undescribed(topic: String, KafkaError)
    /// The topic cannot be read.
    case unread(topic: String, JobFailure)
    /// The cancelled requests cannot be read.
    case cancellations(JobFailure)
    /// The positions of the group cannot be read.
    case positions(KafkaError)
    /// The members of the group cannot be listed.
    case members(KafkaError)
    /// The worker that was called does not answer as one, for a reason.
    case worker(url: String, reason: String)
    /// No worker of the group has reported itself on the topic, or there is no such topic.
    case unreported(topic: String, isMissing: Bool)
}
