import Basics
import Delivery
package import GroupPositions
import Groups
package import JobSupport
import Kafka
import PushModel

/// The identity of a worker's loops towards Kafka.
package struct LoopIdentity: Sendable {
    /// Their names as members of the group.
    package let memberNames: [String]
    /// A transactional id that begins like theirs, and that none of them has.
    package let unusedID: String

    /// An identity of the given parts.
    package init(memberNames: [String], unusedID: String) {
        self.memberNames = memberNames
        self.unusedID = unusedID
    }
}

/// Queries from Kafka everything that has to be right for workers, and judges it. A failed query is a fact as well.
///
/// Several threads may use one examination at once: each opens clients of its own.
package struct KafkaExamination: Sendable {
    private let context: JobContext
    private let terms: GroupTerms
    private let demands: BrokerDemands
    private let loops: LoopIdentity?
    private let rights: AccessRights
    private let probesWriting: Bool
    private let places: KafkaPlaces

    private var timeout: Duration { context.timeout }
    private var configuration: KafkaConfiguration { context.kafka }
    private var brokers: String { configuration.bootstrapServers }
    private var tool: KafkaTool {
        let user = configuration.properties.last { $0.key == "sasl.username" }?.value
        return KafkaTool(brokers: brokers, principal: "User:\(user ?? "NAME")")
    }

    /// An examination by a context whose time-out holds for each query, for a user with these rights. Without loops no worker writes
    /// transactions.
    package init(
        _ context: JobContext, terms: GroupTerms, demands: BrokerDemands, loops: LoopIdentity?, rights: AccessRights,
        probesWriting: Bool, places: KafkaPlaces
    ) {
        self.context = context
        self.terms = terms
        self.demands = demands
        self.loops = loops
        self.rights = rights
        self.probesWriting = probesWriting
        self.places = places
    }

    /// Findings about connection, brokers, topics and group, in this order. Blocks until the last query is answered, or its time
    /// is up.
    package func findings() -> [Finding] {
        var connection = ConnectionFacts(brokers: brokers, configuration.properties)
        connection.places = places
        let roles = TopicRole.all(context.topics)
        let admin: TopicAdmin
        let cluster: ClusterDescription
        do throws(KafkaError) {
            admin = try TopicAdmin(configuration, seesUncommitted: true)
            cluster = try admin.describe(topics: roles.map(\.name), timeout: timeout)
        } catch {
            let refusal = QueryFailure(error)
            return ConnectionFindings.of(connection, brokerCount: .failure(refusal), brokerSettings: .failure(refusal))
                + [.unasked("topic", of: "", text: "topics, rights and group cannot be asked about before a broker lets us in")]
        }
        let broker = Result<[String: String], QueryFailure> { () throws(KafkaError) in
            let all = try admin.brokerSettings(timeout: timeout)
            return Dictionary(all.compactMap { row in row.value.map { (row.name, $0) } }) { first, _ in first }
        }
        let existing = roles.indices.filter { if case .existing = cluster.topics[$0] { true } else { false } }
        let answers = topicSettings(existing.map { roles[$0].name }, admin)
        let counts = existing.map { (topic: roles[$0].name, partitionCount: cluster.partitions[$0].count) }
        let future = topicsOfTheFuture(counts, by: admin)
        let reader = Result<RangeReader, QueryFailure> { () throws(KafkaError) in
            let reader = try RangeReader(configuration)
            try reader.learn(topics: Set(counts.map(\.topic)), timeout: timeout)
            return reader
        }
        let topics = roles.indices.filter { concerns(roles[$0], as: cluster.topics[$0]) }.map {
            topic(
                roles[$0], cluster.topics[$0], cluster.partitions[$0], answers, by: reader,
                hasFutureRecord: future.contains(roles[$0].name))
        }
        let group = rights.operation(onGroup: terms.group).map {
            groupFacts(topics, operation: $0, by: GroupExamination(terms, admin: admin, context: context))
        }
        return ConnectionFindings.of(connection, brokerCount: .success(cluster.brokerCount), brokerSettings: broker)
            + BrokerFindings.of(broker, demands: demands, tool: tool)
            + topics.flatMap { TopicFindings.of($0, brokerCount: cluster.brokerCount, tool: tool) }
            + TopicFindings.ofAll(topics, tool: tool)
            + writing(topics) + transactions(group?.description.answer) + receivers(topics)
            + (group.map { GroupFindings.of($0, tool: tool) } ?? [])
            + reported(
                hasReports: counts.contains { $0.topic == context.topics.status },
                hasOrders: counts.contains { $0.topic == context.topics.control })
    }

    /// The findings on hubs that workers report to lack, and on orders that stand. Nothing is found by the reports where they cannot be
    /// read: no worker needs that right.
    private func reported(hasReports: Bool, hasOrders: Bool) -> [Finding] {
        let mayRead = hasReports && rights.operation(onGroup: terms.group) != nil
        let workers = mayRead ? (try? context.fleet())?.members(at: Deadline.milliseconds()) ?? [] : []
        return UnknownHubFindings.of(workers) + (hasOrders ? orders(by: workers) : [])
    }

    private func orders(by workers: [Fleet.Member]) -> [Finding] {
        guard rights.operations(onTopic: context.topics.control).contains(.read) else { return [] }
        let heard = workers.filter { !$0.isStale }.map { (name: $0.id, page: $0.page) }
        let orders = Result<StandingOrders, JobFailure> { () throws(JobFailure) in
            StandingOrders(try context.orderBook(), workers: heard, now: Timestamp(milliseconds: context.now()))
        }
        return OrderFindings.of(try? orders.get(), topic: context.topics.control)
    }

    /// A topic that the user has no need of, and must not see, is no fault.
    private func concerns(_ role: TopicRole, as description: TopicDescription) -> Bool {
        guard case .failed(let error) = description, error.isAuthorization else { return true }
        return !rights.operations(onTopic: role.name).isEmpty
    }

    /// The settings of topics, by their names. All are queried at once, because some brokers let every query wait for its
    /// time-out.
    private func topicSettings(_ names: [String], _ admin: TopicAdmin) -> [String: Result<[TopicSetting], QueryFailure>] {
        let answers = Result<[Result<[TopicSetting], KafkaError>], QueryFailure> { () throws(KafkaError) in
            try admin.settings(ofTopics: names, timeout: timeout)
        }
        return switch answers {
        case .success(let list): Dictionary(zip(names, list.map { $0.mapError { QueryFailure($0) } })) { first, _ in first }
        case .failure(let refusal): Dictionary(names.map { ($0, .failure(refusal)) }) { first, _ in first }
        }
    }

    private func topic(
        _ role: TopicRole, _ description: TopicDescription, _ partitions: [PartitionReplicas],
        _ settings: [String: Result<[TopicSetting], QueryFailure>], by reader: Result<RangeReader, QueryFailure>,
        hasFutureRecord: Bool
    ) -> TopicFacts {
        let unknown: QueryFailure
        switch description {
        case .existing:
            var facts = existing(role, partitions, settings[role.name] ?? .success([]), by: reader)
            facts.hasFutureRecord = hasFutureRecord
            return facts
        case .missing: unknown = QueryFailure(.missing, text: "the topic does not exist")
        case .failed(let error): unknown = QueryFailure(error)
        }
        return TopicFacts(
            role: role, operations: rights.operations(onTopic: role.name), partitions: .failure(unknown),
            settings: .failure(unknown))
    }

    /// The topics that hold a record of more than a minute from now. All are asked about at once, or if that fails each by itself.
    private func topicsOfTheFuture(_ topics: [(topic: String, partitionCount: Int)], by admin: TopicAdmin) -> Set<String> {
        let partitions = topics.flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        do throws(KafkaError) {
            let later = try FreshTopics.retrying(unless: context.isCancelled) { () throws(KafkaError) in
                try admin.offsets(since: context.now() + 60_000, of: partitions, timeout: timeout)
            }
            return Set(zip(partitions, later).filter { $1 != nil }.map(\.0.topic))
        } catch {
            guard topics.count > 1, !error.isUnreachable else { return [] }
            return topics.reduce(into: []) { $0.formUnion(topicsOfTheFuture([$1], by: admin)) }
        }
    }

    private func existing(
        _ role: TopicRole, _ partitions: [PartitionReplicas], _ settings: Result<[TopicSetting], QueryFailure>,
        by reader: Result<RangeReader, QueryFailure>
    ) -> TopicFacts {
        var facts = TopicFacts(role: role, partitions: .success(partitions), settings: settings)
        let operations = rights.operations(onTopic: role.name)
        if operations.contains(.read) { facts.reading = reader.flatMap { reading(role.name, among: partitions, by: $0) } }
        if facts.reading?.answer != nil, !role.isWritten {
            facts.keys = reader.answer.map { keys(of: role.name, among: partitions, by: $0) }
        }
        if probesWriting, operations.contains(.write) {
            facts.writing = Result { () throws(KafkaError) in
                switch try WriteProbe.ask(topic: role.name, configuration: configuration, timeout: timeout) {
                case .allowed: .allowed
                case .written: .written
                case .refused(let error): .refused(QueryFailure(error))
                }
            }
        }
        return facts
    }

    /// The success of fetching records: reading a partition that has a leader from its end on reaches the end, or is refused.
    private func reading(
        _ topic: String, among partitions: [PartitionReplicas], by reader: RangeReader
    ) -> Result<Void, QueryFailure> {
        let number = partitions.firstIndex { $0.leader != nil } ?? 0
        let partition = TopicPartition(topic: topic, partition: Int32(clamping: number))
        let end: Int64
        do throws(KafkaError) {
            end = try FreshTopics.retrying(unless: context.isCancelled) { () throws(KafkaError) in
                try reader.ends(of: [partition], timeout: timeout)[0]
            }
        } catch {
            return .failure(QueryFailure(error))
        }
        do throws(KafkaError) {
            try reader.read([RangeReader.Part(partition, offsets: end..<end + 1)], timeout: timeout) { _, _ in false }
            return .success(())
        } catch {
            guard !error.isAuthorization else { return .failure(QueryFailure(error)) }
            return .failure(QueryFailure(.unreachable, text: "no partition could be read in time"))
        }
    }

    /// The keys of the newest records of partitions that have a leader, as far as they come.
    private func keys(of topic: String, among partitions: [PartitionReplicas], by reader: RangeReader) -> KeySample {
        var sample = KeySample(partitionCount: Int32(clamping: partitions.count))
        let led = partitions.indices.filter { partitions[$0].leader != nil }.prefix(KeySample.most.partitions)
            .map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
        do throws(KafkaError) {
            let parts = zip(led, try reader.ends(of: led, timeout: timeout)).map {
                RangeReader.Part($0, offsets: max(0, $1 - KeySample.most.records)..<$1)
            }
            try reader.read(parts, timeout: timeout) { index, record in
                sample.take(key: record.key, in: parts[index].partition.partition)
                return true
            }
        } catch {
            // Of records that do not come nothing is said.
        }
        return sample
    }

    /// The findings on the right to write transactions. No process has the ids that are tried, so none is fenced.
    private func transactions(_ group: GroupDescription?) -> [Finding] {
        guard probesWriting else { return [] }
        let isRunning = loops.map { loops in group?.members.contains { loops.memberNames.contains($0.name) } ?? false } ?? false
        return rights.transactionalPrefixes.flatMap { prefix in
            let answer = Result<Void, QueryFailure> { () throws(KafkaError) in
                let producer = try Producer(configuration, transactionalID: loops?.unusedID ?? prefix + ".doctor")
                defer { producer.close(timeout: .zero) }
                try producer.initTransactions(timeout: timeout)
            }
            return TransactionFindings.of(TransactionFacts(prefix: prefix, answer: answer, isRunning: isRunning), tool: tool)
        }
    }

    private func writing(_ topics: [TopicFacts]) -> [Finding] {
        let count = topics.count { rights.operations(onTopic: $0.role.name).contains(.write) && $0.partitions.answer != nil }
        guard !probesWriting, count > 0 else { return [] }
        return [
            .unasked(
                "rights", of: "",
                text:
                    "whether \(Counted.text(count, "topic", "topics")) may be written to, in transactions, is asked only on demand",
                mend: "pushfan doctor --probe-writing")
        ]
    }

    private func groupFacts(
        _ topics: [TopicFacts], operation: AccessRights.Operation, by examination: GroupExamination
    ) -> GroupFacts {
        let shared = topics.filter(\.role.isShared).compactMap { facts in
            facts.partitions.answer.map { (topic: facts.role.name, partitionCount: $0.count) }
        }
        let positions: Result<[GroupPosition], QueryFailure> =
            switch topics.first(where: { $0.role.role == "requests" })?.partitions {
            case .success: Result { () throws(KafkaError) in try examination.positions(in: shared) }
            case .failure, nil:
                .failure(QueryFailure(.missing, text: "the requests topic is not there, or this user may not see it"))
            }
        let beside = positions.answer.map { _ in examination.beside() }
        let starts = positions.answer.flatMap { positions in
            beside.map { beside in
                Result<GroupStarts, QueryFailure> { () throws(KafkaError) in
                    try examination.starts(among: positions, beside: beside)
                }
            }
        }
        let newer = positions.answer.flatMap { positions in
            Result<[TopicPartition], QueryFailure> { () throws(KafkaError) in try examination.newer(among: positions) }.answer
        }
        let now = Timestamp(milliseconds: context.now())
        let counts = positions.answer.flatMap { positions in
            Result { () throws(KafkaError) in try examination.waiting(in: positions, at: now) }.answer
        }
        return GroupFacts(
            id: terms.group, positions: positions,
            description: Result { () throws(KafkaError) in try examination.description() }, operation: operation,
            committing: probesWriting && operation == .read && positions.answer != nil ? committing(topics) : nil,
            delays: Set(terms.delays),
            rule: terms.start, starts: starts, newer: newer ?? [],
            unknownBeside: beside.map { examination.unknown(of: $0) } ?? [], counts: counts,
            retention: retention(topics, positions: (positions.answer ?? []) + (beside?.held ?? [])), now: now)
    }

    /// The outlooks of the group's topics. Where one cannot be read, other findings say why.
    private func retention(_ topics: [TopicFacts], positions: [GroupPosition]) -> [RetentionOutlook] {
        let settings = topics.compactMap { facts in facts.settings.answer.map { (facts.role.name, $0) } }
        let read = Set(positions.map(\.partition.topic))
        return
            (try? RetentionSurvey(context, terms: terms).outlooks(
                Dictionary(settings.filter { read.contains($0.0) }) { first, _ in first }, positions: positions)) ?? []
    }

    /// The findings on the rights to the groups of callbacks. No receiver has the name that is tried, and nothing is committed.
    private func receivers(_ topics: [TopicFacts]) -> [Finding] {
        guard let topic = topics.first(where: { $0.role.role == "results" && $0.reading?.answer != nil })?.role.name else {
            return []
        }
        return rights.entries.filter { $0.resource == .group && $0.name != terms.group }.flatMap { entry in
            let group = entry.isPrefix ? entry.name + ".doctor" : entry.name
            let answer = Result<Void, QueryFailure> { () throws(KafkaError) in
                _ = try MemberlessGroup(configuration, id: group).committed(
                    [TopicPartition(topic: topic, partition: 0)], timeout: timeout)
                guard probesWriting, entry.operations.contains(.read) else { return }
                try CommitProbe.ask(group: group, topic: topic, configuration: configuration)
            }
            return ReceiverGroupFindings.of(entry, answer: answer, tool: tool)
        }
    }

    /// The right to commit offsets of the group, or nil if there is no topic to ask about. One that may not be read would be refused itself.
    private func committing(_ topics: [TopicFacts]) -> Result<Void, QueryFailure>? {
        guard let topic = topics.first(where: { $0.role.isShared && $0.reading?.answer != nil })?.role.name else { return nil }
        return Result { () throws(KafkaError) in
            try CommitProbe.ask(group: terms.group, topic: topic, configuration: configuration)
        }
    }
}

extension ConnectionFacts {
    /// Reads the user's properties of the connection. Of two for one key the later counts.
    init(brokers: String, _ properties: [KafkaConfiguration.Property]) {
        self.init(brokers: brokers)
        func value(_ keys: String...) -> String? { properties.last { keys.contains($0.key) }?.value }
        securityProtocol = value("security.protocol")?.uppercased() ?? securityProtocol
        saslMechanism = value("sasl.mechanism", "sasl.mechanisms")
        verifiesCertificates =
            value("enable.ssl.certificate.verification") != "false" && value("ssl.endpoint.identification.algorithm") != "none"
        maximumRecordByteCount = value("message.max.bytes").flatMap { Int($0) } ?? maximumRecordByteCount
        libraryVersion = KafkaLibrary.version
        supportsScramOnKafka4 = KafkaLibrary.supportsScramOnKafka4
    }
}
