package import Kafka
package import Replay

/// A job's use of Kafka.
package enum JobAction: Sendable, Equatable {
    /// Reads a topic.
    case read(topic: String)
    /// Reads the requests that a replay repeats.
    case readOriginals
    /// Finds the first offsets of a topic.
    case findBeginning(of: String)
    /// Writes to a topic.
    case write(topic: String)
    /// Replays requests.
    case replay
    /// Creates topics.
    case createTopics
    /// Checks topics.
    case checkTopics
    /// Lists the members of a group.
    case describeGroup
    /// Reads the positions of a group.
    case readPositions
    /// Writes the positions of a group.
    case writePositions
    /// Describes topics.
    case describeTopics
    /// Finds the first requests since a time.
    case findFirst
    /// Writes the parts of a request whose audience is a file.
    case enqueue(path: String)
    /// Writes the dead handles that a hub's feedback lists.
    case collect(topic: String)
}

/// The kind of trouble with a hub or a server beside it.
package enum PeerFailure: Sendable, Equatable {
    /// The settings of the call cannot work.
    case misconfigured
    /// No answer comes.
    case unreachable
    /// It stays busy.
    case busy
    /// It does not allow the call.
    case refused
    /// Anything else.
    case failed
}

/// The reason why a value cannot stand in place of a dead letter's.
package enum ReplacementFault: Sendable, Equatable {
    /// It is for one dead letter, and not exactly one is named.
    case notOnePlace
    /// It is no valid request, as it stands or with the changes.
    case invalidRequest
    /// It names a source that is neither its author's nor the letter's.
    case foreignSource
}

/// The reason why a job cannot go on. The caller chooses the words for it.
package enum JobFailure: Error, Sendable {
    /// Kafka did not do it.
    case kafka(KafkaError, JobAction)
    /// The caller cancelled the job.
    case cancelled
    /// No record of the topic came within the time-out, with so many offsets unread.
    case stalled(topic: String, remaining: Int64)
    /// The topic was not read to its end within the time-out.
    case unfinished(topic: String)
    /// A newer version of pushfan wrote records of the topic.
    case newerRecords(topic: String)
    /// There is no topic of results, so it is unknown what is finished.
    case noResults(topic: String)
    /// A newer version of pushfan wrote some of what is finished.
    case newerOutcomes

    /// The file cannot be read, for a reason of the system.
    case unreadableFile(path: String, reason: String)
    /// The file cannot be written, for a reason of the system.
    case unwritableFile(path: String, reason: String)
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
    /// The text that says where a list goes on is none that the page before has given.
    case cursor

    /// The file is no audience of the request.
    case audience(AudienceFailure)
    /// A hub or a server beside it does not do it, in a sentence without secrets, with a remedy if there is one to name.
    case peer(PeerFailure, String, hint: String? = nil)

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

extension JobFailure {
    /// Does something with Kafka, and names the action in its failure.
    static func naming<Value>(
        _ action: JobAction, _ body: () throws(KafkaError) -> Value
    ) throws(JobFailure) -> Value {
        do throws(KafkaError) { return try body() } catch { throw .kafka(error, action) }
    }
}
