import GroupPositions
import JobSupport
import Kafka
import PushModel

extension StatusReport {
    /// The numbers of waiting, delayed and held requests, in the words of every line that has them: `12 requests wait`, `at most
    /// 7 are delayed`.
    package var counts: (waiting: String, delayed: String?, held: String?) {
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
}

extension StatusReport {
    /// One reason why requests wait.
    package struct WaitCause: Sendable, Equatable {
        /// The kind of it.
        package let kind: Kind
        /// The reason in one line. Names in it are as others wrote them, control characters included.
        package let text: String
        /// Nothing moves until an operator, or the hub, does something.
        package let isStuck: Bool

        /// A reason. Stuck is what moves only once an operator, or the hub, does something.
        package init(_ kind: Kind, text: String, isStuck: Bool = false) {
            (self.kind, self.text, self.isStuck) = (kind, text, isStuck)
        }

        /// The reason as JSON, with `limit` characters of its text at most.
        package func json(limit: Int = .max) -> [UInt8] {
            let shown = text.utf8.count <= limit ? text : String(Substring(text.unicodeScalars.prefix(limit)))
            return JSONObject(["kind": kind.rawValue, "stuck": isStuck, "text": shown]).bytes
        }
    }

    /// The reasons for which requests wait, in plain words, the gravest first. Empty when nothing waits.
    package var reasons: [WaitCause] {
        let all =
            startReasons + groupReasons + silenceReasons + loopReasons + limitReasons + partitionReasons
            + transactionReasons
        return all.sorted { $0.isStuck && !$1.isStuck }
    }

    private var startReasons: [WaitCause] { leftReasons + awaitingReasons + readingReasons + refusedReasons }

    /// The partitions that begin as soon as a broker is back, or others have begun.
    private var awaitingReasons: [WaitCause] {
        loops.flatMap(\.partitions).filter(\.waitsForLeader).map {
            WaitCause(
                .start,
                text:
                    "\($0.id): the group has no position there, and its worker waits for a leader, or for other workers, to begin"
            )
        }
    }

    /// The partitions that begin as soon as records in them are read.
    private var readingReasons: [WaitCause] {
        loops.flatMap(\.partitions).compactMap { partition in
            guard let reading = partition.reading else { return nil }
            let amount = "\(reading.count) of \(reading.total) records, \(reading.byteCount / 1_000_000) MB"
            let text = "\(partition.id): its worker reads records that say where to begin (\(amount)), and begins by itself"
            return WaitCause(.start, text: text)
        }
    }

    /// The partitions that workers leave as they are, until an operator decides, and what Kafka shows of them.
    private var leftReasons: [WaitCause] {
        let left = loops.flatMap(\.partitions).filter { $0.isLeft && !newer.contains($0.id) }
        let fromKafka =
            NewerRecords.text(newer).map { [WaitCause(.left, text: "\($0): \(NewerRecords.remedy)", isStuck: true)] } ?? []
        return fromKafka
            + left.map {
                WaitCause(.left, text: "\($0.id): its worker leaves it as it is, and says why at /readyz", isStuck: true)
            }
    }

    /// The advice before a command that the group's members would disturb.
    private var stop: String { groupDescription.map { !$0.members.isEmpty } ?? true ? "stop the workers, then " : "" }

    private var refusedReasons: [WaitCause] {
        (starts?.obstacles ?? []).map {
            WaitCause(.start, text: "\($0.text): \(stop)`\($0.command)` sends what has no result", isStuck: true)
        }
    }

    private var groupReasons: [WaitCause] {
        guard let group = groupDescription else { return [] }
        if group.members.isEmpty {
            let isWaiting = partitions.contains { $0.lag > 0 }
            let words = [counts.waiting, counts.delayed, counts.held].compactMap(\.self).joined(separator: ", ")
            let waiting = isWaiting ? ", and \(words)" : ""
            return [
                WaitCause(.noWorker, text: "no worker is in the group\(waiting): `pushfan worker` starts one", isStuck: isWaiting)
            ]
        }
        guard group.state == .stable else {
            return [WaitCause(.rebalance, text: "the group is \(group.state.rawValue): consumption is paused")]
        }
        return topics.compactMap { topic in
            let orphans = orphans(of: topic)
            guard let name = orphans.first?.position.partition.topic else { return nil }
            let numbers = orphans.map { "\($0.position.partition.partition)" }.joined(separator: ", ")
            return WaitCause(
                .noReader,
                text: "no consumer for " + (orphans.count == topic.count ? name : "partition \(numbers) of \(name)"),
                isStuck: true)
        }
    }

