import Delivery
import EventLoop
import Kafka
import PushModel
import Testing

@testable import KafkaCare

@Suite struct FindingsTests {
    private static let tool = KafkaTool(brokers: "b:9092")
    private static let refused = QueryFailure(.rights, text: "not allowed")

    @Test(arguments: [
        (QueryFailure.Kind.unreachable, Finding.Cause.unreachable, "with BROKERS,"),
        (.login, .notAllowed, "sasl.password in PROPERTIES;"), (.tls, .notAllowed, "ssl.ca.location=FILE in PROPERTIES;"),
        (.certificate, .notAllowed, "ssl.key.location=FILE in PROPERTIES"), (.configuration, .configuration, "config show"),
        (.other, .unreachable, "with BROKERS,"),
    ])
    func aBrokerThatCannotBeAskedHasItsOwnRemedy(kind: QueryFailure.Kind, cause: Finding.Cause, remedy: String) {
        let refusal = QueryFailure(kind, text: "said")
        var facts = ConnectionFacts(brokers: "b:9092")
        facts.places = KafkaPlaces(brokers: "BROKERS", properties: "PROPERTIES")
        let findings = ConnectionFindings.of(facts, brokerCount: .failure(refusal), brokerSettings: .failure(refusal))
        #expect(findings.first?.state == .failed)
        #expect(findings.first?.cause == cause)
        #expect(findings.first?.text.contains("said") == true)
        #expect(findings.first?.remedy?.contains(remedy) == true)
    }

    @Test(arguments: [
        ("127.0.0.1:9092", "PLAINTEXT", true, Finding.State.ok), ("localhost:1,[::1]:2", "SASL_PLAINTEXT", true, .ok),
        ("kafka:9092", "PLAINTEXT", true, .warning), ("127.0.0.1:1,kafka:2", "PLAINTEXT", true, .warning),
        ("kafka:9093", "SSL", true, .ok), ("kafka:9093", "SASL_SSL", false, .warning),
    ])
    func unencryptedAndUnverifiedConnectionsAreWarnedOf(
        brokers: String, security: String, verifies: Bool, state: Finding.State
    ) {
        var facts = ConnectionFacts(brokers: brokers)
        facts.securityProtocol = security
        facts.verifiesCertificates = verifies
        let findings = ConnectionFindings.of(facts, brokerCount: .success(3), brokerSettings: .failure(Self.refused))
        #expect(findings.map(\.state) == [.ok, state, .ok, .ok])
        #expect((findings.dropFirst().first?.remedy == nil) == (state == .ok))
    }

    @Test(arguments: [
        ("SCRAM-SHA-512", false, true, Finding.State.failed), ("SCRAM-SHA-256", false, false, .warning),
        ("SCRAM-SHA-512", true, true, .ok), ("PLAIN", false, true, .ok),
    ])
    func scramAgainstKafka4IsNamedOutright(mechanism: String, isSupported: Bool, loginFails: Bool, state: Finding.State) {
        var facts = ConnectionFacts(brokers: "b:9092")
        facts.securityProtocol = "SASL_SSL"
        facts.saslMechanism = mechanism
        facts.supportsScramOnKafka4 = isSupported
        let cluster: Result<Int, QueryFailure> =
            loginFails ? .failure(QueryFailure(.login, text: "invalid credentials")) : .success(1)
        let findings = ConnectionFindings.of(facts, brokerCount: cluster, brokerSettings: .failure(Self.refused))
        let library = findings.dropFirst(2).first
        #expect(library?.state == state)
        #expect(library?.text.contains("Kafka 4") == (state != .ok || !isSupported))
        #expect((library?.remedy?.contains("2.6.1") == true) == (state != .ok))
    }

    @Test(arguments: [
        (["offsets.topic.num.partitions": "50"], "Kafka 4 or later"),
        (["offsets.topic.num.partitions": "50", "inter.broker.protocol.version": "3.9-IV0"], "Kafka 3.9-IV0"),
        ([:], "works, but"),
    ])
    func theBrokersVersionIsReadFromWhatItCanBeSetTo(settings: [String: String], expected: String) {
        let findings = ConnectionFindings.of(
            ConnectionFacts(brokers: "b"), brokerCount: .success(1), brokerSettings: .success(settings))
        #expect(findings.dropFirst(2).first?.text.contains(expected) == true)
    }

