import Delivery
import Jobs
import Kafka
import PushModel
import Settings

/// Queries the present state from Kafka and from workers.
struct StatusQuestions {
    let settings: Settings
    /// The time limit of each query.
    let timeout: Duration
    let now: Timestamp
    /// The workers' pages.
    let workers: [HealthTarget]
    /// Reads what was cancelled.
    let cancellations: () throws(CommandFailure) -> Cancellations

    private var group: String { settings.kafka.groupID }

    /// - Returns: The report, or nil when there is no topic of requests.
    /// - Throws: No broker answered, or reading the topic or the group's positions is not allowed.
    func ask() throws(KafkaError) -> StatusReport? {
        let configuration = settings.kafkaConfiguration()
        let admin = try TopicAdmin(configuration)
        guard let (topics, unknown) = try topics(admin) else { return nil }
        let positions = try GroupPosition.all(of: group, in: topics, admin, configuration, timeout: timeout)
        let starts = try GroupStarts.ask(
            among: positions, settings.kafka, now: now.milliseconds, admin, configuration, timeout: timeout)
        let newer = try NewerRecords.ask(among: positions, settings.kafka, configuration, timeout: timeout)
        let description = Result<GroupDescription, Refusal> { () throws(KafkaError) in
            try FreshTopics.retrying { () throws(KafkaError) in try admin.describe(group: group, timeout: timeout) }
        }
        let asked = workers.map(ask)
        let held = GroupPosition.known(
            of: group, in: settings.kafka.topics.held, admin, configuration, timeout: timeout)
        let (counts, trouble) = try counts(in: positions + held)
        let partitions = zip(positions + held, counts).map { position, found in
            StatusReport.Partition(
                position: position, oldest: found.count.oldest, owner: owner(of: position.partition, description),
                fromWorker: told(of: position.partition, asked), isDelayed: found.kind == .delayed,
                isHeld: found.kind == .held, counted: found.count)
        }
        return StatusReport(
            now: now, groupID: group, group: description, partitions: partitions, workers: asked,
            unknownTopics: unknown + [trouble].compactMap(\.self),
            starts: starts, newer: newer)
    }

    /// The topics that workers share, with their numbers of partitions, and the reasons for which others cannot be queried, or
    /// nil when that of requests does not exist. Workers can do without the other topics.
    private func topics(
        _ admin: TopicAdmin
    ) throws(KafkaError) -> (known: [(topic: String, partitionCount: Int)], unknown: [String])? {
        let roles = TopicRole.all(settings.kafka.topics).filter(\.isShared)
        let cluster = try admin.describe(topics: roles.map(\.name), timeout: timeout)
        var topics: [(topic: String, partitionCount: Int)] = []
        var unknown: [String] = []
        for (role, description) in zip(roles, cluster.topics) {
            let isNeeded = role.name == settings.kafka.topics.requests
            switch description {
            case .existing(let count): topics.append((role.name, count))
            case .missing where isNeeded: return nil
            case .missing: unknown.append("\(role.name): there is no such topic; `pushfan topics create` makes it")
            case .failed(let error) where isNeeded: throw error
            case .failed(let error): unknown.append("\(role.name): \(Refusal(error).text)")
            }
        }
        return (topics, unknown)
    }

    /// The counts of waiting requests in each partition.
    ///
    /// - Returns: The partitions with their kinds and counts, and the reason for which cancellations are unknown, or nil if they
    ///   are known.
    /// - Throws: As `RecordFetcher.firstRecord` does.
    private func counts(
        in positions: [GroupPosition]
    ) throws(KafkaError) -> (counts: [(kind: TopicRole.Kind, count: WaitingCount)], trouble: String?) {
        let fetcher = try RecordFetcher(settings.kafkaConfiguration(), readAhead: 1 << 20)
        defer { fetcher.stop() }
        var (cancelled, trouble) = (Cancellations(), String?.none)
        if positions.contains(where: { $0.lag > 0 }) {
            do throws(CommandFailure) { cancelled = try cancellations() } catch {
                trouble = "what was cancelled: \(error.message)"
            }
        }
        var counter = WaitingCounter(fetcher, WaitingReader(of: group, cancelled), timeout: timeout, now: now)
        let delays = Set(settings.kafka.topics.delays)
        var counts: [(kind: TopicRole.Kind, count: WaitingCount)] = []
        for position in positions {
            let topic = position.partition.topic
            let kind: TopicRole.Kind =
                delays.contains(topic) ? .delayed : topic == settings.kafka.topics.held ? .held : .requests
            counts.append((kind, try counter.count(position, kind)))
        }
        return (counts, trouble)
    }

    private func owner(of partition: TopicPartition, _ group: Result<GroupDescription, Refusal>) -> String? {
        group.answer?.members.first { $0.partitions.contains(partition) }.map(\.name)
    }

    private func told(of partition: TopicPartition, _ workers: [StatusReport.Worker]) -> WorkerPage.Partition? {
        let loops = workers.lazy.flatMap { worker in worker.page.answer?.loops ?? [] }
        let number = Int(partition.partition)
        return loops.flatMap(\.partitions).first { $0.topic == partition.topic && $0.partition == number }
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
