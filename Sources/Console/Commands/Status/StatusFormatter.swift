import Jobs
import Kafka
import PushModel

/// Writes a status for a person.
struct StatusFormatter {
    private let report: StatusReport

    init(_ report: StatusReport) {
        self.report = report
    }

    /// `group pushfan: stable, 3 members; 12 requests wait, the oldest for 4.2 s; 7 are delayed, the first is due in 9.0 s; 2 are held`.
    var heading: String {
        let group = report.groupDescription.map { ": " + text($0) } ?? ""
        var heading = "group \(report.groupID)\(group); " + report.counts.waiting
        let lanes = report.partitions.filter { !$0.isDelayed && !$0.isHeld }
        if let age = lanes.compactMap({ report.age(of: $0) }).max() {
            heading += ", the oldest for \(TimeText.length(milliseconds: age))"
        }
        if let delayed = report.counts.delayed { heading += "; \(delayed)" + first(of: report.partitions.filter(\.isDelayed)) }
        if let held = report.counts.held { heading += "; \(held) for an ordering key" }
        if report.cancelledCount > 0 {
            heading += "; of all these " + Counted.text(report.cancelledCount, "is cancelled and ends", "are cancelled and end")
            heading += " in turn"
        }
        return heading
    }

    /// The due time of the first delayed request.
    private func first(of delayed: [StatusReport.Partition]) -> String {
        guard let due = delayed.compactMap(\.oldest).min() else { return "" }
        return due > report.now ? ", the first is due \(moment(due))" : ", the first was due \(moment(due))"
    }

    private func text(_ group: GroupDescription) -> String {
        let members = Counted.text(group.members.count, "member", "members")
        return switch group.state {
        case .stable, .rebalancing: "\(group.state.rawValue), \(members)"
        case .empty: "no members"
        case .absent: "not there yet"
        case .unknown: members
        }
    }

    /// A row for each topic, with its totals.
    var topics: Table {
        var table = Table([
            .init(title: "TOPIC"), .init(title: "PARTITIONS", isNumber: true), .init(title: "READ", isNumber: true),
            .init(title: "LAG", isNumber: true), .init(title: "OLDEST", isNumber: true), .init(title: "IN WORK", isNumber: true),
        ])
        for topic in report.topics {
            let inWork = topic.compactMap { $0.fromWorker?.inWork }
            table.add([
                topic.first?.position.partition.topic ?? "", "\(topic.count)",
                report.groupDescription == nil || topic.contains(where: \.isHeld) ? "-" : "\(topic.count { $0.owner != nil })",
                "\(topic.reduce(Int64(0)) { $0.addingSaturated($1.lag) })", longest(of: topic).map(oldest(in:)) ?? "-",
                inWork.isEmpty ? "-" : "\(inWork.reduce(0, +))",
            ])
        }
        return table
    }

    /// The partition of which the oldest request has waited longest.
    private func longest(of topic: [StatusReport.Partition]) -> StatusReport.Partition? {
        topic.filter { $0.oldest != nil }.min { $0.oldest?.milliseconds ?? 0 < $1.oldest?.milliseconds ?? 0 }
    }

    /// A row for each partition, or nil when there is none to show.
    ///
    /// - Parameter all: Also those in which nothing waits that should not, and which are read as they should be.
    /// - Returns: The table, or nil.
    func partitions(all: Bool) -> Table? {
        let shown = report.topics.flatMap { topic in
            let orphans = report.orphans(of: topic)
            // A topic without any consumer is one line of reasons, not dozens of rows.
            let showsOrphans = !orphans.isEmpty && orphans.count < topic.count
            return topic.filter { all || isNotable($0) || showsOrphans && $0.owner == nil }
        }
        return shown.isEmpty ? nil : table(of: shown)
    }

    private func isNotable(_ partition: StatusReport.Partition) -> Bool {
        if partition.position.finished == nil || partition.position.isBeyondEnd { return true }
        return partition.isDelayed || partition.isHeld ? report.age(of: partition) ?? 0 > 0 : partition.lag > 0
    }

    private func table(of partitions: [StatusReport.Partition]) -> Table {
        var table = Table([
            .init(title: "TOPIC"), .init(title: "PARTITION", isNumber: true), .init(title: "HEAD", isNumber: true),
            .init(title: "COMMITTED", isNumber: true),
            .init(title: "LAG", isNumber: true), .init(title: "OLDEST", isNumber: true), .init(title: "WINDOW", isNumber: true),
            .init(title: "OWNER"), .init(title: "IN WORK", isNumber: true), .init(title: "OLDEST IN WORK"),
        ])
        for partition in partitions {
            let position = partition.position
            table.add([
                position.partition.topic, "\(position.partition.partition)", "\(position.high)",
                position.committed.map { "\($0)" } ?? "-",
                "\(partition.lag)", oldest(in: partition),
                "\(Int(position.windowUse * 100)) %", partition.owner ?? "-",
                partition.fromWorker?.inWork.map { "\($0)" } ?? "-", partition.fromWorker?.oldest.map(text) ?? "-",
            ])
        }
        return table
    }

    /// The wait of the oldest request, or of delayed or held requests the due time.
    private func oldest(in partition: StatusReport.Partition) -> String {
        guard let oldest = partition.oldest else { return "-" }
        if partition.isDelayed || partition.isHeld, oldest > report.now { return moment(oldest) }
        return report.age(of: partition).map(TimeText.length) ?? "-"
    }

