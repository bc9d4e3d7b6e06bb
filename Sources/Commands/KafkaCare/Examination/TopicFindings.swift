import JobSupport
import Kafka

struct TopicFacts {
    let role: TopicRole
    /// The operations that its user must be allowed.
    var operations: [AccessRights.Operation] = [.describe]
    /// Its partitions, or why they are unknown.
    var partitions: Result<[PartitionReplicas], QueryFailure>
    /// Its settings, or why they are unknown.
    var settings: Result<[TopicSetting], QueryFailure>
    /// The success of reading it, if that matters.
    var reading: Result<Void, QueryFailure>?
    /// The success of writing to it, if that was tried.
    var writing: Result<WriteAnswer, QueryFailure>?
    /// The keys of its newest records, if publishers write to it.
    var keys: KeySample?
    /// A record in it carries a time that has not come yet.
    var hasFutureRecord = false

    enum WriteAnswer: Equatable { case allowed, written, refused(QueryFailure) }

    func value(_ name: String) -> String? { settings.answer?.first { $0.name == name }?.value }
    func number(_ name: String) -> Int? { value(name).flatMap { Int($0) } }
}

struct TopicFindings {
    private let facts: TopicFacts
    private let tool: KafkaTool
    private let brokerCount: Int
    private var findings: [Finding] = []

    /// The faults, or one finding that there are none.
    static func of(_ facts: TopicFacts, brokerCount: Int, tool: KafkaTool) -> [Finding] {
        var judge = TopicFindings(facts: facts, tool: tool, brokerCount: brokerCount)
        judge.judge()
        return judge.findings
    }

    private var name: String { facts.role.name }

    private mutating func judge() {
        guard let partitions = existing() else { return }
        judgePartitions(partitions)
        judgeSettings(copies: partitions.map(\.count).min() ?? 0)
        judgeRights()
        if let text = facts.keys?.text { warn(text, KeySample.remedy, check: "keys") }
        if facts.hasFutureRecord {
            warn("a record carries a time more than a minute ahead of this machine's clock", "chronyc tracking", check: "clock")
        }
        let isFaulty =
            findings.contains { $0.state == .warning || $0.state == .failed } || partitions.contains { $0.leader == nil }
        guard !isFaulty else { return }
        findings.insert(.ok("topic", of: name, text: summary(partitions)), at: 0)
    }

    private func summary(_ partitions: [PartitionReplicas]) -> String {
        var parts = [
            Counted.text(partitions.count, "partition", "partitions"),
            "replication \(partitions.map(\.count).min() ?? 0)",
        ]
        if let policy = facts.value("cleanup.policy") { parts.append(policy) }
        if let kept { parts.append("kept " + kept) }
        return parts.joined(separator: ", ")
    }

    /// The retention of records, which `retention.ms` gives only if the policy deletes (TopicConfig, `cleanup.policy`).
    private var kept: String? {
        if let policy = facts.value("cleanup.policy"), !policy.contains("delete") { return "for ever" }
        return facts.number("retention.ms").map { $0 < 0 ? "for ever" : length($0) }
    }

    /// A retention in words: whole days as such.
    private func length(_ milliseconds: Int) -> String {
        milliseconds >= Self.day && milliseconds % Self.day == 0
            ? Counted.text(milliseconds / Self.day, "day", "days") : TimeText.length(milliseconds: Int64(milliseconds))
    }

    private static let day = 86_400_000

    private mutating func existing() -> [PartitionReplicas]? {
        switch facts.partitions {
        case .success(let partitions): return partitions
        case .failure(let refusal) where refusal.kind == .missing && facts.role.isOptional:
            if facts.operations.isEmpty {
                findings.append(.ok("topic", of: name, text: "is not there, and only `pushfan callbacks` needs it"))
            } else {
                warn("does not exist, and `pushfan callbacks` needs it", "pushfan topics create")
            }
        case .failure(let refusal) where refusal.kind == .missing:
            fail("does not exist", "pushfan topics create")
        case .failure(let refusal) where refusal.kind == .rights:
            refuse("describing it is not allowed: \(refusal.text)", tool.allow(facts.operations, on: .topic, named: name))
        case .failure(let refusal): fail(refusal.text, tool.describe(name))
        }
        return nil
    }

    private mutating func judgePartitions(_ partitions: [PartitionReplicas]) {
        if brokerCount > 1, partitions.contains(where: { $0.count == 1 }) {
            warn(
                "has one replica: losing its broker loses records", tool.reassign)
        }
        if facts.role.hasOnePartition, partitions.count != 1 {
            fail(
                "has \(Counted.text(partitions.count, "partition", "partitions")) and must have one, as its records have one order",
                "pushfan topics create --\(facts.role.role)-topic NEW-NAME, and set kafka.topics.\(facts.role.role)")
        }
    }

