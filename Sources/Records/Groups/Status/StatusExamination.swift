import Delivery
package import GroupPositions
package import JobSupport
package import Kafka
import PushModel

/// Queries the present state from Kafka and from workers. One call at a time.
package struct StatusExamination {
    private let terms: GroupTerms
    private let context: JobContext

    /// An examination that has asked nothing yet.
    package init(_ terms: GroupTerms, context: JobContext) {
        self.terms = terms
        self.context = context
    }

    /// Queries the state. Returns nil when there is no topic of requests.
    ///
    /// - Parameters:
    ///   - hearFleet: The workers that reported themselves, or nil if there is no topic for that. It is passed whether the group has members,
    ///     so that there should be some.
    ///   - callWorkers: Workers that are called besides. What such a one says takes the place of its report.
    /// - Returns: The report, or nil when there is no topic of requests.
    /// - Throws: Kafka does not answer what the report cannot do without.
    package func report(
        hearing hearFleet: (_ isExpected: Bool) -> Result<[Fleet.Member]?, JobFailure>,
        calling callWorkers: () -> [StatusReport.Worker] = { [] }
    ) throws(KafkaError) -> StatusReport? {
        let now = Timestamp(milliseconds: context.now())
        let group = GroupExamination(terms, admin: try TopicAdmin(terms.kafka, seesUncommitted: true), context: context)
        guard let (topics, unknown) = try topics(group.admin) else { return nil }
        var gaps = unknown
        let positions = try group.positions(in: topics)
        let beside = group.beside()
        let starts = try group.starts(among: positions, beside: beside)
        let newer = try group.newer(among: positions)
        let description = Result<GroupDescription, KafkaError> { () throws(KafkaError) in try group.description() }
        let members = (try? description.get())?.members ?? []
        let heard = hearFleet(!members.isEmpty)
        if case .failure(let failure) = heard { gaps.append(.unread(topic: context.topics.status, failure)) }
        let fleet = heard.map { $0 ?? [] }
        let workers = Self.workers(calling: callWorkers(), reporting: (try? fleet.get()) ?? [])
        let all = positions + beside.held
        let counts = try counts(by: group, in: all, at: now, noting: &gaps)
        let (owners, states) = (Self.owners(members), Self.states(workers))
        let partitions = zip(all, counts).map { position, count in
            let kind = terms.kind(of: position.partition.topic)
            return StatusReport.Partition(
                position: position, oldest: count.oldest,
                owner: owners[position.partition], fromWorker: states[position.partition], isDelayed: kind == .delayed,
                isHeld: kind == .held,
                counted: count)
        }
        var report = StatusReport(
            now: now, groupID: terms.group, group: description, partitions: partitions,
            workers: workers, gaps: gaps, brokers: terms.kafka.bootstrapServers, starts: starts, newer: newer)
        report.statusTopic = context.topics.status
        if case .success(nil) = heard { report.hasStatusTopic = false }
        return report
    }

    /// The requests that publishers wrote in a second of the minute before a report, by the times of their records. Nil if nothing waits, or
    /// brokers do not say it.
    package func publishedPerSecond(before report: StatusReport) -> Double? {
        let written = report.lanes.map(\.position).filter { $0.partition.topic != context.topics.requestsOwn }
        guard report.lag > 0, let admin = try? TopicAdmin(terms.kafka, seesUncommitted: true),
            let firsts = try? admin.offsets(
                since: report.now.adding(milliseconds: -Self.minute).milliseconds, of: written.map(\.partition),
                timeout: context.timeout)
        else { return nil }
        let count = zip(written, firsts).reduce(Int64(0)) { sum, found in
            sum.addingSaturated(found.1.map { max(0, found.0.high - $0) } ?? 0)
        }
        return Double(count) * 1000 / Double(Self.minute)
    }

    /// Milliseconds.
    private static let minute: Int64 = 60_000

    /// The workers that were called, and those of the fleet that are none of them.
    private static func workers(calling called: [StatusReport.Worker], reporting fleet: [Fleet.Member]) -> [StatusReport.Worker] {
        let loops = Set(called.flatMap { (try? $0.page.get())?.loops ?? [] }.map(\.worker))
        return called + fleet.filter { loops.isDisjoint(with: $0.page.loops.map(\.worker)) }.map { StatusReport.Worker($0) }
    }

    /// The topics that workers share, with their numbers of partitions, and those that cannot be queried, or nil when that of requests
    /// does not exist. Workers can do without the other topics.
    private func topics(
        _ admin: TopicAdmin
    ) throws(KafkaError) -> (known: [(topic: String, partitionCount: Int)], gaps: [ReportGap])? {
        let names = terms.requests + terms.delays
        var topics: [(topic: String, partitionCount: Int)] = []
        var gaps: [ReportGap] = []
        for (name, description) in zip(names, try admin.describe(topics: names, timeout: context.timeout).topics) {
            let isNeeded = name == context.topics.requests
            switch description {
            case .existing(let count): topics.append((name, count))
            case .missing where isNeeded: return nil
            case .missing: gaps.append(.missing(topic: name))
            case .failed(let error) where isNeeded: throw error
            case .failed(let error): gaps.append(.undescribed(topic: name, error))
            }
        }
        return (topics, gaps)
    }

    /// The counts of waiting requests in each partition. Cancellations that cannot be read are a gap.
    private func counts(
        by group: GroupExamination, in positions: [GroupPosition], at now: Timestamp, noting gaps: inout [ReportGap]
    ) throws(KafkaError) -> [WaitingCount] {
        var cancelled = StoppedRequests()
        if positions.contains(where: { $0.lag > 0 }) {
            do throws(JobFailure) { cancelled = try context.stoppedRequests() } catch { gaps.append(.cancellations(error)) }
        }
        return try group.waiting(in: positions, cancelled: cancelled, at: now)
    }

    /// The name of the first member that has each partition.
    private static func owners(_ members: [GroupMember]) -> [TopicPartition: String] {
        Dictionary(members.flatMap { member in member.partitions.map { ($0, member.name) } }) { first, _ in first }
    }

    /// The state of each partition by the first worker that reports it.
    private static func states(_ workers: [StatusReport.Worker]) -> [TopicPartition: WorkerPage.Partition] {
        let loops = workers.lazy.filter { !$0.isStale }.flatMap { (try? $0.page.get())?.loops ?? [] }
        return Dictionary(loops.flatMap(\.partitions).map { ($0.id, $0) }) { first, _ in first }
    }
}
