import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel

/// The facts of the workers' consumer group.
struct GroupFacts {
    /// The group's name.
    let id: String
    /// Its positions, or why they are unknown.
    var positions: Result<[GroupPosition], QueryFailure>
    /// Its members, or why they are unknown.
    var description: Result<GroupDescription, QueryFailure>

    /// The operation that its user must be allowed.
    var operation = AccessRights.Operation.read
    /// The success of asking for the right to commit offsets, if that was tried.
    var committing: Result<Void, QueryFailure>?
    /// The topics of delay lanes.
    var delays: Set<String> = []
    /// The rule of workers for partitions without a position.
    var rule = StartRule.safe
    /// The starts of partitions, or the refusal to report them, or nil without a query.
    var starts: Result<GroupStarts, QueryFailure>?
    /// Partitions that workers of this version leave to a newer one.
    var newer: [TopicPartition] = []
    /// The positions in the topics of held and of large requests that this version cannot read.
    var unknownBeside: [(partition: TopicPartition, metadata: UnknownMetadata)] = []

    /// The counts of what waits in each of the positions, or nil if only offsets are known.
    var counts: [WaitingCount]?
    /// The time until what waits may be deleted, of the topics of which it is known.
    var retention: [RetentionOutlook] = []
    /// The time of the queries.
    var now = Timestamp(milliseconds: 0)

    /// The requests that wait for an outcome, without those in delay lanes, or nil when that is unknown.
    var lag: Int64? { lag(isDelayed: false) }
    /// The requests in delay lanes, at most, or nil when that is unknown.
    var delayedCount: Int64? { lag(isDelayed: true) }

    private func lag(isDelayed: Bool) -> Int64? {
        positions.answer.map { positions in
            positions.indices.reduce(Int64(0)) { sum, index in
                guard delays.contains(positions[index].partition.topic) == isDelayed else { return sum }
                return sum.addingSaturated(counts?[index].most ?? positions[index].lag)
            }
        }
    }

    /// The most partitions that any one topic has: members beyond that have none, as each topic is assigned by itself.
    var largestPartitionCount: Int? {
        positions.answer.map { positions in
            Dictionary(grouping: positions) { $0.partition.topic }.values.map(\.count).max() ?? 0
        }
    }

    /// `1 request waits`, `2 requests wait, at most 3 are delayed`.
    var waiting: String? {
        guard let lag, let delayedCount else { return nil }
        // Workers write delay lanes by transactions, whose ends take an offset each.
        let isExact = counts.map { $0.allSatisfy { $0.unread == 0 } }
        let delayed = (isExact ?? false ? ", " : ", at most ") + Counted.text(delayedCount, "is delayed", "are delayed")
        let waiting = (isExact ?? true ? "" : "at most ") + Counted.text(lag, "request waits", "requests wait")
        return delayedCount > 0 ? waiting + delayed : waiting
    }
}

/// Findings about the workers' consumer group.
enum GroupFindings {
    /// The faults, or one finding that there are none, and what open transactions hide.
    static func of(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        let findings =
            committing(facts, tool: tool) + positions(facts, tool: tool) + retention(facts, tool: tool)
            + members(facts, tool: tool)
        let hidden = transactions(facts, tool: tool)
        guard let waiting = facts.waiting, !findings.contains(where: { $0.state == .failed || $0.state == .warning }) else {
            return findings + hidden
        }
        let members = facts.description.answer.map { Counted.text($0.members.count, "member, ", "members, ") } ?? ""
        return [.ok("group", of: facts.id, text: members + waiting)] + findings + hidden
    }

    private static func committing(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        guard case .failure(let refusal) = facts.committing else { return [] }
        guard refusal.kind == .rights else {
            return [.unasked("rights", of: facts.id, text: "whether offsets may be committed is not known: \(refusal.text)")]
        }
        return [
            .failure(
                "rights", of: facts.id, text: "joining the group and committing its offsets are not allowed: \(refusal.text)",
                mend: tool.allow([.read], on: .group, named: facts.id), cause: .notAllowed)
        ]
    }

