import Basics
import Jobs
import Kafka
import PushModel
import Settings

/// Queries from Kafka everything that `doctor` judges. A failed query is a fact as well.
struct KafkaExamination {
    let settings: Settings
    /// The time limit of each query.
    let timeout: Duration
    /// Milliseconds since 1970.
    let now: Int64
    /// True if the right to write is checked, too.
    let probesWriting: Bool

    private var configuration: KafkaConfiguration { settings.kafkaConfiguration() }
    private var brokers: String { settings.kafka.bootstrapServers.joined(separator: ",") }
    private var tool: KafkaTool { KafkaTool(brokers: brokers) }

    /// - Returns: Findings about connection, brokers, topics and group, in this order.
    func findings() -> [Finding] {
        let connection = ConnectionFacts(brokers: brokers, configuration.properties)
        let roles = TopicRole.all(settings.kafka.topics)
        let admin: TopicAdmin
        let cluster: ClusterDescription
        do throws(KafkaError) {
            admin = try TopicAdmin(configuration)
            cluster = try admin.describe(topics: roles.map(\.name), timeout: timeout)
        } catch {
            let refusal = Refusal(error)
            return ConnectionFindings.of(connection, brokerCount: .failure(refusal), brokerSettings: .failure(refusal))
                + [.unasked("topic", "", "topics, rights and group cannot be asked about before a broker lets us in")]
        }
        let broker = Result<[String: String], Refusal> { () throws(KafkaError) in
            let all = try admin.brokerSettings(timeout: timeout)
            return Dictionary(all.compactMap { row in row.value.map { (row.name, $0) } }) { first, _ in first }
        }
        let existing = roles.indices.filter { if case .existing = cluster.topics[$0] { true } else { false } }
        let answers = topicSettings(existing.map { roles[$0].name }, admin)
        let topics = roles.indices.map { topic(roles[$0], cluster.topics[$0], cluster.partitions[$0], answers, admin) }
        let group = groupFacts(topics, admin)
        let rights = writing(topics) + transactions(group)
        let demands = BrokerDemands(
            sessionTimeout: Int(settings.kafka.sessionTimeout.wholeMilliseconds),
            transactionTimeout: Int(settings.kafka.transactionTimeout.wholeMilliseconds))
        return ConnectionFindings.of(connection, brokerCount: .success(cluster.brokerCount), brokerSettings: broker)
            + BrokerFindings.of(broker, demands, tool)
            + topics.flatMap { TopicFindings.of($0, brokerCount: cluster.brokerCount, tool) }
            + TopicFindings.ofAll(topics, tool)
            + rights
            + GroupFindings.of(group, tool)
    }

    /// The settings of topics, by their names. All are queried at once, because some brokers let every query wait for its
    /// time-out.
    private func topicSettings(_ names: [String], _ admin: TopicAdmin) -> [String: Result<[TopicSetting], Refusal>] {
        let answers = Result<[Result<[TopicSetting], KafkaError>], Refusal> { () throws(KafkaError) in
            try admin.settings(ofTopics: names, timeout: timeout)
        }
        return switch answers {
        case .success(let list): Dictionary(zip(names, list.map { $0.mapError { Refusal($0) } })) { first, _ in first }
        case .failure(let refusal): Dictionary(names.map { ($0, .failure(refusal)) }) { first, _ in first }
        }
    }

    private func topic(
        _ role: TopicRole, _ description: TopicDescription, _ partitions: [PartitionReplicas],
        _ settings: [String: Result<[TopicSetting], Refusal>], _ admin: TopicAdmin
    ) -> TopicFacts {
        let unknown: Refusal
        switch description {
        case .existing: return existing(role, partitions, settings[role.name] ?? .success([]), admin)
        case .missing: unknown = Refusal(.missing, "the topic does not exist")
        case .failed(let error): unknown = Refusal(error)
        }
        return TopicFacts(role: role, partitions: .failure(unknown), settings: .failure(unknown))
    }

