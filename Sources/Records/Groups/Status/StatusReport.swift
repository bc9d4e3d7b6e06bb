package import JobSupport
package import Kafka
package import PushModel

/// The report on the present state, from Kafka and from the workers themselves.
package struct StatusReport: Sendable {
    /// One partition of a topic that workers share.
    package struct Partition: Sendable {
        /// The position of the group in it.
        package let position: GroupPosition
        /// The time since which the oldest request without an outcome waits, or of delayed or held requests the due time. Nil
        /// when none waits.
        package let oldest: Timestamp?
        /// The member that reads it, or nil when none does, or that is unknown.
        package let owner: String?
        /// The report of its worker.
        package let fromWorker: WorkerPage.Partition?
        /// Requests wait in it because they must not be sent yet.
        package var isDelayed = false
        /// Requests wait in it behind others with their ordering keys.
        package var isHeld = false
        /// The counts that were found by reading it, or nil if only offsets are known.
        package var counted: WaitingCount?

        /// The requests that wait for an outcome, at most.
        package var lag: Int64 { counted?.most ?? (oldest == nil ? 0 : position.lag) }
        /// True if fewer may wait: not all was read, and workers write by transactions, whose ends take an offset each.
        package var mayBeFewer: Bool { counted.map { $0.unread > 0 } ?? ((isDelayed || isHeld) && lag > 0) }
    }

    /// A worker that reported itself, or was called.
    package struct Worker: Sendable {
        /// Its name where it reported itself, or the URL that was called.
        package let name: String
        /// The milliseconds since it reported itself, or nil if it was called.
        package let age: Int64?
        /// Its page, or why there is none.
        package let page: Result<WorkerPage, UnreadPage>
        /// The page as it came.
        package let raw: [UInt8]

        /// A worker that was called, or with an age one that reported itself.
        package init(name: String, age: Int64? = nil, page: Result<WorkerPage, UnreadPage>, raw: [UInt8] = []) {
            self.name = name
            self.age = age
            self.page = page
            self.raw = raw
        }

        /// A worker that reported itself.
        package init(_ member: Fleet.Member) {
            self.init(name: member.id, age: member.age, page: .success(member.page), raw: member.raw)
        }

        /// True if what it reported may no longer hold.
        package var isStale: Bool { age.map { $0 > Fleet.staleAge } ?? false }
    }

    /// The reason why there is no page of a worker, one line.
    package struct UnreadPage: Error, Equatable {
        package let message: String

        /// A reason.
        package init(_ message: String) { self.message = message }
    }

    /// The time of the queries.
    package let now: Timestamp
    /// The group's name.
    package let groupID: String
    /// The group's state and members, or why they are unknown.
    package let group: Result<GroupDescription, KafkaError>
    /// The partitions of topics that workers share, and of held requests.
    package let partitions: [Partition]
    /// The workers that reported themselves, and those that were called.
    package let workers: [Worker]
    /// The failed queries, but for those of the group and of workers.
    package var gaps: [ReportGap] = []
    /// The addresses of the brokers that were called.
    package var brokers = ""
    /// The topic on which workers report themselves.
    package var statusTopic = "push.status.v1"
    /// False if it is not there.
    package var hasStatusTopic = true
    /// The starts of partitions, or nil when they are unknown.
    package var starts: GroupStarts?
    /// Partitions that workers of this version leave to a newer one.
    package var newer: [TopicPartition] = []

    /// The holds and limits that stand, or nil before they are read, and where they cannot be.
    package var orders: StandingOrders?
    /// The requests that are published in a second, or nil if that is not known.
    package var publishedPerSecond: Double?

    /// The group's state and members, or nil when they are unknown.
    package var groupDescription: GroupDescription? { try? group.get() }

    /// The partitions of each topic, in the order of the topics.
    package var topics: [[Partition]] {
        var topics: [[Partition]] = []
        for partition in partitions {
            if topics.last?.last?.position.partition.topic == partition.position.partition.topic {
                topics[topics.count - 1].append(partition)
            } else {
                topics.append([partition])
            }
        }
        return topics
    }

    /// The partitions of lanes.
    package var lanes: [Partition] { partitions.filter { !$0.isDelayed && !$0.isHeld } }

    /// The requests in lanes that wait for an outcome.
    package var lag: Int64 { Self.lag(of: lanes) }

    /// The requests in delay lanes.
    package var delayedCount: Int64 { Self.lag(of: partitions.filter(\.isDelayed)) }

    /// The requests that are held behind others with their ordering keys.
    package var heldCount: Int64 { Self.lag(of: partitions.filter(\.isHeld)) }

    /// The number of cancelled requests among all these, which end when they have their turn.
    package var cancelledCount: Int64 { partitions.reduce(Int64(0)) { $0.addingSaturated($1.counted?.cancelled ?? 0) } }

    /// The requests of some partitions that wait for an outcome, at most.
    package static func lag(of partitions: [Partition]) -> Int64 {
        partitions.reduce(Int64(0)) { $0.addingSaturated($1.lag) }
    }

    /// The wait of the oldest request, in milliseconds. The wait of a delayed or held request begins when it is due.
    package var lagMilliseconds: Int64 { partitions.compactMap { age(of: $0) }.max() ?? 0 }

    /// The wait of the oldest request of a partition, in milliseconds: 0 before it is due, nil when none waits.
    package func age(of partition: Partition) -> Int64? { partition.oldest.map { max(0, now.milliseconds(since: $0)) } }

    /// The partitions of a topic that have no consumer although the group is stable.
    package func orphans(of topic: [Partition]) -> [Partition] {
        guard let group = groupDescription, group.state == .stable, !group.members.isEmpty else { return [] }
        // Held requests are read by the owner of their partition of requests.
        return topic.filter { $0.owner == nil && !$0.isHeld }
    }

    /// Every loop of a worker that answered, or has reported itself of late.
    package var loops: [WorkerPage.Loop] { workers.filter { !$0.isStale }.flatMap { (try? $0.page.get())?.loops ?? [] } }

    /// All failed queries: the gaps, those of the group and of workers, and what no worker has reported.
    package var unasked: [ReportGap] {
        var list = gaps
        if case .failure(let error) = group { list.append(.members(error)) }
        for worker in workers {
            if case .failure(let failure) = worker.page { list.append(.worker(url: worker.name, reason: failure.message)) }
        }
        let mayHaveMembers = groupDescription.map { !$0.members.isEmpty } ?? true
        if workers.isEmpty, mayHaveMembers { list.append(.unreported(topic: statusTopic, isMissing: !hasStatusTopic)) }
        return list + partlyUnasked
    }

    /// Missing reports of a fleet that has some, and what is in trouble and had no room in reports.
    private var partlyUnasked: [ReportGap] {
        var list: [ReportGap] = []
        let pages = workers.compactMap { worker in (try? worker.page.get()).map { (worker.name, $0) } }
        for (name, page) in pages where page.omittedProblems > 0 {
            list.append(.cut(worker: name, problems: page.omittedProblems))
        }
        let heard = Set(loops.map(\.worker))
        let silent = groupDescription?.members.count { !heard.contains($0.name) } ?? 0
        let isWhole = pages.allSatisfy { $0.1.omittedLoops == 0 }
        if isWhole, silent > 0, !heard.isEmpty { list.append(.silent(members: silent)) }
        return list
    }
}
