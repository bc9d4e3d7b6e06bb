import Delivery
import Kafka

/// Asks a worker's group who has the worker's name.
struct NameProbe {
    private let configuration: WorkerConfiguration
    private let own: Incarnation

    /// Looks for the run `own`, which has the name or wants to have it.
    init(_ configuration: WorkerConfiguration, own: Incarnation) {
        self.configuration = configuration
        self.own = own
    }

    /// Finds out who has the name, for some 6 s at most. `isAlone` if no other process beside this one holds it. Throws where
    /// brokers did not say.
    func callAsFunction(isAlone: Bool) throws(KafkaError) -> NameHolder {
        guard let member = try describe().member else { return .nobody }
        let holder = Incarnation(clientID: member.clientID)
        let isGone = isAlone && (holder.map { $0.isGone(seenBy: own) } ?? false)
        let hasLeft = holder != own && !isGone && hasLeft(member.partitions)
        return NameHolder(holder: holder, own: own, isGone: isGone, hasLeft: hasLeft)
    }

    /// Finds out which member has the name, for some 4 s at most. Returns nil for none. Throws where brokers did not say.
    func member() throws(KafkaError) -> NameMember? {
        let (group, member) = try describe()
        return member.map { NameMember(memberID: $0.id, coordinator: group.coordinator, isStable: group.state == .stable) }
    }

    private func describe() throws(KafkaError) -> (group: GroupDescription, member: GroupMember?) {
        let group = try TopicAdmin(configuration.kafka).describe(group: configuration.groupID, timeout: .seconds(2))
        return (group, group.members.first { $0.name == configuration.instanceID })
    }

    /// True if the owner of partitions has finished its work: a worker that begins takes back what positions of delay lanes say of
    /// that before anything else. Without such partitions, or an answer, it is not known.
    private func hasLeft(_ partitions: [TopicPartition]) -> Bool {
        let delays = partitions.filter { configuration.topics.delays.contains($0.topic) }
        guard !delays.isEmpty,
            let consumer = try? Consumer(configuration.kafka, groupID: configuration.groupID, wakeUpFileDescriptor: -1)
        else { return false }
        defer { consumer.close(timeout: .seconds(1)) }
        let positions = (try? consumer.group.committed(delays, timeout: .seconds(2))) ?? []
        return positions.contains { position in (try? FinishedOffsets(decoding: position.metadata))?.begun != nil }
    }
}
