import FaultOracle
import Kafka

/// Topics that go away, and come back under their names with other records.
extension Catalogue {
    static let topicScenarios = [topicRemade]

    private static let topicRemade = Scenario(
        "topic-remade", "of a topic of requests that is made again while workers run, everything is sent that is published then"
    ) { stage in
        for round in 1...4 {
            // With the topic goes what has no result.
            stage.watch.unmark()
            try Clock.wait(for: "every request to have its result", within: .seconds(90)) { stage.isSettled }
            guard round < 4 else { return }
            try stage.remake(stage.topics.requests, after: .milliseconds([1000, 6000, stage.random(500...4000)][round - 1]))
            // The new topic is soon longer than the old one was.
            var next = stage.scenario.workload
            next.count *= round + 1
            next.rate = 1_200
            stage.publish(next)
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workload = Workload(300, rate: 300)
        scenario.deadline = .seconds(240)
    }
}

extension Stage {
    /// Deletes a topic, and makes it again after a while.
    ///
    /// - Throws: The brokers do not do it, or `SuiteError.late`.
    fileprivate func remake(_ topic: String, after time: Duration) throws {
        note("\(topic) is deleted")
        let admin = try TopicAdmin(kafka)
        guard try admin.deleteTopics([topic], timeout: .seconds(30)).isEmpty else { throw SuiteError.failed("it is not deleted") }
        Clock.pause(time)
        let new = NewTopic(name: topic, partitionCount: scenario.partitions, replicationFactor: broker.nodes)
        try Clock.wait(for: "the topic to be made again", within: .seconds(30)) {
            try admin.createTopics([new], timeout: .seconds(30)) == [.created]
        }
        note("it is made again")
    }
}