    private static func positions(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        let positions: [GroupPosition]
        switch facts.positions {
        case .success(let found): positions = found
        case .failure(let refusal): return [unreadable(refusal, of: facts, tool: tool)]
        }
        var findings: [Finding] = []
        let unknown =
            positions.compactMap { position in position.unknownMetadata.map { (position.partition, $0) } } + facts.unknownBeside
        if let (first, metadata) = unknown.first {
            let others = unknown.count > 1 ? " (and \(unknown.count - 1) more)" : ""
            findings.append(
                .failure(
                    "group", of: facts.id, text: "the position in \(first)\(others) has \(metadata)",
                    mend: metadata.remedy(for: unknown.map { "\($0.0.topic):\($0.0.partition)" }), cause: .configuration))
        }
        let lost = positions.reduce(0) { $0 + $1.lostCount }
        if lost > 0 {
            findings.append(
                .failure(
                    "group", of: facts.id,
                    text:
                        "\(Counted.text(lost, "request was", "requests at most were")) removed, by retention or by hand, before a worker read them",
                    mend: "start workers (`pushfan worker`), and let the topics of requests keep their records for longer"))
        }
        if let text = NewerRecords.text(facts.newer) {
            findings.append(.failure("group", of: facts.id, text: text, mend: NewerRecords.remedy, cause: .configuration))
        }
        switch facts.starts {
        case .success(let starts): findings += of(starts, facts: facts, tool: tool)
        case .failure(let refusal):
            findings.append(.unasked("group", of: facts.id, text: "where partitions begin cannot be learnt: \(refusal.text)"))
        case nil: break
        }
        return findings
    }

    /// Of topics whose retention is about to overtake what waits.
    private static func retention(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        facts.retention.filter(\.isShort).map { outlook in
            let text =
                "brokers may delete its oldest request in \(hours(outlook.left)): it keeps records for \(hours(outlook.kept))"
            let remedy = tool.set(outlook.topic, "retention.ms", String(outlook.kept.addingSaturated(outlook.kept)))
            return outlook.isUrgent
                ? .failure("topic", of: outlook.topic, text: text, mend: remedy, cause: .temporary)
                : .warning("topic", of: outlook.topic, text: text, mend: remedy)
        }
    }

    /// A retention in words: `41 h`, or minutes and seconds below two hours.
    private static func hours(_ milliseconds: Int64) -> String {
        milliseconds < 7_200_000 ? TimeText.length(milliseconds: milliseconds) : "\(milliseconds / 3_600_000) h"
    }

    /// Of partitions whose ends workers cannot read for longer than a commit takes.
    private static func transactions(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        (facts.counts ?? []).compactMap(\.transaction).filter { $0.isLong(at: facts.now) }.map { transaction in
            let (topic, partition) = (transaction.partition.topic, transaction.partition.partition)
            let question =
                "kafka-transactions.sh --bootstrap-server \(tool.brokers) describe-producers --topic \(topic) --partition \(partition)"
            return transaction.isHanging(at: facts.now)
                ? .failure("group", of: facts.id, text: transaction.text, mend: question, cause: .temporary)
                : .warning("group", of: facts.id, text: transaction.text, mend: question)
        }
    }

    /// Of partitions that do not go on at their position.
    private static func of(_ starts: GroupStarts, facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        var findings = starts.obstacles.map {
            Finding.failure("group", of: facts.id, text: $0.text, mend: "stop the group's workers, then: \($0.command)")
        }
        func warn(_ rows: [GroupStarts.Row], _ text: (String) -> String, mend: String) {
            guard !rows.isEmpty else { return }
            findings.append(.warning("group", of: facts.id, text: text(GroupStarts.names(rows)), mend: mend))
        }
        let question = "kafka-consumer-groups.sh --bootstrap-server \(tool.brokers) --describe --group \(facts.id)"
        for (cause, effect) in [
            (.lostEnd, "nothing is left there, and what is published from now on is sent"),
            (.recreated, "all that is there is new, and is sent"), (.unknownEnd, effect(of: facts.rule)),
        ] as [(StartRule.Cause, String)] {
            warn(
                starts.rows.filter { $0.refusal == nil && $0.ruling?.cause == cause },
                { "the position is beyond the log end, or was, in \($0), which was recreated or truncated: \(effect)" },
                mend: question)
        }
        let later = starts.rows.filter { $0.left == .leaderAway || $0.left == .unanswered }
        warn(
            later,
            { "it is not known yet where \($0) begins: a leader is away, other workers begin first, or records have not come" },
            mend: "ask again in half a minute: pushfan doctor")
        return findings
    }

