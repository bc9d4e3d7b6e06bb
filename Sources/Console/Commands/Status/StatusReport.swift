import Kafka
import PushModel

/// How things stand: what Kafka says, and what workers say of themselves.
struct StatusReport {
    /// One partition of the requests.
    struct Partition {
        let position: GroupPosition
        /// Since when the oldest request without an outcome waits; nil when none does.
        let oldest: Timestamp?
        /// The member that reads it; nil when nobody does, or nobody knows.
        let owner: String?
        /// What its worker says of it.
        let fromWorker: WorkerPage.Partition?
    }

    /// One worker that was asked.
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

    /// The requests that wait for an outcome.
    var lag: Int64 { partitions.reduce(0) { $0 + ($1.oldest == nil ? 0 : $1.position.lag) } }

    /// How long the oldest of them has been waiting, in milliseconds.
    var lagMilliseconds: Int64 { partitions.compactMap { age(of: $0) }.max() ?? 0 }

    /// How long the oldest request of a partition has been waiting, in milliseconds; nil when none does.
    func age(of partition: Partition) -> Int64? { partition.oldest.map { max(0, now.milliseconds - $0.milliseconds) } }

    /// Every loop that told of itself.
    var loops: [WorkerPage.Loop] { workers.flatMap { $0.page.answer?.loops ?? [] } }

    /// What could not be asked, and why.
    var unasked: [String] {
        var list: [String] = []
        if case .failure(let refusal) = group { list.append("who is in the group: \(refusal.text)") }
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
        /// Nothing moves until somebody, or the hub, does something.
        let isStuck: Bool
    }

    /// Why requests wait, in plain words, the gravest first; empty when nothing waits for long.
    var reasons: [Reason] { (groupReasons + loopReasons + partitionReasons).sorted { $0.isStuck && !$1.isStuck } }

    private var groupReasons: [Reason] {
        guard let group = group.answer else { return [] }
        if group.members.isEmpty {
            let waiting = lag > 0 ? ", and " + Counted.text(lag, "request waits", "requests wait") : ""
            return [Reason(text: "no worker is in the group\(waiting): `pushfan worker` starts one", isStuck: lag > 0)]
        }
        guard group.state == .stable else {
            return [Reason(text: "the group is \(group.state.rawValue): nobody reads meanwhile", isStuck: false)]
        }
        let orphans = partitions.filter { $0.owner == nil }.map { "\($0.position.partition.partition)" }
        guard !orphans.isEmpty else { return [] }
        return [Reason(text: "nobody reads partition \(orphans.joined(separator: ", "))", isStuck: true)]
    }

    private var loopReasons: [Reason] {
        loops.flatMap { loop in
            var reasons: [Reason] = []
            if loop.circuit == "open" || loop.circuit == "half_open" {
                let probe = loop.circuitChange.map { "; the next probe goes \(wait(until: $0))" } ?? ""
                let why = loop.circuitReason.map { " (\($0))" } ?? ""
                reasons.append(
                    Reason(
                        text: "\(loop.worker): the hub is out\(why)\(probe): `pushfan doctor` asks it",
                        isStuck: loop.circuit == "open"))
            }
            if let until = loop.throttledUntil, until > now {
                reasons.append(
                    Reason(
                        text: "\(loop.worker): the hub asked to wait, and is called again \(wait(until: until))", isStuck: false))
            }
            if loop.mode != "running" { reasons.append(Reason(text: "\(loop.worker): is \(loop.mode)", isStuck: false)) }
            if let at = loop.at, now.milliseconds - at.milliseconds > 30_000 {
                reasons.append(
                    Reason(
                        text:
                            "\(loop.worker): has not turned for \(TimeText.length(milliseconds: now.milliseconds - at.milliseconds))",
                        isStuck: true))
            }
            return reasons
        }
    }

    private var partitionReasons: [Reason] {
        partitions.compactMap { partition in
            let number = partition.position.partition.partition
            if partition.position.finished == nil {
                return Reason(
                    text: "partition \(number): its position was written by another program, or a newer version", isStuck: true)
            }
            guard partition.position.windowUse >= 0.9 else { return nil }
            let oldest = partition.fromWorker?.oldest
            let attempt = oldest?.attempt.map { " (attempt \($0))" } ?? ""
            return Reason(
                text: "partition \(number): its window is full behind offset \(partition.position.start)\(attempt)", isStuck: true
            )
        }
    }

    private func wait(until moment: Timestamp) -> String {
        moment > now ? "in " + TimeText.length(milliseconds: moment.milliseconds - now.milliseconds) : "now"
    }
}