    private mutating func judgeSettings(copies: Int) {
        if case .failure(let refusal) = facts.settings {
            findings.append(
                .unasked(
                    "topic", of: name, text: "its settings cannot be read: \(refusal.text)",
                    mend: refusal.kind == .rights ? tool.allowDescribingConfigs(ofTopic: name) : nil))
            return
        }
        judgeRetention()
        if let least = facts.number("min.insync.replicas") { judgeCopies(least: least, copies: copies) }
        if facts.value("unclean.leader.election.enable") == "true" {
            warn(
                "a replica that is not in sync may become leader (unclean.leader.election.enable), which loses records",
                tool.set(name, "unclean.leader.election.enable", "false"))
        }
        if let limit = facts.number("max.message.bytes"), limit < facts.role.recordByteCount {
            fail(
                "max.message.bytes is \(limit): records may have \(facts.role.recordByteCount)",
                tool.set(name, "max.message.bytes", "1048588"), check: "size")
        }
        if facts.role.isUncompressed, let type = facts.value("compression.type"), type != "uncompressed" {
            warn(
                "compression.type is \(type): a publisher can send small batches that take a worker's memory when unpacked",
                tool.set(name, "compression.type", "uncompressed"), check: "size")
        }
    }

    private mutating func judgeRetention() {
        let policy = facts.value("cleanup.policy") ?? ""
        if policy.contains("compact"), !facts.role.isCompacted {
            fail(
                "cleanup.policy is \(policy): compaction removes requests and results that share a key",
                tool.set(name, "cleanup.policy", "delete"))
        }
        guard policy.contains("delete") else { return }
        guard let days = facts.role.days else {
            fail("cleanup.policy is \(policy): what waits for long is deleted", tool.set(name, "cleanup.policy", "compact"))
            return
        }
        let fault = facts.role.faultOfOrders(
            milliseconds: facts.number("retention.ms"), bytes: facts.number("retention.bytes"), policy: policy)
        if let fault { return fail(fault.text, tool.set(name, fault.setting, fault.value)) }
        if let kept = facts.number("retention.ms"), kept >= 0, kept < Self.day {
            warn(
                "records are kept for \(length(kept)) only: a longer outage loses some",
                tool.set(name, "retention.ms", String(days * Self.day)))
        } else if facts.role.isLookedBackIn {
            judgeLookingBack(days: days)
        }
        if !facts.role.isPassing, let bytes = facts.number("retention.bytes"), bytes >= 0 {
            warn(
                "retention.bytes is \(bytes): a flood removes records before their time", tool.set(name, "retention.bytes", "-1"))
        }
    }

    /// Warns where people can look back for less time than the topic is for, as in one that an earlier version made.
    private mutating func judgeLookingBack(days: Int) {
        if let kept = facts.number("retention.ms"), kept >= 0, kept < days * Self.day {
            warn(
                "records are kept for \(length(kept)) only: incidents are forgotten sooner than after \(days) days",
                tool.set(name, "retention.ms", String(days * Self.day)))
        }
        if let bytes = facts.number("retention.bytes"), bytes >= 0, bytes < facts.role.mostBytes {
            warn(
                "retention.bytes is \(bytes): incidents are forgotten sooner than after \(days) days",
                tool.set(name, "retention.bytes", String(facts.role.mostBytes)))
        }
    }

    private mutating func judgeCopies(least: Int, copies: Int) {
        if least > copies {
            fail(
                "min.insync.replicas is \(least) of \(Counted.text(copies, "replica", "replicas")): nothing can be written",
                tool.set(name, "min.insync.replicas", String(max(1, copies - 1))))
        } else if least == copies, copies > 1 {
            warn(
                "min.insync.replicas is \(least) of \(copies) replicas: writing stops when one broker does",
                tool.set(name, "min.insync.replicas", String(copies - 1)))
        } else if least == 1, copies >= 3 {
            warn(
                "min.insync.replicas is 1: what one broker confirmed is lost with it", tool.set(name, "min.insync.replicas", "2"))
        }
    }

    /// True if any partition can be read and written, so that a failure has another reason than brokers that are missing.
    private var hasLeader: Bool { facts.partitions.answer?.contains { $0.leader != nil } ?? false }

    private mutating func judgeRights() {
        if case .failure(let refusal) = facts.reading {
            if refusal.kind == .rights {
                refuse("reading it is not allowed: \(refusal.text)", tool.allow([.read], on: .topic, named: name))
            } else if hasLeader {
                fail("cannot be read: \(refusal.text)", tool.describe(name))
            }
        }
        switch facts.writing {
        case nil, .success(.allowed): break
        case .success(.refused(let refusal)) where refusal.kind != .rights && !hasLeader: break
        case .success(.written):
            warn("the broker accepted a probe that it should refuse: the topic has one empty record more", nil, check: "rights")
        case .success(.refused(let refusal)) where refusal.kind == .rights:
            refuse("writing to it is not allowed: \(refusal.text)", tool.allow([.write], on: .topic, named: name))
        case .success(.refused(let refusal)): fail("cannot be written to: \(refusal.text)", tool.describe(name))
        case .failure(let refusal):
            findings.append(.unasked("rights", of: name, text: "whether it may be written to is not known: \(refusal.text)"))
        }
    }