    @Test func propertiesSayHowTheConnectionIsMade() {
        let facts = ConnectionFacts(
            brokers: "b",
            [
                .init(key: "security.protocol", value: "sasl_ssl"), .init(key: "sasl.mechanisms", value: "PLAIN"),
                .init(key: "ssl.endpoint.identification.algorithm", value: "none"),
                .init(key: "message.max.bytes", value: "1000"),
            ])
        #expect(facts.securityProtocol == "SASL_SSL")
        #expect(facts.saslMechanism == "PLAIN")
        #expect(!facts.verifiesCertificates)
        let findings = ConnectionFindings.of(facts, brokerCount: .success(1), brokerSettings: .failure(Self.refused))
        let size = findings.dropFirst(3).first
        #expect(size?.state == .failed)
        #expect(size?.cause == .configuration)
    }

    private static let good = [PartitionReplicas](repeating: .init(leader: 1, count: 3, inSyncCount: 3), count: 12)

    private static func topic(
        _ role: String, _ partitions: [PartitionReplicas] = good, _ settings: [String: String] = [:]
    ) throws -> TopicFacts {
        let role = try #require(TopicRole.all(Topics()).first { $0.role == role })
        return TopicFacts(
            role: role, partitions: .success(partitions),
            settings: .success(settings.map { TopicSetting(name: $0.key, value: $0.value) }))
    }

