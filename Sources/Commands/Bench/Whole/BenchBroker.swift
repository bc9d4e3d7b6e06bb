import Console
import Delivery
import Kafka

/// The broker that a bench runs on, with topics of the bench's own.
final class BenchBroker {
    let kafka: KafkaConfiguration
    /// What the report calls it.
    let name: String
    private let cluster: MockCluster?
    private let run: String
    private var topicNames: [String] = []

    /// The broker inside this process.
    static func embedded(run: String) throws(KafkaError) -> BenchBroker {
        let cluster = try MockCluster()
        return BenchBroker(cluster.configuration, name: "embedded", cluster: cluster, run: run)
    }

    /// A broker that runs already.
    static func existing(_ kafka: KafkaConfiguration, run: String) -> BenchBroker {
        BenchBroker(kafka, name: kafka.bootstrapServers, cluster: nil, run: run)
    }

    private init(_ kafka: KafkaConfiguration, name: String, cluster: MockCluster?, run: String) {
        self.kafka = kafka
        self.name = name
        self.cluster = cluster
        self.run = run
    }

    var isEmbedded: Bool { cluster != nil }

    /// Makes sure that a broker answers, else throws `unreachable` or `notAllowed`.
    func ask() throws(CommandFailure) {
        guard !isEmbedded else { return }
        do throws(KafkaError) {
            _ = try TopicAdmin(kafka).describe(topics: [], timeout: .seconds(5))
        } catch {
            throw .broker(error, at: kafka.bootstrapServers, action: "begin")
        }
    }

    /// Makes topics for one worker. `part` stands in their names.
    func makeTopics(_ part: String, partitions: Int) throws(CommandFailure) -> Topics {
        let topics = Self.topics("pushfan-bench.\(run).\(part)")
        do throws(KafkaError) {
            if let cluster {
                for topic in topics.all {
                    try cluster.createTopic(topic, partitions: topics.partitionCount(of: topic, requests: partitions))
                }
            } else {
                try create(topics, partitions: partitions)
            }
        } catch {
            throw .broker(error, at: kafka.bootstrapServers, action: "create topics for the bench")
        }
        return topics
    }

    /// The topics of one worker, whose names begin with `prefix`.
    static func topics(_ prefix: String) -> Topics { .init(requests: "\(prefix).requests") }

    private func create(_ topics: Topics, partitions: Int) throws(KafkaError) {
        let admin = try TopicAdmin(kafka)
        let copies = min(3, try admin.describe(topics: [], timeout: .seconds(120)).brokerCount)
        // The topics are removed in the end; if that is not allowed, at least what is in them goes.
        let new = topics.all.map {
            NewTopic(
                name: $0, partitionCount: topics.partitionCount(of: $0, requests: partitions), replicationFactor: max(1, copies),
                configuration: [.init(key: "retention.ms", value: "3600000")])
        }
        for outcome in zip(topics.all, try admin.createTopics(new, timeout: .seconds(120))) {
            if case .failed(let error) = outcome.1 { throw error }
            topicNames.append(outcome.0)
        }
    }

    /// Removes the topics, and closes the broker if it is our own. Returns the topics that are left.
    func close() -> [String] {
        cluster?.close()
        guard !topicNames.isEmpty else { return [] }
        // What could not be asked for is still there.
        let left = try? TopicAdmin(kafka).deleteTopics(topicNames, timeout: .seconds(10))
        return left?.map(\.name) ?? topicNames
    }
}
