import JobSupport
package import Kafka
package import Replay

/// The reason why a value cannot stand in place of a dead letter's.
package enum ReplacementFault: Sendable, Equatable {
    /// It is for one dead letter, and not exactly one is named.
    case notOnePlace
    /// It is no valid request, as it stands or with the changes.
    case invalidRequest
    /// It names a source that is neither its author's nor the letter's.
    case foreignSource
}

/// The reason why a replay cannot be planned or run.
package enum ReplayFailure: RoomFailure {
    /// The file is no plan of a replay.
    case notAPlan(path: String)
    /// Another version of pushfan made the plan.
    case planOfOtherVersion(path: String)
    /// A line of the plan cannot be read.
    case damagedPlan(path: String)
    /// A change of requests, as it was typed, is none.
    case edit(String, RequestEdit.Fault)
    /// More requests than the limit could be replayed.
    case tooManyRequests(limit: Int)
    /// The value in place of a dead letter's cannot be used.
    case replacement(ReplacementFault)

    /// The job was begun with another plan.
    case otherPlan(job: String)
    /// The job was stopped for good.
    case stopped(job: String)
    /// Another job is running that may have the same originals. Only one of them runs at a time.
    case running(job: String)
    /// Another process runs the job now.
    case takenOver
    /// The claim to run the job was written and cannot be read back, such as behind a hanging transaction.
    case unreadClaim(KafkaError)
}
