package import GroupPositions
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
    /// So many members of the group are of workers that have not reported themselves.
    case silent(members: Int)
    /// The report of a worker had no room for so many loops, hubs and partitions that are in trouble.
    case cut(worker: String, problems: Int)
    /// No worker of the group has reported itself on the topic, or there is no such topic.
    case unreported(topic: String, isMissing: Bool)
    /// The end of a partition cannot be read.
    case hidden(OpenTransaction)
}

extension ReportGap {
    /// A sentence about reports of workers that are missing or cut, or about an open transaction, which names no address. Empty for the other gaps.
    package var remark: String {
        switch self {
        case .silent(let members):
            "\(Counted.text(members, "member", "members")) of the group, whose workers have not reported themselves"
        case .cut(let worker, let problems):
            "\(worker): \(Counted.text(problems, "more is", "more are")) in trouble than its report can name"
        case .hidden(let transaction): transaction.text
        default: ""
        }
    }
}
