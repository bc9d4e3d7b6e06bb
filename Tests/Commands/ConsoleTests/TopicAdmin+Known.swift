import Kafka
import TestSupport
import Testing

extension TopicAdmin {
    /// Creates topics on a real broker and waits until it knows them: a controller confirms them before.
    func createKnown(_ topics: [NewTopic]) throws {
        _ = try createTopics(topics, timeout: farDeadline)
        let areKnown = try eventually {
            try describe(topics: topics.map(\.name), timeout: farDeadline).topics.allSatisfy { $0 != .missing }
        }
        try #require(areKnown)
    }
}
