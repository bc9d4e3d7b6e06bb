import Jobs
import Kafka
import Settings

/// Queries the facts of the workers' group.
struct GroupQuery {
    let settings: Settings
    let timeout: Duration
    let now: Int64

    func facts(_ topics: [TopicFacts], _ description: Result<GroupDescription, Refusal>, _ admin: TopicAdmin) -> GroupFacts {
        let id = settings.kafka.groupID
        let configuration = settings.kafkaConfiguration()
        let requests = topics.first { $0.role.role == "requests" }
        let shared = topics.filter(\.role.isShared).compactMap { facts in
            facts.partitions.answer.map { (topic: facts.role.name, partitionCount: $0.count) }
        }
        let positions: Result<[GroupPosition], Refusal> =
            switch requests?.partitions {
            case .success:
                Result { () throws(KafkaError) in
                    try GroupPosition.all(of: id, in: shared, admin, configuration, timeout: timeout)
                }
            case .failure, nil: .failure(Refusal(.missing, text: "the requests topic is not there, or this user may not see it"))
            }
        let starts = positions.answer.map { positions in
            Result<GroupStarts, Refusal> { () throws(KafkaError) in
                try GroupStarts.ask(among: positions, settings.kafka, now: now, admin, configuration, timeout: timeout)
            }
        }
        let newer = positions.answer.flatMap { positions in
            Result<[TopicPartition], Refusal> { () throws(KafkaError) in
                try NewerRecords.ask(among: positions, settings.kafka, configuration, timeout: timeout)
            }.answer
        }
        return GroupFacts(
            id: id, positions: positions,
            description: description,
            delays: Set(settings.kafka.topics.delays), rule: settings.kafka.start, starts: starts,
            newer: newer ?? [])
    }
}
