import Kafka
import Publishing
import Settings

extension Invocation {
    /// A producer, and the topic that it writes to.
    ///
    /// - Throws: No broker answers, or the topic is missing or not allowed.
    func writer(
        to name: String, _ settings: Settings, _ timeout: Duration
    ) throws(CommandFailure) -> (Producer, Producer.Topic) {
        do throws(KafkaError) {
            let producer = try Producer(settings.kafkaConfiguration(), transactionalID: nil, enqueueTimeout: timeout)
            let topics = try FreshTopics.retrying { () throws(KafkaError) in
                try producer.warmUp(topics: [name], timeout: timeout)
            }
            if let topic = topics.first { return (producer, topic) }
        } catch {
            throw failure(error, settings.kafka, to: "write to \(name)")
        }
        throw CommandFailure(.failed, "the topic \(name) is not known")
    }

    /// Follows the results from now on, if that was asked for, until it is closed. Has to be there before anything is written, or they could
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
