/// Kafka's own command lines, as remedies show them.
struct KafkaTool {
    let brokers: String

    /// Changes one setting of a topic.
    func set(_ topic: String, _ key: String, _ value: String) -> String {
        "kafka-configs.sh --bootstrap-server \(brokers) --alter --entity-type topics --entity-name \(topic) --add-config \(key)=\(value)"
    }

    /// Gives the user rights. `resource` is such as `--topic push.requests.v1`.
    func allow(_ operations: String..., on resource: String) -> String {
        let list = operations.map { " --operation \($0)" }.joined()
        return "kafka-acls.sh --bootstrap-server \(brokers) --add --allow-principal User:NAME\(list) \(resource)"
    }

    /// Gives a topic more partitions.
    func grow(_ topic: String, to count: Int) -> String {
        "kafka-topics.sh --bootstrap-server \(brokers) --alter --topic \(topic) --partitions \(count)"
    }

    /// Moves partitions to other brokers, or to more or fewer of them, as a file says.
    var reassign: String { "kafka-reassign-partitions.sh --bootstrap-server \(brokers) --reassignment-json-file FILE --execute" }

    /// Shows where a topic's partitions are.
    func describe(_ topic: String) -> String { "kafka-topics.sh --bootstrap-server \(brokers) --describe --topic \(topic)" }
}
