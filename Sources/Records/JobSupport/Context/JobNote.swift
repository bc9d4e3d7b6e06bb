package import Kafka

/// The progress of reading a topic, or the originals of requests.
package enum ReadingProgress: Sendable, Equatable {
    /// Reading begins.
    case began(ReadingSource, count: Int64)
    /// The number of records that are left.
    case reached(remaining: Int64)
    /// Reading has ended, well or not.
    case ended
    /// A new index is filled, and is sorted in one order after another.
    case sorting(done: Int, of: Int)
}

/// A source of records.
package enum ReadingSource: Sendable, Equatable {
    /// A topic.
    case topic(String)
    /// The requests that a replay repeats.
    case originals
}

/// An event of a job that changes nothing of its answer.
package enum JobNote: Sendable {
    /// The results are read from the topic, for a reason in a sentence without its end.
    case indexUnused(String)
    /// A kept index cannot be used for a reason in one line, and is tried again.
    case indexFailed(String)
    /// The index in the file is rebuilt, for a reason in words behind the file's name.
    case indexRebuilt(path: String, String)
    /// The number of results of replays that the topic of replays does not know.
    case unknownReplays(results: Int, topic: String)
    /// The replay was paused before the item `next` of so many.
    case paused(next: Int, count: Int)
    /// The replay goes on with a new session after an error.
    case retrying(KafkaError)
}
