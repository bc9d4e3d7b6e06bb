/// The topics and the group of one scenario; no other uses them.
struct TopicNames: Sendable {
    let requests: String
    /// Where parts and replays stand, which pushfan names after the requests.
    let requestsOwn: String
    let results: String
    let deadLetters: String
    /// The smallest of the delay lanes, which pushfan names after the requests.
    let delay: String
    let held: String
    let replays: String
    /// The topic of orders and cancellations.
    let control: String
    let group: String

    init(_ scenario: String, run: Int) {
        let prefix = "faults.\(scenario).\(run)"
        requests = "\(prefix).requests"
        requestsOwn = "\(prefix).requests-own"
        results = "\(prefix).results"
        deadLetters = "\(prefix).deadletter"
        delay = "\(prefix).delay-10s"
        held = "\(prefix).held"
        replays = "\(prefix).replays"
        control = "\(prefix).control"
        group = "\(prefix).group"
    }

    /// The settings that name them.
    var variables: [String: String] {
        [
            "PUSHFAN_KAFKA_TOPICS_REQUESTS": requests, "PUSHFAN_KAFKA_TOPICS_RESULTS": results,
            "PUSHFAN_KAFKA_TOPICS_DEADLETTER": deadLetters, "PUSHFAN_KAFKA_TOPICS_REPLAYS": replays,
            "PUSHFAN_KAFKA_GROUP_ID": group,
        ]
    }
}
