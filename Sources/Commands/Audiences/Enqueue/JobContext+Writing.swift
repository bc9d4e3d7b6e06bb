import Delivery
package import JobSupport
package import Kafka
package import Publishing

extension JobContext {
    /// A producer for the caller to close, and the topics that it writes to, by their names.
    package func writer(to names: [String]) throws(JobFailure) -> (producer: Producer, topics: [String: Producer.Topic]) {
        do throws(KafkaError) {
            let producer = try Producer(kafka, transactionalID: nil, enqueueTimeout: timeout)
            let topics = try FreshTopics.retrying(unless: isCancelled) { () throws(KafkaError) in
                try producer.warmUp(topics: names, timeout: timeout)
            }
            return (producer, Dictionary(topics.map { ($0.name, $0) }) { first, _ in first })
        } catch {
            throw .kafka(error, .write(topic: names.joined(separator: " and ")))
        }
    }

    /// Follows the results from now on, until the caller closes it. Has to be there before anything is written, or they could
    /// come unseen.
    package func resultFollower() throws(JobFailure) -> ResultFollower {
        var configuration = ResultFollower.Configuration(kafka, topic: topics.results)
        configuration.openTimeout = timeout
        configuration.maximumWaiterCount = .max
        let follower = ResultFollower(configuration)
        do throws(KafkaError) {
            try FreshTopics.retrying(unless: isCancelled) { () throws(KafkaError) in try follower.waitUntilReading() }
        } catch {
            follower.close()
            throw .kafka(error, .read(topic: topics.results))
        }
        return follower
    }
}
