import Glibc
import Kafka

/// Patience with topics that were created a moment ago: brokers learn of them one after another.
enum FreshTopics {
    /// How long a topic may be unknown before it counts as missing.
    private static let patience = Duration.seconds(2)

    /// Does something again for a while if it fails because a topic is not known, or has no leader yet.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What it returns.
    /// - Throws: What it throws for another reason, or at last.
    static func retrying<Value: ~Copyable>(_ body: () throws(KafkaError) -> Value) throws(KafkaError) -> Value {
        let deadline = Deadline(after: patience)
        while true {
            do throws(KafkaError) {
                return try body()
            } catch {
                guard isPassing(error), !deadline.hasPassed, !Interruption.isRequested else { throw error }
            }
            var pause = timespec(tv_sec: 0, tv_nsec: 50_000_000)
            nanosleep(&pause, nil)
        }
    }

    private static func isPassing(_ error: KafkaError) -> Bool {
        error.isUnknownTopicOrPartition || ["LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION"].contains(error.name)
    }
}