    private func existing(
        _ role: TopicRole, _ partitions: [PartitionReplicas], _ settings: Result<[TopicSetting], Refusal>, _ admin: TopicAdmin
    ) -> TopicFacts {
        var facts = TopicFacts(role: role, partitions: .success(partitions), settings: settings)
        let later = Result<[Int64?], Refusal> { () throws(KafkaError) in
            try FreshTopics.retrying { () throws(KafkaError) in
                try admin.offsets(
                    since: now + 60_000, ofTopic: role.name, partitionCount: partitions.count, timeout: timeout)
            }
        }
        facts.hasFutureRecord = later.answer?.contains { $0 != nil } ?? false
        if role.isRead { facts.reading = reading(role.name) }
        if probesWriting, role.isWritten {
            facts.writing = Result { () throws(KafkaError) in
                switch try WriteProbe.ask(topic: role.name, configuration: configuration, timeout: timeout) {
                case .allowed: .allowed
                case .written: .written
                case .refused(let error): .refused(Refusal(error))
                }
            }
        }
        return facts
    }

    /// The success of fetching records: reading from the end on reaches the end, or is refused.
    private func reading(_ topic: String) -> Result<Void, Refusal> {
        do throws(KafkaError) {
            let reader = try FreshTopics.retrying { () throws(KafkaError) in
                try TopicReader(configuration, topic: topic, start: .end, timeout: timeout)
            }
            defer { reader.close() }
            let deadline = Deadline(after: timeout)
            while !deadline.hasPassed {
                switch reader.read(timeout: deadline.step, perform: { _ in }) {
                case .record, .endOfPartition: return .success(())
                case .error(let error) where error.isAuthorization: return .failure(Refusal(error))
                case .error, .empty: continue
                }
            }
            return .failure(Refusal(.unreachable, "no partition could be read in time"))
        } catch {
            return .failure(Refusal(error))
        }
    }

    /// The findings on the worker's right to write transactions. No process has the id that is tried, so none is fenced.
    private func transactions(_ group: GroupFacts) -> [Finding] {
        guard probesWriting, let prefix = settings.transactionalPrefix, let id = settings.unusedTransactionalID else { return [] }
        let answer = Result<Void, Refusal> { () throws(KafkaError) in
            let producer = try Producer(configuration, transactionalID: id)
            defer { producer.close(timeout: .zero) }
            try producer.initTransactions(timeout: timeout)
        }
        let names = settings.memberNames
        let isRunning = group.description.answer?.members.contains { names.contains($0.name) } ?? false
        return TransactionFindings.of(TransactionFacts(prefix: prefix, answer: answer, isRunning: isRunning), tool)
    }

    private func writing(_ topics: [TopicFacts]) -> [Finding] {
        let count = topics.count { $0.role.isWritten && $0.partitions.answer != nil }
        guard !probesWriting, count > 0 else { return [] }
        return [
            .unasked(
                "rights", "",
                "whether \(Counted.text(count, "topic", "topics")) may be written to, in transactions, is asked only on demand",
                mend: "pushfan doctor --probe-writing")
        ]
    }

    private func groupFacts(_ topics: [TopicFacts], _ admin: TopicAdmin) -> GroupFacts {
        let id = settings.kafka.groupID
        let now = now
        let context = JobContext(
            kafka: configuration, topics: settings.jobTopics, timeout: timeout, now: { now },
            isCancelled: { Interruption.isRequested })
        let examination = GroupExamination(settings.groupTerms, admin: admin, context: context)
        let requests = topics.first { $0.role.role == "requests" }
        let shared = topics.filter(\.role.isShared).compactMap { facts in
            facts.partitions.answer.map { (topic: facts.role.name, partitionCount: $0.count) }
        }
        let positions: Result<[GroupPosition], Refusal> =
            switch requests?.partitions {
            case .success:
                Result { () throws(KafkaError) in
                    try examination.positions(in: shared)
                }
            case .failure, nil: .failure(Refusal(.missing, "the requests topic is not there, or this user may not see it"))
            }
        let starts = positions.answer.map { positions in
            Result<GroupStarts, Refusal> { () throws(KafkaError) in
                try examination.starts(among: positions)
            }
        }
        let newer = positions.answer.flatMap { positions in
            Result<[TopicPartition], Refusal> { () throws(KafkaError) in
                try examination.newer(among: positions)
            }.answer
        }
        return GroupFacts(
            id: id, positions: positions,
            description: Result { () throws(KafkaError) in
                try examination.description()
            },
            delays: Set(settings.kafka.topics.delays), rule: settings.kafka.start, starts: starts,
            newer: newer ?? [])
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