    /// The workers' treatment of a partition that ends before its position, of which it is unknown what was read.
    private static func effect(of rule: StartRule) -> String {
        switch rule {
        case .safe: "nothing is read there, as it is unknown what was sent"
        case .beginning: "all that is there is sent (kafka.start)"
        case .end: "what is there when a worker begins is not sent (kafka.start)"
        case .moment: "what was published from the moment of kafka.start on is sent"
        }
    }

    private static func unreadable(_ refusal: QueryFailure, of facts: GroupFacts, tool: KafkaTool) -> Finding {
        switch refusal.kind {
        case .rights:
            .failure(
                "rights", of: facts.id, text: "the group's positions cannot be read: \(refusal.text)",
                mend: tool.allow([facts.operation], on: .group, named: facts.id), cause: .notAllowed)
        case .unreachable:
            .failure(
                "group", of: facts.id,
                text: "reading committed offsets timed out; a hanging transaction may block them: \(refusal.text)",
                mend: "kafka-transactions.sh --bootstrap-server \(tool.brokers) find-hanging --broker-id ID", cause: .temporary)
        case .missing: .unasked("group", of: facts.id, text: "it has no positions to read: \(refusal.text)")
        case .login, .tls, .certificate, .configuration, .other:
            .unasked("group", of: facts.id, text: "its positions cannot be read: \(refusal.text)")
        }
    }

    private static func members(_ facts: GroupFacts, tool: KafkaTool) -> [Finding] {
        let group: GroupDescription
        switch facts.description {
        case .success(let found): group = found
        case .failure(let refusal):
            return [
                .unasked(
                    "group", of: facts.id, text: "its members cannot be listed: \(refusal.text)",
                    mend: refusal.kind == .rights ? tool.allow([.describe], on: .group, named: facts.id) : nil)
            ]
        }
        if group.members.isEmpty {
            let text = "no worker is in it"
            guard let waiting = facts.waiting else {
                return [.warning("group", of: facts.id, text: text + ", or this user may not see it", mend: "pushfan worker")]
            }
            return [
                facts.lag == 0 && facts.delayedCount == 0
                    ? .warning("group", of: facts.id, text: text, mend: "pushfan worker")
                    : .failure("group", of: facts.id, text: "\(text), and \(waiting)", mend: "pushfan worker")
            ]
        }
        if group.state == .rebalancing {
            return [
                .warning(
                    "group", of: facts.id, text: "rebalancing; consumption is paused",
                    mend: "ask again in some seconds: pushfan doctor")
            ]
        }
        let read = Set(group.members.flatMap(\.partitions))
        let unread = (facts.positions.answer ?? []).map(\.partition).filter { !read.contains($0) }
        if group.state == .stable, let first = unread.first {
            let names = "\(first)" + (unread.count > 1 ? " and \(unread.count - 1) more" : "")
            return [
                .failure(
                    "group", of: facts.id, text: "no consumer for \(names): workers notice within half a minute, and rebalance",
                    mend: "ask again in half a minute: pushfan doctor")
            ]
        }
        let idle = group.members.count { $0.partitions.isEmpty }
        guard idle > 0, let partitionCount = facts.largestPartitionCount else { return [] }
        return [
            .warning(
                "group", of: facts.id,
                text:
                    "of \(Counted.text(group.members.count, "member", "members")) \(Counted.text(idle, "stands", "stand")) idle: "
                    + Counted.text(partitionCount, "partition is all that a topic has", "partitions are all that a topic has"),
                mend: "stop \(idle), or: kafka-topics.sh --bootstrap-server \(tool.brokers) --alter --topic TOPIC --partitions N")
        ]
    }
}
