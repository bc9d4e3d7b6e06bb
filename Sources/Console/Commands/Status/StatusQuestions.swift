import Kafka
import PushModel
import Settings

/// Asks Kafka and workers how things stand.
struct StatusQuestions {
    let settings: Settings
    /// How long each question may take.
    let timeout: Duration
    let now: Timestamp
    /// The workers' pages.
    let workers: [HealthTarget]

    private var topic: String { settings.kafka.topics.requests }
    private var group: String { settings.kafka.groupID }

    /// - Returns: How things stand; nil when there is no topic of requests.
    /// - Throws: No broker answered, or the topic or the group's positions must not be seen.
    func ask() throws(KafkaError) -> StatusReport? {
        let configuration = settings.kafkaConfiguration()
        let admin = try TopicAdmin(configuration)
        let cluster = try admin.describe(topics: [topic], timeout: timeout)
        switch cluster.topics[0] {
        case .existing: break
        case .missing: return nil
        case .failed(let error): throw error
        }
        let count = cluster.partitions[0].count
        let positions = try GroupPosition.all(
            of: group, in: topic, partitionCount: count, admin, configuration, timeout: timeout)
        let description = Result<GroupDescription, Refusal> { () throws(KafkaError) in
            try FreshTopics.retrying { () throws(KafkaError) in try admin.describe(group: group, timeout: timeout) }
        }
        let asked = workers.map(ask)
        let fetcher = try RecordFetcher(configuration, readAhead: 1 << 20)
        defer { fetcher.stop() }
        var partitions: [StatusReport.Partition] = []
        for position in positions {
            partitions.append(
                StatusReport.Partition(
                    position: position, oldest: try oldest(position, fetcher), owner: owner(of: position.partition, description),
                    fromWorker: told(of: position.partition, asked)))
        }
        return StatusReport(now: now, groupID: group, group: description, partitions: partitions, workers: asked)
    }

    /// When the first record without an outcome was published; of one without a time, the beginning of 1970 would be wrong, so now.
    private func oldest(_ position: GroupPosition, _ fetcher: RecordFetcher) throws(KafkaError) -> Timestamp? {
        let finished = Set(position.finishedOffsets)
        var offset = position.start
        while offset < position.high {
            if finished.contains(offset) {
                offset += 1
                continue
            }
            guard let record = try fetcher.firstRecord(from: offset, of: position.partition, timeout: timeout) else { return nil }
            if !finished.contains(record.offset) { return record.timestamp.map { Timestamp(milliseconds: $0) } ?? now }
            offset = record.offset + 1
        }
        return nil
    }

    private func owner(of partition: TopicPartition, _ group: Result<GroupDescription, Refusal>) -> String? {
        group.answer?.members.first { $0.partitions.contains(partition) }.map(\.name)
    }

    private func told(of partition: TopicPartition, _ workers: [StatusReport.Worker]) -> WorkerPage.Partition? {
        workers.lazy.flatMap { $0.page.answer?.loops ?? [] }.flatMap(\.partitions)
            .first { $0.topic == partition.topic && $0.partition == Int(partition.partition) }
    }

    private func ask(_ target: HealthTarget) -> StatusReport.Worker {
        do throws(CommandFailure) {
            let answer = try PlainRequest.get(target, timeout: timeout)
            let body = Array(answer.body.utf8)
            guard answer.status == 200, let page = WorkerPage(body) else {
                throw CommandFailure(.failed, "\(target) answered \(answer.status), and not as a worker of this version does")
            }
            return StatusReport.Worker(url: target.description, page: .success(page), raw: body)
        } catch {
            return StatusReport.Worker(url: target.description, page: .failure(error))
        }
    }
}
