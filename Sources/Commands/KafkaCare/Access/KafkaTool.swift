import Basics

/// Kafka's own command lines, as remedies show them.
struct KafkaTool {
    let brokers: String
    /// The user whose rights are changed.
    var principal = "User:NAME"

    /// Changes one setting of a topic.
    func set(_ topic: String, _ key: String, _ value: String) -> String {
        "kafka-configs.sh --bootstrap-server \(brokers) --alter --entity-type topics --entity-name \(topic) --add-config \(key)=\(value)"
    }

    /// Lets the user read the settings of a topic.
    func allowDescribingConfigs(ofTopic name: String) -> String {
        allow(["DescribeConfigs"], on: "--topic \(ShellWord.of(name))")
    }

    /// Lets the user read the settings of brokers.
    var allowDescribingBrokers: String { allow(["DescribeConfigs"], on: "--cluster") }

    private func allow(_ operations: [String], on resource: String) -> String {
        let list = operations.map { " --operation \($0)" }.joined()
        return "kafka-acls.sh --bootstrap-server \(ShellWord.of(brokers)) --add --allow-principal \(ShellWord.of(principal))"
            + "\(list) \(resource)"
    }

    /// Gives the user rights to one resource.
    func allow(_ operations: [AccessRights.Operation], on resource: AccessRights.Resource, named name: String) -> String {
        allow(operations.map(\.rawValue), on: "--\(resource.rawValue) \(ShellWord.of(name))")
    }

    /// Gives the user one right to several resources, which are all prefixes or all names.
    func allow(_ operation: AccessRights.Operation, on entries: [AccessRights.Entry]) -> String {
        let resources = entries.map { "--\($0.resource.rawValue) \(ShellWord.of($0.name))" }
        let pattern = entries.contains(where: \.isPrefix) ? ["--resource-pattern-type prefixed"] : []
        return allow([operation.rawValue], on: (resources + pattern).joined(separator: " "))
    }

    /// Gives a topic more partitions.
    func grow(_ topic: String, to count: Int) -> String {
        "kafka-topics.sh --bootstrap-server \(brokers) --alter --topic \(topic) --partitions \(count)"
    }

    /// Moves partitions to other brokers, or to more or fewer of them, as a file says.
    var reassign: String { "kafka-reassign-partitions.sh --bootstrap-server \(brokers) --reassignment-json-file FILE --execute" }

    /// Shows the partitions that lack something, by the name of the tool's flag.
    func describe(lacking flag: String) -> String { "kafka-topics.sh --bootstrap-server \(brokers) --describe --\(flag)" }

    /// Shows where a topic's partitions are.
    func describe(_ topic: String) -> String { "kafka-topics.sh --bootstrap-server \(brokers) --describe --topic \(topic)" }
}