    private mutating func warn(_ text: String, _ remedy: String?, check: String = "topic") {
        findings.append(.warning(check, of: name, text: text, mend: remedy))
    }

    private mutating func refuse(_ text: String, _ remedy: String) {
        findings.append(.failure("rights", of: name, text: text, mend: remedy, cause: .notAllowed))
    }

    private mutating func fail(_ text: String, _ remedy: String, check: String = "topic") {
        findings.append(.failure(check, of: name, text: text, mend: remedy))
    }
}

extension TopicFindings {
    /// Findings about the topics together: whether brokers are missing, whether jobs of replays outlive the requests that they repeat, and
    /// whether held requests have enough partitions.
    static func ofAll(_ topics: [TopicFacts], tool: KafkaTool) -> [Finding] {
        brokers(topics, tool: tool) + retention(topics, tool: tool) + held(topics, tool: tool)
    }

    /// The findings on brokers that are missing: one for all partitions without a leader, and one for all that lack a replica.
    private static func brokers(_ topics: [TopicFacts], tool: KafkaTool) -> [Finding] {
        let headless = lack(of: "no leader: nothing can be read or written there", in: topics) { $0.leader == nil }
        let lagging = lack(of: "a replica that is not in sync", in: topics) { $0.leader != nil && $0.inSyncCount < $0.count }
        func remedy(_ flag: String) -> String { "start the brokers that keep them: " + tool.describe(lacking: flag) }
        return [
            headless.map { .failure("topic", of: $0.topics, text: $0.text, mend: remedy("unavailable-partitions")) },
            lagging.map { .warning("topic", of: $0.topics, text: $0.text, mend: remedy("under-replicated-partitions")) },
        ].compactMap(\.self)
    }

    /// The topics with partitions that lack something, at most three by name, and how many do, with the brokers that are missing there.
    /// Nil where none lacks it.
    private static func lack(
        of what: String, in topics: [TopicFacts], where isMeant: (PartitionReplicas) -> Bool
    ) -> (topics: String, text: String)? {
        let concerned = topics.filter { $0.partitions.answer?.contains(where: isMeant) ?? false }
        guard !concerned.isEmpty else { return nil }
        let names = concerned.prefix(3).map(\.role.name) + (concerned.count > 3 ? ["\(concerned.count - 3) more"] : [])
        let all = concerned.flatMap { $0.partitions.answer ?? [] }
        let meant = all.filter(isMeant)
        let missing = Set(meant.flatMap(\.missing)).sorted().map { "\($0)" }.joined(separator: ", ")
        let text =
            "\(meant.count) of \(Counted.text(all.count, "partition", "partitions")) \(meant.count == 1 ? "has" : "have") \(what)"
        return (names.joined(separator: ", "), text + (missing.isEmpty ? "" : "; down or behind: broker \(missing)"))
    }

    /// The findings on whether all keys of requests can be held.
    private static func held(_ topics: [TopicFacts], tool: KafkaTool) -> [Finding] {
        guard let held = topics.first(where: { $0.role.kind == .held }), let there = held.partitions.answer?.count,
            let most = topics.filter({ $0.role.kind == .requests }).compactMap({ $0.partitions.answer?.count }).max()
        else { return [] }
        let needed = held.role.partitionCount(most)
        guard there < needed else { return [] }
        return [
            .warning(
                "topic", of: held.role.name,
                text: "\(there) of \(needed) partitions; requests with ordering keys may cause head-of-line blocking",
                mend: tool.grow(held.role.name, to: needed))
        ]
    }

    private static func retention(_ topics: [TopicFacts], tool: KafkaTool) -> [Finding] {
        let retentions = topics.filter { $0.role.kind == .requests }.compactMap { $0.number("retention.ms") }
        guard let requests = retentions.contains(where: { $0 < 0 }) ? -1 : retentions.max(),
            let jobs = topics.first(where: { $0.role.role == "replays" }),
            jobs.value("cleanup.policy")?.contains("delete") == true,
            let kept = jobs.number("retention.ms"), kept >= 0, requests < 0 || kept < requests
        else { return [] }
        return [
            .warning(
                "topic", of: jobs.role.name,
                text: "forgets replays sooner than a topic of requests forgets requests: one could be repeated twice",
                mend: tool.set(jobs.role.name, "retention.ms", requests < 0 ? "-1" : String(requests)))
        ]
    }
}
