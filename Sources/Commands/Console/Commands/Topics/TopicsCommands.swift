import JobSupport
import Kafka
import KafkaCare
import PushModel
import Settings

extension Command {
    static let topicsCreate = Command(
        "topics create", .operators, "Create the topics that are missing",
        examples: [
            "pushfan topics create", "pushfan topics create --partitions 48 --replication 3",
            "pushfan topics create --requests-topic test.requests --results-topic test.results -o json",
            "pushfan topics create --dry-run --replication 3 -o ndjson",
        ],
        groups: [
            .selection([
                Flag(
                    "partitions", "N", "Partitions of each topic; held has three times as many, control and others one",
                    default: "12"),
                Flag("dry-run", nil, "Print the topics and their settings, and ask no broker"),
                Flag("replication", "N", "Brokers that keep each partition", default: "3, or the number of brokers if less"),
            ]),
            .output(),
            .kafka(topics: ["requests", "results", "deadletter", "control", "shares", "replays"], and: [.timeout("10s")]),
        ],
        readOn: "pushfan help topics check", run: TopicsCommands.create)

    static let topicsCheck = Command(
        "topics check", .operators, "Check that the topics exist and lose nothing",
        examples: [
            "pushfan topics check", "pushfan topics check --bootstrap 127.0.0.1:9092 -o json",
            "pushfan topics check || pushfan topics create",
        ],
        groups: [
            .output(),
            .kafka(topics: ["requests", "results", "deadletter", "control", "shares", "replays"], and: [.timeout("10s")]),
        ],
        readOn: "pushfan help topics create", run: TopicsCommands.check)
}

private enum TopicsCommands {
    static func create(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let partitions = try invocation.arguments.integer("partitions", in: 1...10_000)
        let replication = try invocation.arguments.integer("replication", in: 1...1000)
        if invocation.arguments.has("dry-run") {
            return try plan(invocation, partitions: partitions ?? 12, replication: replication ?? 3)
        }
        let (setup, settings) = try setup(invocation)
        let creation = try invocation.perform(setup.create(partitions: partitions, replication: replication), with: settings)
        var report = TopicReport()
        var failures: [KafkaError] = []
        for (role, count, answer) in creation.topics {
            switch answer {
            case .created:
                let partitions = Counted.text(count, "partition", "partitions")
                report.add(role, state: "created", detail: "\(partitions), replication \(creation.replication)")
            case .alreadyExists: report.add(role, state: "ok", detail: "existed already, left as it is")
            case .failed(let error):
                failures.append(error)
                report.add(role, state: "failed", detail: Sanitised.line(error.description))
            }
        }
        try invocation.out(report.table)
        if let first = failures.first, failures.count == creation.topics.count {
            throw invocation.failure(first, settings.kafka, to: "create the topics")
        }
        for difference in creation.differences { invocation.streams.note(difference) }
        return failures.isEmpty ? .done : .partlyFailed
    }

    /// Prints the topics as `create` makes them on three or more brokers.
    private static func plan(_ invocation: Invocation, partitions: Int, replication: Int) throws(CommandFailure) -> ExitCode {
        var table = Table("TOPIC", "ROLE", "PARTITIONS", "REPLICATION", "SETTINGS")
        var objects: [[UInt8]] = []
        for role in TopicRole.all(try invocation.settings().kafka.topics) {
            let topic = role.topic(partitions: partitions, replication: replication)
            let settings = topic.configuration
            table.add(
                topic.name, role.role, "\(role.partitionCount(partitions))", "\(replication)",
                settings.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
            var object = JSONObject([
                "topic": topic.name, "role": role.role, "partitions": role.partitionCount(partitions), "replication": replication,
            ])
            object.add("settings", pairs: settings.map { ($0.key, $0.value) })
            objects.append(object.bytes)
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
        return .done
    }

    static func check(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let (setup, settings) = try setup(invocation)
        var report = TopicReport()
        for (role, condition) in try invocation.perform(settings, { () throws(JobFailure) in try setup.check() }) {
            switch condition {
            case .missing: report.add(role, state: "missing", detail: "`pushfan topics create` makes it")
            case .unused:
                report.add(
                    role, state: "ok",
                    detail: "not there, and only `pushfan callbacks` needs it; `pushfan topics create` makes it")
            case .failed(let error): report.add(role, state: "failed", detail: Sanitised.line(error.description))
            case .faulty(let problems): report.add(role, state: "problem", detail: problems.joined(separator: "; "))
            case .good(let count, let unread):
                let reading = unread.map { "; its settings cannot be read (\($0.name))" } ?? ""
                report.add(role, state: "ok", detail: Counted.text(count, "partition", "partitions") + reading)
            }
        }
        try invocation.out(report.table)
        return report.isGood ? .done : .failed
    }

    private static func setup(_ invocation: Invocation) throws(CommandFailure) -> (TopicSetup, Settings) {
        let (settings, context) = try invocation.job()
        return (TopicSetup(context), settings)
    }
}

private struct TopicReport {
    private(set) var table = Table("TOPIC", "ROLE", "STATE", "DETAIL")
    private(set) var isGood = true

    mutating func add(_ role: TopicRole, state: String, detail: String) {
        table.add(["topic": role.name, "role": role.role, "state": state, "detail": detail])
        if state != "ok" && state != "created" { isGood = false }
    }
}