    private func text(_ oldest: WorkerPage.Oldest) -> String {
        let offset = oldest.offset.map { "offset \($0)" } ?? ""
        let attempt = oldest.attempt.map { ", attempt \($0)" } ?? ""
        let due = oldest.nextDue.map { " due \(moment($0))" } ?? ""
        return "\(offset)\(attempt), waits for \(oldest.waitsFor)\(due)"
    }

    /// A row for each loop that reported itself, or nil when none did.
    var loops: Table? {
        guard !report.loops.isEmpty else { return nil }
        var table = Table([
            .init(title: "WORKER"), .init(title: "MODE"), .init(title: "CIRCUIT"), .init(title: "LIMIT", isNumber: true),
            .init(title: "IN FLIGHT", isNumber: true), .init(title: "WAITING", isNumber: true),
            .init(title: "RATE/S", isNumber: true),
            .init(title: "THROTTLED", isNumber: true), .init(title: "REBALANCE"), .init(title: "COMMIT"),
        ])
        for loop in report.loops {
            table.add([
                loop.worker, loop.mode, loop.total.circuit, number(loop.total.limit), number(loop.total.inFlight),
                waiting(loop.total), loop.finishedPerSecond, throttled(loop.total),
                loop.lastRebalance.map(moment) ?? "-", loop.lastCommit.map(moment) ?? "-",
            ])
        }
        return table
    }

    /// A row for each hub of each loop, or nil if no loop has several.
    var hubs: Table? {
        guard report.loops.contains(where: { $0.hubs.count > 1 }) else { return nil }
        var table = Table([
            .init(title: "WORKER"), .init(title: "HUB"), .init(title: "REGION"), .init(title: "CIRCUIT"),
            .init(title: "LIMIT", isNumber: true), .init(title: "IN FLIGHT", isNumber: true),
            .init(title: "WAITING", isNumber: true), .init(title: "RATE/S", isNumber: true),
            .init(title: "THROTTLED", isNumber: true),
        ])
        for loop in report.loops {
            for hub in loop.hubs {
                table.add([
                    loop.worker, hub.isRetired ? "\(hub.name) (ends)" : hub.name, hub.region ?? "-", hub.circuit,
                    number(hub.limit), number(hub.inFlight), waiting(hub), hub.ratePerSecond ?? "-", throttled(hub),
                ])
            }
        }
        return table
    }

    private func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }

    private func waiting(_ hub: WorkerPage.Hub) -> String {
        number(hub.waitingForTurn.flatMap { turn in hub.waitingForTimer.map { turn.addingSaturated($0) } })
    }

    private func throttled(_ hub: WorkerPage.Hub) -> String {
        hub.throttledMilliseconds.map { TimeText.length(milliseconds: Int64($0)) } ?? "-"
    }

    /// `3.2 s ago`, `in 4.0 s`.
    private func moment(_ moment: Timestamp) -> String {
        let distance = moment.milliseconds(since: report.now)
        let length = TimeText.length(milliseconds: abs(distance))
        return distance > 0 ? "in \(length)" : "\(length) ago"
    }
}

extension StatusReport {
    /// The status as one JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("at", value: now.text)
        object.add("group", value: groupID)
        object.add("state", value: groupDescription?.state.rawValue)
        if let members = groupDescription?.members { object.add("members", value: members.count) }
        object.add("lag_records", value: Int(lag))
        object.add("lag_ms", value: Int(lagMilliseconds))
        object.add("delayed_records", value: Int(delayedCount))
        object.add("held_records", value: Int(heldCount))
        object.add("cancelled_records", value: Int(cancelledCount))
        object.add("exact", value: !partitions.contains(where: \.mayBeFewer))
        object.add("reasons", array: reasons.map(json))
        object.add("partitions", array: partitions.map(json))
        object.add("workers", array: workers.map(json))
        object.add("not_asked", texts: unasked)
        return object.bytes
    }

    private func json(_ reason: WaitCause) -> [UInt8] {
        var object = JSONObject()
        object.add("stuck", value: reason.isStuck)
        object.add("text", value: reason.text)
        return object.bytes
    }

    private func json(_ partition: Partition) -> [UInt8] {
        let position = partition.position
        var object = JSONObject()
        object.add("topic", value: position.partition.topic)
        object.add("partition", value: Int(position.partition.partition))
        object.add("low", value: Int(position.low))
        object.add("head", value: Int(position.high))
        if let committed = position.committed { object.add("committed", value: Int(committed)) }
        object.add("finished_ahead", value: position.finishedOffsets.count)
        object.add("window_percent", value: Int(position.windowUse * 100))
        object.add("lag_records", value: Int(partition.lag))
        if let age = age(of: partition) { object.add("lag_ms", value: Int(age)) }
        object.add(partition.isDelayed || partition.isHeld ? "due" : "oldest", value: partition.oldest?.text)
        object.add("owner", value: partition.owner)
        if let cancelled = partition.counted?.cancelled { object.add("cancelled_records", value: Int(cancelled)) }
        return object.bytes
    }

    private func json(_ worker: Worker) -> [UInt8] {
        var object = JSONObject()
        object.add("url", value: worker.url)
        switch worker.page {
        case .success: object.add("status", raw: worker.raw.filter { $0 != UInt8(ascii: "\n") })
        case .failure(let failure): object.add("error", value: failure.message)
        }
        return object.bytes
    }
}
