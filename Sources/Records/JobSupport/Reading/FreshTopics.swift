package import Kafka

/// Patience with topics that were created a moment ago: brokers learn of them one after another.
///
/// One of these is Kafka's own for the positions of groups. It is created on the first query for a group. Until its partitions
/// have leaders, or have them again, groups have no coordinator.
package enum FreshTopics {
    /// The time for which a topic may be unknown before it counts as missing.
    private static let patience = Duration.seconds(2)
    /// The time for which a group may be without its coordinator.
    private static let coordinatorPatience = Duration.seconds(8)

    /// Does something again for a while if it fails because a topic is not known, or it or a group has no leader yet.
    package static func retrying<Value: ~Copyable>(
        unless isCancelled: () -> Bool, _ body: () throws(KafkaError) -> Value
    ) throws(KafkaError) -> Value {
        let (deadline, coordinatorDeadline) = (Deadline(after: patience), Deadline(after: coordinatorPatience))
        while true {
            do throws(KafkaError) {
                return try body()
            } catch {
                let isPassing =
                    isTopicUnknown(error) && !deadline.hasPassed || isCoordinatorAway(error) && !coordinatorDeadline.hasPassed
                guard isPassing, !isCancelled() else { throw error }
            }
            Pause.sleep(.milliseconds(50))
        }
    }

    private static func isTopicUnknown(_ error: KafkaError) -> Bool {
        error.isUnknownTopicOrPartition || ["LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION"].contains(error.name)
    }

    private static func isCoordinatorAway(_ error: KafkaError) -> Bool {
        ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"].contains(error.name)
    }
}