    /// The workers that have reported themselves, and do so no more. What they said last holds no more either.
    private var silenceReasons: [WaitCause] {
        workers.compactMap { worker in
            guard worker.isStale, let age = worker.age else { return nil }
            return WaitCause(.silence, text: "\(worker.name): has not reported for \(age / 1000) s")
        }
    }

    private var loopReasons: [WaitCause] {
        loops.flatMap { loop in
            var reasons = loop.hubs.flatMap { self.reasons(of: $0, in: loop) }
            if let trouble = loop.problem { reasons.append(WaitCause(.problem, text: "\(loop.worker): \(trouble)")) }
            if let trouble = loop.kafkaProblem {
                reasons.append(WaitCause(.kafka, text: "\(loop.worker): \(trouble)\(lastCommit(of: loop))"))
            }
            if loop.mode != "running" { reasons.append(WaitCause(.mode, text: "\(loop.worker): is \(loop.mode)")) }
            if let at = loop.at, now.milliseconds(since: at) > 30_000 {
                reasons.append(
                    WaitCause(
                        .silence,
                        text:
                            "\(loop.worker): has not turned for \(TimeText.length(milliseconds: now.milliseconds(since: at)))",
                        isStuck: true))
            }
            return reasons
        }
    }

    /// The reasons for which calls to a hub wait.
    private func reasons(of hub: WorkerPage.Hub, in loop: WorkerPage.Loop) -> [WaitCause] {
        var reasons: [WaitCause] = []
        let name = loop.hubs.count > 1 ? "the hub \(hub.name)" : "the hub"
        if hub.circuit == "open" || hub.circuit == "half_open" {
            let probe = hub.circuitChange.map { "; the next probe goes \(wait(until: $0))" } ?? ""
            let why = (hub.problem ?? hub.circuitReason).map { " (\($0))" } ?? ""
            reasons.append(
                WaitCause(
                    .outage, text: "\(loop.worker): \(name) is unavailable\(why)\(probe): `pushfan doctor` asks it",
                    isStuck: hub.circuit == "open"))
        } else if let trouble = hub.problem {
            reasons.append(WaitCause(.outage, text: "\(loop.worker): \(trouble): `pushfan doctor` asks it", isStuck: true))
        }
        if let until = hub.throttledUntil, until > now {
            let text = "\(loop.worker): \(name) asked to wait, and is called again \(wait(until: until))"
            reasons.append(WaitCause(.pause, text: text))
        }
        if let limit = limitReason(of: hub, named: name, in: loop) { reasons.append(limit) }
        return reasons
    }

    private var partitionReasons: [WaitCause] {
        partitions.compactMap { partition in
            let name = partition.position.partition
            if let metadata = partition.position.unknownMetadata {
                return WaitCause(
                    .position, text: "\(name): its position has \(metadata): `pushfan doctor` says what to do", isStuck: true)
            }
            guard partition.position.windowUse >= 0.9 else { return nil }
            let oldest = partition.fromWorker?.oldest
            let attempt = oldest?.attempt.map { " (attempt \($0))" } ?? ""
            return WaitCause(
                .window, text: "\(name): its window is full behind offset \(partition.position.start)\(attempt)", isStuck: true)
        }
    }

    /// The transactions that hide what waits for longer than a commit takes.
    private var transactionReasons: [WaitCause] {
        partitions.compactMap(\.counted?.transaction).filter { $0.isLong(at: now) }.map { transaction in
            let isHanging = transaction.isHanging(at: now)
            let end = isHanging ? "`pushfan doctor` says how to find its producer" : "its producer ends it, or Kafka does"
            return WaitCause(.transaction, text: "\(transaction.text): \(end)", isStuck: isHanging)
        }
    }

    private func lastCommit(of loop: WorkerPage.Loop) -> String {
        loop.lastCommit.map { "; the last commit was \(TimeText.length(milliseconds: max(0, now.milliseconds(since: $0)))) ago" }
            ?? ""
    }

    private func wait(until moment: Timestamp) -> String {
        moment > now ? moment.distance(from: now) : "now"
    }
}
