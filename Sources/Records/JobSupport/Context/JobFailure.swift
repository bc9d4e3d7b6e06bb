package import Kafka

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

/// A failure that one room of jobs has beside those of all.
package protocol RoomFailure: Error {}

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
    /// The file cannot be read, for a reason of the system.
    case unreadableFile(path: String, reason: String)
    /// The file cannot be written, for a reason of the system.
    case unwritableFile(path: String, reason: String)
    /// The text that says where a list goes on is none that the page before has given.
    case cursor
    /// A failure of the room's own. The caller knows the room.
    case room(any RoomFailure)
}

extension JobFailure {
    /// Does something with Kafka, and names the action in its failure.
    package static func naming<Value>(
        _ action: JobAction, _ body: () throws(KafkaError) -> Value
    ) throws(JobFailure) -> Value {
        do throws(KafkaError) { return try body() } catch { throw .kafka(error, action) }
    }
}
