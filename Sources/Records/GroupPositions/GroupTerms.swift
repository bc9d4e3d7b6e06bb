public import Delivery
public import Kafka

/// The group whose partitions begin: its brokers, its name, its topics, and its rule for partitions without a position.
public struct GroupTerms: Sendable {
    /// The brokers and the user's properties.
    public var kafka: KafkaConfiguration
    /// The group's name.
    public var group: String
    /// The topics of requests, of every lane.
    public var requests: [String]
    /// The topics of delay lanes, in the order of `DelayLanes.lengths`.
    public var delays: [String]
    /// The topic of held requests.
    public var held: String
    /// The topic of large requests.
    public var parents: String
    /// The rule for partitions without a position that says where they begin.
    public var start: StartRule

    /// A group by its terms.
    public init(
        kafka: KafkaConfiguration, group: String, requests: [String], delays: [String], held: String, parents: String,
        start: StartRule
    ) {
        self.kafka = kafka
        self.group = group
        self.requests = requests
        self.delays = delays
        self.held = held
        self.parents = parents
        self.start = start
    }

    /// The group of a fleet by the names of its topics.
    public init(kafka: KafkaConfiguration, group: String, topics: Topics, start: StartRule) {
        self.init(
            kafka: kafka, group: group,
            requests: [topics.requests, topics.requestsHigh, topics.requestsBulk, topics.requestsOwn], delays: topics.delays,
            held: topics.held, parents: topics.parents, start: start)
    }

    /// All topics, those of requests first.
    public var topics: [String] { requests + delays + [held, parents] }

    /// The kind of a topic's records. One that is none of the others has requests.
    public func kind(of topic: String) -> AssignmentPlan.Kind {
        if delays.contains(topic) { return .delayed }
        return topic == held ? .held : topic == parents ? .parents : .requests
    }
}
