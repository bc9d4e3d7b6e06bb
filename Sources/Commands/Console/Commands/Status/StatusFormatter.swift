import Groups
import JobSupport
import Kafka
import PushModel

/// Writes a status for a person.
struct StatusFormatter {
    let report: StatusReport

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
            "TOPIC", .number("PARTITIONS"), .number("READ"), .number("LAG"), .number("OLDEST"), .number("IN WORK"),
        ])
        for topic in report.topics {
            let inWork = topic.compactMap { $0.fromWorker?.inWork }
            let mayBeMore = hasOmissions && topic.contains { $0.fromWorker == nil && $0.lag > 0 }
            table.add([
                topic.first?.position.partition.topic ?? "", "\(topic.count)",
                report.groupDescription == nil || topic.contains(where: \.isHeld) ? "-" : "\(topic.count { $0.owner != nil })",
                "\(topic.reduce(Int64(0)) { $0.addingSaturated($1.lag) })", longest(of: topic).map(oldest(in:)) ?? "-",
                inWork.isEmpty ? "-" : (mayBeMore ? "at least " : "") + "\(inWork.reduce(0) { $0.addingSaturated($1) })",
            ])
        }
        return table
    }

    /// True if some partition has no place in its worker's report.
    private var hasOmissions: Bool { report.loops.contains { $0.omittedPartitions > 0 } }

    /// The partition of which the oldest request has waited longest.
    private func longest(of topic: [StatusReport.Partition]) -> StatusReport.Partition? {
        topic.filter { $0.oldest != nil }.min { $0.oldest?.milliseconds ?? 0 < $1.oldest?.milliseconds ?? 0 }
    }

    /// A row for each partition, or nil when there is none to show. Without `all` only those in which something waits or is
    /// wrong.
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
            "TOPIC", .number("PARTITION"), .number("HEAD"), .number("COMMITTED"), .number("LAG"), .number("OLDEST"),
            .number("WINDOW"), "OWNER", .number("IN WORK"), "OLDEST IN WORK",
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
            "WORKER", "MODE", "CIRCUIT", .number("LIMIT"), .number("IN FLIGHT"), .number("WAITING"), .number("RATE/S"),
            .number("THROTTLED"), "REBALANCE", "COMMIT",
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
            "WORKER", "HUB", "REGION", "CIRCUIT", .number("LIMIT"), .number("IN FLIGHT"), .number("WAITING"), .number("RATE/S"),
            .number("THROTTLED"),
        ])
        for loop in report.loops {
            for hub in loop.hubs {
                table.add([
                    loop.worker, hub.isRetired ? "\(hub.name) (ends)" : hub.name, hub.region ?? "-", hub.circuit,
                    number(hub.limit), number(hub.inFlight), waiting(hub), hub.ratePerSecond ?? "-", throttled(hub),
                ])
            }
            if loop.omittedHubs > 0 {
                table.add([loop.worker, "\(loop.omittedHubs) more", "-", "-", "-", "-", "-", "-", "-"])
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

    private func moment(_ moment: Timestamp) -> String { moment.distance(from: report.now) }
}
