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
}