    /// The keys `a`, `b` and `c` name the partitions 1, 2 and 1 of three.
    @Test(
        arguments: [
            ([("a", 1), ("b", 2), ("c", 1)], 3, nil), ([], 3, nil), ([("a", 0)], 1, nil), ([("", 0), (nil, 2)], 3, nil),
            (
                [("a", 1), ("b", 0), ("c", 2), (nil, 0)], 3,
                "2 of the newest 3 requests with a key are not where murmur2 puts it, as one in partition 0 instead of 2"
            ),
        ] as [([(key: String?, partition: Int32)], Int32, String?)])
    func aRequestInAnotherPartitionThanItsKeyNamesIsAWarning(
        records: [(key: String?, partition: Int32)], count: Int32, warning: String?
    ) throws {
        var facts = try Self.topic("requests")
        var sample = KeySample(partitionCount: count)
        for (key, partition) in records {
            if let key { sample.take(key: Array(key.utf8).span, in: partition) } else { sample.take(key: nil, in: partition) }
        }
        facts.keys = sample
        let findings = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(findings.map(\.state) == [warning == nil ? .ok : .warning])
        if let warning { #expect(findings.first?.text.hasPrefix(warning) == true, "\(findings)") }
    }

    /// A broker tells a retention of every topic; where nothing is deleted, it has no effect.
    @Test(arguments: [
        ("requests", "delete", "604800000", "delete, kept 7 days"), ("requests", "delete", "-1", "delete, kept for ever"),
        ("parents", "compact", "604800000", "compact, kept for ever"),
    ])
    func aTopicAsItShouldBeIsOneLine(role: String, policy: String, retention: String, told: String) throws {
        let facts = try Self.topic(role, Self.good, ["cleanup.policy": policy, "retention.ms": retention])
        let findings = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(findings == [.ok("topic", of: "push.\(role).v1", text: "12 partitions, replication 3, \(told)")])
    }

    @Test(arguments: [
        ("cleanup.policy", "compact", Finding.State.failed, "cleanup.policy=delete"),
        ("min.insync.replicas", "4", .failed, "min.insync.replicas=2"),
        ("min.insync.replicas", "3", .warning, "min.insync.replicas=2"),
        ("min.insync.replicas", "1", .warning, "min.insync.replicas=2"),
        ("max.message.bytes", "1000", .failed, "max.message.bytes=1048588"),
        ("unclean.leader.election.enable", "true", .warning, "unclean.leader.election.enable=false"),
        ("compression.type", "producer", .warning, "compression.type=uncompressed"),
        ("compression.type", "gzip", .warning, "compression.type=uncompressed"),
    ])
    func aSettingThatLosesOrRefusesRecordsIsFound(name: String, value: String, state: Finding.State, remedy: String) throws {
        let findings = TopicFindings.of(try Self.topic("requests", Self.good, [name: value]), brokerCount: 3, tool: Self.tool)
        #expect(findings.map(\.state) == [state])
        #expect(findings.first?.remedy?.contains("--entity-name push.requests.v1 --add-config \(remedy)") == true)
        #expect(findings.first?.text.contains(name) == true)
    }

    /// Whoever may write to a topic decides how large its batches are when unpacked, unless the topic says otherwise.
    @Test func topicsThatPublishersWriteAreCreatedUncompressedAndOthersAreNot() throws {
        let roles = TopicRole.all(Topics())
        let uncompressed = roles.filter { role in
            role.topic(partitions: 12, replication: 1).configuration.contains { property in
                property.key == "compression.type" && property.value == "uncompressed"
            }
        }
        #expect(uncompressed.map(\.role) == ["requests", "requests-high", "requests-bulk", "control"])
        for role in ["requests-own", "delay-10s", "results"] {
            let findings = TopicFindings.of(
                try Self.topic(role, Self.good, ["compression.type": "producer"]), brokerCount: 3, tool: Self.tool)
            #expect(findings.map(\.state) == [.ok], "pushfan alone writes \(role)")
        }
        let cured = try Self.topic("requests", Self.good, ["compression.type": "uncompressed"])
        #expect(TopicFindings.of(cured, brokerCount: 3, tool: Self.tool).map(\.state) == [.ok])
    }

    @Test(arguments: ["callbacks", "callbacks-deadletter", "callbacks-replay"])
    func aTopicOfCallbacksThatNobodyNeedsMayBeMissing(role: String) throws {
        var facts = try Self.topic(role)
        facts.partitions = .failure(QueryFailure(.missing, text: "the topic does not exist"))
        facts.operations = []
        #expect(TopicFindings.of(facts, brokerCount: 3, tool: Self.tool).map(\.state) == [.ok])
        facts.operations = [.read]
        let needed = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(needed.map(\.state) == [.warning] && needed.first?.remedy == "pushfan topics create")
    }

    @Test(arguments: [(QueryFailure.Kind.rights, Finding.State.failed), (.unreachable, .unasked)])
    func aRightToGroupsOfReceiversThatIsMissingHasItsCommand(kind: QueryFailure.Kind, state: Finding.State) {
        let entry = AccessRights.Entry(resource: .group, name: "pushfan-callback-", isPrefix: true, operations: [.read])
        let findings = ReceiverGroupFindings.of(entry, answer: .failure(QueryFailure(kind, text: "no")), tool: Self.tool)
        #expect(findings.map(\.state) == [state])
        let command = "--operation Read --group pushfan-callback- --resource-pattern-type prefixed"
        #expect(state != .failed || findings.first?.remedy?.hasSuffix(command) == true)
        #expect(ReceiverGroupFindings.of(entry, answer: .success(()), tool: Self.tool).isEmpty)
    }

    @Test func pausedReceiversAreKeptForEver() throws {
        let role = try #require(TopicRole.all(Topics()).first { $0.role == "callbacks" })
        let topic = role.topic(partitions: 12, replication: 1)
        #expect(topic.name == "push.callbacks.v1" && topic.partitionCount == 1)
        #expect(topic.configuration.contains { $0.key == "cleanup.policy" && $0.value == "compact" })
        #expect(!topic.configuration.contains { $0.key == "retention.ms" })
    }

    @Test func textsOfSecurePushGoSoonAfterADay() throws {
        let role = try #require(TopicRole.all(Topics()).first { $0.role == "secure" })
        let topic = role.topic(partitions: 12, replication: 1)
        #expect(topic.name == "push.secure.v1" && topic.partitionCount == 12)
        let settings = topic.configuration.map { "\($0.key)=\($0.value)" }
        #expect(settings == ["cleanup.policy=delete", "retention.ms=86400000", "segment.ms=3600000"])
        #expect(role.problems([TopicSetting(name: "cleanup.policy", value: "compact")]).count == 1)
    }

    @Test func shortRetentionIsWarnedOfUnlessNothingIsDeleted() throws {
        let short = ["cleanup.policy": "delete", "retention.ms": "3600000", "retention.bytes": "1000"]
        let found = TopicFindings.of(try Self.topic("results", Self.good, short), brokerCount: 3, tool: Self.tool)
        #expect(found.map(\.state) == [.warning, .warning])
        #expect(found.first?.remedy?.contains("retention.ms=1209600000") == true)
        let one = [PartitionReplicas(leader: 1, count: 3, inSyncCount: 3)]
        let compacted = ["cleanup.policy": "compact", "retention.ms": "1"]
        #expect(
            TopicFindings.of(try Self.topic("replays", one, compacted), brokerCount: 3, tool: Self.tool).map(\.state) == [.ok])
    }

