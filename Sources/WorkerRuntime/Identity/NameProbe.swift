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
        let admin = try TopicAdmin(configuration.kafka)
        let group = try admin.describe(group: configuration.groupID, timeout: .seconds(2))
        guard let member = group.members.first(where: { $0.name == configuration.instanceID }) else { return .nobody }
        let holder = Incarnation(clientID: member.clientID)
        let isGone = isAlone && (holder.map { $0.isGone(seenBy: own) } ?? false)
        let hasLeft = holder != own && !isGone && hasLeft(member.partitions)
        return NameHolder(holder: holder, own: own, isGone: isGone, hasLeft: hasLeft)
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
