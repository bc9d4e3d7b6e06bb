import Jobs
import Kafka
import PushModel

/// The report on the present state, from Kafka and from the workers themselves.
struct StatusReport {
    /// One partition of a topic that workers share.
    struct Partition {
        let position: GroupPosition
        /// The time since which the oldest request without an outcome waits, or of delayed or held requests the due time. Nil
        /// when none waits.
        let oldest: Timestamp?
        /// The member that reads it, or nil when none does, or that is unknown.
        let owner: String?
        /// The report of its worker.
        let fromWorker: WorkerPage.Partition?
        /// Requests wait in it because they must not be sent yet.
        var isDelayed = false
        /// Requests wait in it behind others with their ordering keys.
        var isHeld = false
        /// The counts that were found by reading it, or nil if only offsets are known.
        var counted: WaitingCount?

        /// The requests that wait for an outcome, at most.
        var lag: Int64 { counted?.most ?? (oldest == nil ? 0 : position.lag) }
        /// True if fewer may wait: not all was read, and workers write by transactions, whose ends take an offset each.
        var mayBeFewer: Bool { counted.map { $0.unread > 0 } ?? ((isDelayed || isHeld) && lag > 0) }
    }

    /// One queried worker.
    struct Worker {
        let url: String
        /// Its page, or why there is none.
        let page: Result<WorkerPage, CommandFailure>
        /// The page as it came.
        var raw: [UInt8] = []
    }

    let now: Timestamp
    let groupID: String
    let group: Result<GroupDescription, Refusal>
    let partitions: [Partition]
    let workers: [Worker]
    /// Topics that could not be queried, each with the reason.
    var unknownTopics: [String] = []
    /// The starts of partitions, or nil when they are unknown.
    var starts: GroupStarts?
    /// Partitions that workers of this version leave to a newer one.
    var newer: [TopicPartition] = []

    /// The partitions of each topic, in the order of the topics.
    var topics: [[Partition]] {
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
    private var lanes: [Partition] { partitions.filter { !$0.isDelayed && !$0.isHeld } }

    /// The requests in lanes that wait for an outcome.
    var lag: Int64 { Self.lag(of: lanes) }

    /// The requests in delay lanes.
    var delayedCount: Int64 { Self.lag(of: partitions.filter(\.isDelayed)) }

    /// The requests that are held behind others with their ordering keys.
    var heldCount: Int64 { Self.lag(of: partitions.filter(\.isHeld)) }

    /// The number of cancelled requests among all these, which end when they have their turn.
    var cancelledCount: Int64 { partitions.reduce(Int64(0)) { $0.addingSaturated($1.counted?.cancelled ?? 0) } }

    private static func lag(of partitions: [Partition]) -> Int64 {
        partitions.reduce(Int64(0)) { $0.addingSaturated($1.lag) }
    }

    /// The numbers of waiting, delayed and held requests, in the words of every line that has them: `12 requests wait`, `at most
    /// 7 are delayed`.
    var counts: (waiting: String, delayed: String?, held: String?) {
        func text(_ partitions: [Partition], _ one: String, _ many: String) -> String? {
            let count = Self.lag(of: partitions)
            return count == 0
                ? nil : (partitions.contains(where: \.mayBeFewer) ? "at most " : "") + Counted.text(count, one, many)
        }
        return (
            text(lanes, "request waits", "requests wait") ?? "0 requests wait",
            text(partitions.filter(\.isDelayed), "is delayed", "are delayed"),
            text(partitions.filter(\.isHeld), "is held", "are held")
        )
    }

    /// The wait of the oldest request, in milliseconds. The wait of a delayed or held request begins when it is due.
    var lagMilliseconds: Int64 { partitions.compactMap { age(of: $0) }.max() ?? 0 }

    /// The wait of the oldest request of a partition, in milliseconds: 0 before it is due, nil when none waits.
    func age(of partition: Partition) -> Int64? { partition.oldest.map { max(0, now.milliseconds(since: $0)) } }

    /// The partitions of a topic that have no consumer although the group is stable.
    func orphans(of topic: [Partition]) -> [Partition] {
        guard let group = group.answer, group.state == .stable, !group.members.isEmpty else { return [] }
        // Held requests are read by the owner of their partition of requests.
        return topic.filter { $0.owner == nil && !$0.isHeld }
    }

    /// Every loop that reported itself.
    var loops: [WorkerPage.Loop] { workers.flatMap { $0.page.answer?.loops ?? [] } }

    /// The failed queries, and the reasons.
    var unasked: [String] {
        var list = unknownTopics
        if case .failure(let refusal) = group { list.append("members of the group: \(refusal.text)") }
        for worker in workers {
            if case .failure(let failure) = worker.page { list.append("the worker at \(worker.url): \(failure.message)") }
        }
        if workers.isEmpty {
            list.append(
                "what only workers know (attempts, circuit, limit, rate, throttling): give --worker http://HOST:9464 for each")
        }
        return list
    }
}

extension Result where Failure == CommandFailure {
    /// The answer, if there is one.
    var answer: Success? { try? get() }
}

extension StatusReport {
    /// One reason why requests wait.
    struct Reason: Equatable {
        let text: String
        /// Nothing moves until an operator, or the hub, does something.
        let isStuck: Bool
    }

    /// The reasons for which requests wait, in plain words, the gravest first. Empty when nothing waits for long.
    var reasons: [Reason] { (startReasons + groupReasons + loopReasons + partitionReasons).sorted { $0.isStuck && !$1.isStuck } }

