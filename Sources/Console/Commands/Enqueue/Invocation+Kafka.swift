import Jobs
import Kafka
import Publishing
import Settings

extension KafkaSettings.Topics {
    /// The topics of requests that publishers write to.
    var ofRequests: RequestTopics { RequestTopics(high: requestsHigh, normal: requests, bulk: requestsBulk) }
}

extension Invocation {
    /// A producer, and the topic that it writes to.
    ///
    /// - Throws: No broker answers, or the topic is missing or not allowed.
    func writer(
        to name: String, _ settings: Settings, _ timeout: Duration
    ) throws(CommandFailure) -> (Producer, Producer.Topic) {
        let (producer, topics) = try writer(to: [name], settings, timeout)
        guard let topic = topics[name] else { throw CommandFailure(.failed, "the topic \(name) is not known") }
        return (producer, topic)
    }

    /// A producer, and the topics that it writes to, by their names.
    ///
    /// - Throws: No broker answers, or a topic is missing or not allowed.
    func writer(
        to names: [String], _ settings: Settings, _ timeout: Duration
    ) throws(CommandFailure) -> (Producer, [String: Producer.Topic]) {
        do throws(KafkaError) {
            let producer = try Producer(settings.kafkaConfiguration(), transactionalID: nil, enqueueTimeout: timeout)
            let topics = try FreshTopics.retrying { () throws(KafkaError) in
                try producer.warmUp(topics: names, timeout: timeout)
            }
            return (producer, Dictionary(topics.map { ($0.name, $0) }) { first, _ in first })
        } catch {
            throw failure(error, settings.kafka, to: "write to \(names.joined(separator: " and "))")
        }
    }

    /// Follows the results from now on, on request, until it is closed. Has to be there before anything is written, or they could
    /// come unseen.
    ///
    /// - Throws: The topic of results cannot be read.
    func resultFollower(_ settings: Settings, _ timeout: Duration) throws(CommandFailure) -> ResultFollower? {
        guard arguments.has("wait") else { return nil }
        var configuration = ResultFollower.Configuration(settings.kafkaConfiguration(), topic: settings.kafka.topics.results)
        configuration.openTimeout = timeout
        configuration.maximumWaiterCount = .max
        let follower = ResultFollower(configuration)
        do throws(KafkaError) {
            try FreshTopics.retrying { () throws(KafkaError) in try follower.waitUntilReading() }
        } catch {
            follower.close()
            throw failure(error, settings.kafka, to: "read \(settings.kafka.topics.results)")
        }
        return follower
    }
}
