import Kafka
import PushModel
import Settings
import PushModel

extension Command {
    private static let timeout = Flag("timeout", "DURATION", "How long to wait for the brokers", default: "10s")

    /// `pushfan topics create`: what a worker needs, made once.
    static let topicsCreate = Command(
        "topics create", .operators, "Create the topics that are missing",
        examples: [
            "pushfan topics create", "pushfan topics create --partitions 48 --replication 3",
            "pushfan topics create --requests-topic test.requests --results-topic test.results -o json",
        ],
        groups: [
            FlagGroup(
                "Selection",
                [
                    Flag(
                        "partitions", "N", "Partitions of each topic but control and replays; held has three times as many",
                        default: "12"),
                    Flag("replication", "N", "Brokers that keep each partition", default: "3, or the number of brokers if less"),
                ]),
            .output(), .kafka(topics: ["requests", "results", "deadletter", "control", "shares", "replays"], and: [timeout]),
        ],
        readOn: "pushfan help topics check", run: TopicsCommands.create)

    /// `pushfan topics check`: whether a worker can start.
    static let topicsCheck = Command(
        "topics check", .operators, "Check that the topics exist and lose nothing",
        examples: [
            "pushfan topics check", "pushfan topics check --bootstrap 127.0.0.1:9092 -o json",
            "pushfan topics check || pushfan topics create",
        ],
        groups: [
            .output(), .kafka(topics: ["requests", "results", "deadletter", "control", "shares", "replays"], and: [timeout]),
        ],
        readOn: "pushfan help topics create", run: TopicsCommands.check)
}

private enum TopicsCommands {
    static func create(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let partitions = try invocation.arguments.integer("partitions", in: 1...10_000) ?? 12
        let replication = try invocation.arguments.integer("replication", in: 1...1000)
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        let all = try invocation.settings()
        let settings = all.kafka
        let roles = TopicRole.all(settings.topics)
        let admin: TopicAdmin
        let created: [TopicCreation]
        let copies: Int
        do throws(KafkaError) {
            admin = try TopicAdmin(all.kafkaConfiguration())
            let cluster = try admin.describe(topics: [], timeout: timeout)
            copies = replication ?? max(1, min(3, cluster.brokerCount))
            created = try admin.createTopics(
                roles.map { $0.topic(partitions: partitions, replication: copies) }, timeout: timeout)
        } catch {
            throw invocation.failure(error, settings, to: "create the topics")
        }
        let code = try report(invocation, zip(roles, created).map { ($0, $1) }, settings, partitions, copies)
        let figures = TopicFigures(
            partitions: invocation.arguments.has("partitions") ? partitions : nil, replication: replication,
            KafkaTool(brokers: settings.bootstrapServers.joined(separator: ",")))
        compare(zip(roles, created).filter { $1 == .alreadyExists }.map(\.0), figures, admin, timeout, invocation)
        return code
    }

    /// Warns of topics that were there before with other figures than the requested ones. They are usable in any case.
    private static func compare(
        _ former: [TopicRole], _ figures: TopicFigures, _ admin: TopicAdmin, _ timeout: Duration, _ invocation: Invocation
    ) {
        guard !former.isEmpty, !figures.isEmpty,
            let cluster = try? admin.describe(topics: former.map(\.name), timeout: timeout)
        else { return }
        for (role, there) in zip(former, cluster.partitions) {
            for warning in figures.warnings(role, there) { invocation.streams.note(warning) }
        }
    }

    private static func report(
        _ invocation: Invocation, _ outcomes: [(TopicRole, TopicCreation)], _ settings: KafkaSettings, _ partitions: Int,
        _ replication: Int
    ) throws(CommandFailure) -> ExitCode {
        var report = TopicReport()
        var failures: [KafkaError] = []
        for (role, outcome) in outcomes {
            switch outcome {
            case .created:
                let count = role.partitionCount(partitions)
                report.add(role, "created", "\(Counted.text(count, "partition", "partitions")), replication \(replication)")
            case .alreadyExists: report.add(role, "ok", "existed already, left as it is")
            case .failed(let error):
                failures.append(error)
                report.add(role, "failed", Sanitised.line(error.description))
            }
        }
        try report.write(to: invocation)
        guard let first = failures.first else { return .done }
        let failure = invocation.failure(first, settings, to: "create the topics")
        guard failures.count == outcomes.count else { return .partlyFailed }
        throw failure
    }

    static func check(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        let all = try invocation.settings()
        let settings = all.kafka
        let roles = TopicRole.all(settings.topics)
        let admin: TopicAdmin
        let cluster: ClusterDescription
        do throws(KafkaError) {
            admin = try TopicAdmin(all.kafkaConfiguration())
            cluster = try admin.describe(topics: roles.map(\.name), timeout: timeout)
        } catch {
            throw invocation.failure(error, settings, to: "look at the topics")
        }
        var report = TopicReport()
        for (role, description) in zip(roles, cluster.topics) {
            switch description {
            case .missing: report.add(role, "missing", "`pushfan topics create` makes it")
            case .failed(let error): report.add(role, "failed", Sanitised.line(error.description))
            case .existing(let count): check(role, partitions: count, admin, timeout, &report)
            }
        }
        try report.write(to: invocation)
        return report.isGood ? .done : .failed
    }

    private static func check(
        _ role: TopicRole, partitions: Int, _ admin: TopicAdmin, _ timeout: Duration, _ report: inout TopicReport
    ) {
        let count = Counted.text(partitions, "partition", "partitions")
        do {
            let problems = role.problems(try admin.settings(ofTopic: role.name, timeout: timeout))
            guard problems.isEmpty else { return report.add(role, "problem", problems.joined(separator: "; ")) }
            report.add(role, "ok", count)
        } catch {
            report.add(role, "ok", "\(count); its settings cannot be read (\(error.name))")
        }
    }
}

/// The result for each topic.
private struct TopicReport {
    private var table = Table("TOPIC", "ROLE", "STATE", "DETAIL")
    private var objects: [[UInt8]] = []
    private(set) var isGood = true

    mutating func add(_ role: TopicRole, _ state: String, _ detail: String) {
        table.add(role.name, role.role, state, detail)
        var object = JSONObject()
        object.add("topic", value: role.name)
        object.add("role", value: role.role)
        object.add("state", value: state)
        object.add("detail", value: detail)
        objects.append(object.bytes)
        if state != "ok" && state != "created" { isGood = false }
    }

    func write(to invocation: Invocation) throws(CommandFailure) {
        try invocation.streams.out(invocation.arguments.format(), table, objects)
    }
}
