import Delivery
import Kafka

extension Consumer {
    /// A worker's member of its group.
    ///
    /// - Parameters:
    ///   - configuration: The worker's configuration.
    ///   - heartbeatInterval: The interval at which it hears of rebalances.
    ///   - room: What the library may hold of each partition.
    ///   - wakeUpFileDescriptor: The descriptor that is signalled when an event is there.
    /// - Throws: `KafkaError`, for a configuration that was refused.
    convenience init(
        _ configuration: WorkerConfiguration, heartbeatInterval: Duration, room: QueueRoom, wakeUpFileDescriptor: Int32
    ) throws(KafkaError) {
        try self.init(
            configuration.memberKafka, groupID: configuration.groupID,
            instanceID: configuration.guarantee == .exactlyOnce ? configuration.instanceID : nil,
            sessionTimeout: configuration.sessionTimeout, heartbeatInterval: heartbeatInterval, room: room,
            reportsPartitionEnd: true, wakeUpFileDescriptor: wakeUpFileDescriptor)
    }

    /// Joins the group for the topics that its members share, or takes what no group assigns.
    ///
    /// - Parameter configuration: The worker's configuration.
    /// - Throws: `KafkaError`, for names of topics that were refused.
    func join(_ configuration: WorkerConfiguration) throws(KafkaError) {
        guard let fixed = configuration.fixedPartitions else { return try subscribe(configuration.topics.shared) }
        take(fixed)
    }
}