    /// A topic of an earlier version keeps minutes for a day, which is enough for those, and a user learns how to keep incidents.
    @Test(
        arguments: [
            ("1209600000", "536870912", nil), ("-1", "-1", nil), ("86400000", "536870912", "retention.ms=1209600000"),
            ("1209600000", "67108864", "retention.bytes=536870912"), ("3600000", "-1", "retention.ms=1209600000"),
        ] as [(String, String, String?)])
    func incidentsThatAreForgottenSoonAreWarnedOf(kept: String, bytes: String, remedy: String?) throws {
        let one = [PartitionReplicas(leader: 1, count: 3, inSyncCount: 3)]
        let settings = ["cleanup.policy": "delete", "retention.ms": kept, "retention.bytes": bytes]
        let facts = try Self.topic("history", one, settings)
        let found = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(found.map(\.state) == [remedy == nil ? .ok : .warning])
        if let remedy { #expect(found.first?.remedy?.contains("--entity-name push.history.v1 --add-config \(remedy)") == true) }
        #expect(facts.role.problems(settings.map { TopicSetting(name: $0.key, value: $0.value) }).isEmpty)
        let made = facts.role.topic(partitions: 12, replication: 1)
        #expect(made.partitionCount == 1 && made.configuration.contains { $0.key == "retention.ms" && $0.value == "1209600000" })
    }

    /// An order stands for 7 days at most, and whoever starts meanwhile must find it. Every policy, retention and size, and the setting that
    /// is the fault.
    @Test(
        arguments: [
            ("compact,delete", "691200000", "-1", nil), ("compact,delete", "-1", "-1", nil), ("compact", "1", "1", nil),
            ("compact,delete", "691199999", "-1", "retention.ms=691200000"),
            ("delete", "604800000", "-1", "retention.ms=691200000"),
            ("compact,delete", "3600000", "1000", "retention.ms=691200000"),
            ("compact,delete", "691200000", "1073741824", "retention.bytes=-1"), ("delete", "-1", "0", "retention.bytes=-1"),
        ] as [(String, String, String, String?)])
    func noRetentionOfTheControlTopicMayEndAnOrder(policy: String, kept: String, bytes: String, remedy: String?) throws {
        let settings = ["cleanup.policy": policy, "retention.ms": kept, "retention.bytes": bytes]
        let facts = try Self.topic("control", [PartitionReplicas(leader: 1, count: 3, inSyncCount: 3)], settings)
        let found = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(found.map(\.state) == [remedy == nil ? .ok : .failed])
        if let remedy { #expect(found.first?.remedy?.contains("--entity-name push.control.v1 --add-config \(remedy)") == true) }
        let problems = facts.role.problems(settings.map { TopicSetting(name: $0.key, value: $0.value) })
        #expect(problems.count == (remedy == nil ? 0 : 1), "`topics check` finds the same")
    }

    @Test func noOtherTopicIsFaultyForWhatOrdersNeed() {
        let settings = [TopicSetting(name: "retention.ms", value: "1"), TopicSetting(name: "retention.bytes", value: "1")]
        #expect(TopicRole.all(Topics()).filter { !$0.problems(settings).isEmpty }.map(\.role) == ["control"])
    }

    @Test func theRoleOfTheControlTopicKeepsLongerThanAnOrderStands() throws {
        let role = try #require(TopicRole.all(Topics()).first { $0.role == "control" })
        let settings = role.topic(partitions: 12, replication: 3).configuration.map {
            TopicSetting(name: $0.key, value: $0.value)
        }
        #expect(role.problems(settings).isEmpty)
        #expect(Int64(try #require(role.days)) * 86_400_000 > OrderRecord.longest)
    }

    @Test(arguments: [
        (PartitionReplicas(leader: nil, count: 3, inSyncCount: 0), 3, Finding.State.failed),
        (PartitionReplicas(leader: 1, count: 3, inSyncCount: 2), 3, .warning),
        (PartitionReplicas(leader: 1, count: 1, inSyncCount: 1), 3, .warning),
        (PartitionReplicas(leader: 1, count: 1, inSyncCount: 1), 1, .ok),
    ])
    func partitionsWithoutLeaderOrCopyAreFound(partition: PartitionReplicas, brokers: Int, state: Finding.State) throws {
        let facts = try Self.topic("requests", [partition])
        let alone = TopicFindings.of(facts, brokerCount: brokers, tool: Self.tool)
        let findings = alone + TopicFindings.ofAll([facts], tool: Self.tool)
        #expect(findings.filter { $0.state != .ok }.map(\.state) == (state == .ok ? [] : [state]))
    }

    @Test func aMissingBrokerIsSaidOnceForAllTopics() throws {
        let lagging = PartitionReplicas(leader: 1, count: 3, inSyncCount: 2, missing: [2])
        let headless = PartitionReplicas(leader: nil, count: 1, inSyncCount: 0, missing: [2])
        let roles = ["requests", "requests-high", "results", "deadletter"]
        var unreadable = try Self.topic("replays", [headless])
        unreadable.reading = .failure(QueryFailure(.unreachable, text: "no partition could be read in time"))
        let topics =
            try roles.map { try Self.topic($0, [lagging, lagging, .init(leader: 1, count: 3, inSyncCount: 3)]) }
            + [unreadable]
        let alone = topics.flatMap { TopicFindings.of($0, brokerCount: 2, tool: Self.tool) }
        #expect(alone.map(\.state) == [.ok, .ok, .ok, .ok, .warning], "the last has one replica")
        let found = TopicFindings.ofAll(topics, tool: Self.tool)
        #expect(
            found == [
                .failure(
                    "topic", of: "push.replays.v1",
                    text: "1 of 1 partition has no leader: nothing can be read or written there; down or behind: broker 2",
                    mend: "start the brokers that keep them: "
                        + "kafka-topics.sh --bootstrap-server b:9092 --describe --unavailable-partitions"),
                .warning(
                    "topic", of: "push.requests.v1, push.requests-high.v1, push.results.v1, 1 more",
                    text: "8 of 12 partitions have a replica that is not in sync; down or behind: broker 2",
                    mend: "start the brokers that keep them: "
                        + "kafka-topics.sh --bootstrap-server b:9092 --describe --under-replicated-partitions"),
            ])
    }

    @Test func jobsOfReplaysStandInOnePartitionAndOutliveRequests() throws {
        #expect(TopicFindings.of(try Self.topic("replays"), brokerCount: 3, tool: Self.tool).map(\.state) == [.failed])
        let week = ["cleanup.policy": "delete", "retention.ms": "604800000"]
        let month = ["cleanup.policy": "compact,delete", "retention.ms": "2592000000"]
        func both(_ requests: [String: String], _ replays: [String: String]) throws -> [Finding] {
            TopicFindings.ofAll(
                [try Self.topic("requests", Self.good, requests), try Self.topic("replays", Self.good, replays)], tool: Self.tool)
        }
        #expect(try both(week, month).isEmpty)
        #expect(try both(month, week).map(\.state) == [.warning])
        #expect(try both(["cleanup.policy": "delete", "retention.ms": "-1"], month).map(\.state) == [.warning])
        #expect(try both(month, ["cleanup.policy": "compact", "retention.ms": "1"]).isEmpty)
    }

    @Test func heldRequestsNeedAPartitionForEachLaneOfEachPartition() throws {
        func held(_ count: Int) throws -> [Finding] {
            let partitions = [PartitionReplicas](repeating: Self.good[0], count: count)
            return TopicFindings.ofAll([try Self.topic("requests"), try Self.topic("held", partitions)], tool: Self.tool)
        }
        #expect(try held(36).isEmpty)
        let found = try held(35)
        #expect(found.map(\.state) == [.warning] && found.first?.text.contains("35 of 36 partitions") == true)
        #expect(found.first?.remedy?.contains("--topic push.held.v1 --partitions 36") == true)
    }

    @Test(arguments: [
        (QueryFailure.Kind.missing, "pushfan topics create", Finding.Cause.other),
        (.rights, "--operation Describe --topic push.requests.v1", .notAllowed),
    ])
    func aTopicThatCannotBeSeenSaysWhatToDo(kind: QueryFailure.Kind, remedy: String, cause: Finding.Cause) throws {
        var facts = try Self.topic("requests")
        facts.partitions = .failure(QueryFailure(kind, text: "x"))
        let findings = TopicFindings.of(facts, brokerCount: 3, tool: Self.tool)
        #expect(findings.map(\.state) == [.failed])
        #expect(findings.first?.remedy?.contains(remedy) == true)
        #expect(findings.first?.cause == cause)
    }

    @Test func rightsThatAreMissingAreNamedWithTheCommandThatGivesThem() throws {
        var requests = try Self.topic("requests")
        requests.reading = .failure(Self.refused)
        let reading = TopicFindings.of(requests, brokerCount: 3, tool: Self.tool)
        #expect(reading.map(\.cause) == [.notAllowed])
        #expect(reading.first?.remedy?.contains("--operation Read --topic push.requests.v1") == true)
        var results = try Self.topic("results")
        results.writing = .success(.refused(Self.refused))
        #expect(TopicFindings.of(results, brokerCount: 3, tool: Self.tool).first?.remedy?.contains("--operation Write") == true)
        results.writing = .success(.allowed)
        #expect(TopicFindings.of(results, brokerCount: 3, tool: Self.tool).map(\.state) == [.ok])
        results.writing = .success(.written)
        #expect(TopicFindings.of(results, brokerCount: 3, tool: Self.tool).map(\.state) == [.warning])
        results.writing = nil
        results.settings = .failure(Self.refused)
        let unread = TopicFindings.of(results, brokerCount: 3, tool: Self.tool)
        #expect(unread.map(\.state) == [.ok, .unasked])
        #expect(unread.dropFirst().first?.remedy?.contains("DescribeConfigs") == true)
        results.settings = .success([])
        results.hasFutureRecord = true
        #expect(TopicFindings.of(results, brokerCount: 3, tool: Self.tool).map(\.check) == ["clock"])
    }

    @Test(arguments: [
        ("group.min.session.timeout.ms", "20000", Finding.State.failed, "--kafka.session_timeout 20000ms"),
        ("group.max.session.timeout.ms", "9000", .failed, "--kafka.session_timeout 9000ms"),
        ("transaction.max.timeout.ms", "12000", .failed, "--kafka.transaction_timeout 12000ms"),
        ("transaction.max.timeout.ms", "1000", .failed, "transaction.max.timeout.ms=15000 in the brokers"),
        ("offset.metadata.max.bytes", "100", .warning, "offset.metadata.max.bytes=4096"),
        ("offsets.retention.minutes", "60", .warning, "offsets.retention.minutes=10080"),
        ("offset.metadata.max.bytes", "4096", .ok, ""), ("group.max.session.timeout.ms", "nonsense", .ok, ""),
    ])
    func brokersThatRefuseWhatOurSettingsAskAreFound(key: String, value: String, state: Finding.State, remedy: String) {
        let findings = BrokerFindings.of(.success([key: value]), demands: BrokerDemands(), tool: Self.tool)
        #expect(findings.map(\.state) == [state])
        #expect(state == .ok || findings.first?.remedy?.contains(remedy) == true)
    }

    @Test func theLimitOfDescriptorsIsJudgedByWhatAWorkerMayNeed() {
        let low = LimitFindings.of(DescriptorLimit(soft: 4384, hard: 4383), needed: 4384)
        #expect(low.state == .warning && low.remedy == "ulimit -Hn 4384, or LimitNOFILE=4384 in the worker's unit")
        let enough = LimitFindings.of(DescriptorLimit(soft: 10, hard: 4384), needed: 4384)
        #expect(enough.state == .ok && enough.text.hasPrefix("4384 may be open"))
        #expect(LimitFindings.of(nil, needed: 1).state == .unasked)
        #expect(DescriptorLimit.current().map { $0.soft <= $0.hard && $0.soft > 0 } == true)
    }
}