    private var startReasons: [Reason] { leftReasons + awaitingReasons + readingReasons + refusedReasons }

    /// The partitions that begin as soon as a broker is back.
    private var awaitingReasons: [Reason] {
        loops.flatMap(\.partitions).filter(\.waitsForLeader).map {
            Reason(
                text: "\($0.id): the group has no position there, and its worker waits for a leader to begin", isStuck: false)
        }
    }

    /// The partitions that begin as soon as records in them are read.
    private var readingReasons: [Reason] {
        loops.flatMap(\.partitions).compactMap { partition in
            guard let reading = partition.reading else { return nil }
            let amount = "\(reading.count) of \(reading.total) records, \(reading.byteCount / 1_000_000) MB"
            let text = "\(partition.id): its worker reads records that say where to begin (\(amount)), and begins by itself"
            return Reason(text: text, isStuck: false)
        }
    }

    /// The partitions that Kafka shows as left to another version, and the workers' reaction.
    private var leftReasons: [Reason] {
        let left = loops.flatMap(\.partitions).filter { $0.isLeft && !newer.contains($0.id) }
        let fromKafka = NewerRecords.text(newer).map { [Reason(text: "\($0): \(NewerRecords.remedy)", isStuck: true)] } ?? []
        return fromKafka
            + left.map {
                Reason(text: "\($0.id): its worker leaves it to another version, and says why at /readyz", isStuck: true)
            }
    }

    /// The advice before a command that the group's members would disturb.
    private var stop: String { group.answer.map { !$0.members.isEmpty } ?? true ? "stop the workers, then " : "" }

    private var refusedReasons: [Reason] {
        (starts?.obstacles ?? []).map {
            Reason(text: "\($0.text): \(stop)`\($0.command)` sends what has no result", isStuck: true)
        }
    }

    private var groupReasons: [Reason] {
        guard let group = group.answer else { return [] }
        if group.members.isEmpty {
            let isWaiting = partitions.contains { $0.lag > 0 }
            let words = [counts.waiting, counts.delayed, counts.held].compactMap(\.self).joined(separator: ", ")
            let waiting = isWaiting ? ", and \(words)" : ""
            return [Reason(text: "no worker is in the group\(waiting): `pushfan worker` starts one", isStuck: isWaiting)]
        }
        guard group.state == .stable else {
            return [Reason(text: "the group is \(group.state.rawValue): consumption is paused", isStuck: false)]
        }
        return topics.compactMap { topic in
            let orphans = orphans(of: topic)
            guard let name = orphans.first?.position.partition.topic else { return nil }
            let numbers = orphans.map { "\($0.position.partition.partition)" }.joined(separator: ", ")
            return Reason(
                text: "no consumer for " + (orphans.count == topic.count ? name : "partition \(numbers) of \(name)"),
                isStuck: true)
        }
    }

    private var loopReasons: [Reason] {
        loops.flatMap { loop in
            var reasons = loop.hubs.flatMap { self.reasons(of: $0, loop) }
            if let trouble = loop.trouble { reasons.append(Reason(text: "\(loop.worker): \(trouble)", isStuck: false)) }
            if loop.mode != "running" { reasons.append(Reason(text: "\(loop.worker): is \(loop.mode)", isStuck: false)) }
            if let at = loop.at, now.milliseconds(since: at) > 30_000 {
                reasons.append(
                    Reason(
                        text:
                            "\(loop.worker): has not turned for \(TimeText.length(milliseconds: now.milliseconds(since: at)))",
                        isStuck: true))
            }
            return reasons
        }
    }

    /// The reasons for which calls to a hub wait.
    private func reasons(of hub: WorkerPage.Hub, _ loop: WorkerPage.Loop) -> [Reason] {
        var reasons: [Reason] = []
        let name = loop.hubs.count > 1 ? "the hub \(hub.name)" : "the hub"
        if hub.circuit == "open" || hub.circuit == "half_open" {
            let probe = hub.circuitChange.map { "; the next probe goes \(wait(until: $0))" } ?? ""
            let why = (hub.trouble ?? hub.circuitReason).map { " (\($0))" } ?? ""
            reasons.append(
                Reason(
                    text: "\(loop.worker): \(name) is unavailable\(why)\(probe): `pushfan doctor` asks it",
                    isStuck: hub.circuit == "open"))
        } else if let trouble = hub.trouble {
            reasons.append(Reason(text: "\(loop.worker): \(trouble): `pushfan doctor` asks it", isStuck: true))
        }
        if let until = hub.throttledUntil, until > now {
            let text = "\(loop.worker): \(name) asked to wait, and is called again \(wait(until: until))"
            reasons.append(Reason(text: text, isStuck: false))
        }
        return reasons
    }

    private var partitionReasons: [Reason] {
        partitions.compactMap { partition in
            let name = partition.position.partition
            if partition.position.finished == nil {
                return Reason(
                    text: "\(name): its position was written by another program, or a newer version", isStuck: true)
            }
            guard partition.position.windowUse >= 0.9 else { return nil }
            let oldest = partition.fromWorker?.oldest
            let attempt = oldest?.attempt.map { " (attempt \($0))" } ?? ""
            return Reason(
                text: "\(name): its window is full behind offset \(partition.position.start)\(attempt)", isStuck: true)
        }
    }

    private func wait(until moment: Timestamp) -> String {
        moment > now ? "in " + TimeText.length(milliseconds: moment.milliseconds(since: now)) : "now"
    }
}
