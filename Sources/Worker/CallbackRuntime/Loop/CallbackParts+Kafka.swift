import CallbackRecords
import EventLoop
import Kafka
import Observability
import ResultFeed

extension CallbackParts {
    /// The parts of a service that works with Kafka and the file of receivers.
    ///
    /// - Parameters:
    ///   - configuration: The brokers, the topics and the file.
    ///   - log: Gets reports about the file.
    /// - Throws: The file of receivers, or the configuration of Kafka, cannot be used.
    init(_ configuration: CallbackServiceConfiguration, log: Log) throws {
        let (kafka, topics) = (configuration.kafka, configuration.topics)
        let file = try WatchedReceivers(configuration.receiversFile) { report in
            switch report {
            case .read(let count):
                log.info(.receiverChanged, "the file of receivers was read again", [.count: LogValue(count)])
            case .kept(let reason):
                log.error(
                    .receiverChanged, "the file of receivers cannot be used, and the known receivers stay",
                    [.reason: .string("\(reason)")])
            }
        }
        let decisions = try StateWriter(kafka, topic: topics.states)
        let deadLetters = try DeadLetterWriter(kafka, topic: topics.deadLetters)
        let positions = GroupPositionKeeper(
            kafka, topics: topics, transactionalID: "\(configuration.groupID)-\(configuration.instance)"
        ) { receiver, start in
            switch start {
            case .new:
                log.info(
                    .receiverChanged, "a new receiver begins with the results from now on", [.receiver: .string(receiver)])
            case .forgotten:
                log.warning(
                    .receiverChanged, "a receiver has lost its place, and begins with the oldest results",
                    [.receiver: .string(receiver)])
            case .added(let partitions):
                log.info(
                    .receiverChanged, "a receiver begins with the first results of new partitions",
                    [.receiver: .string(receiver), .count: LogValue(partitions.count)])
            }
        }
        self.init(
            receivers: { file.current(now: $0) },
            positions: positions,
            feed: { topic, onNews in ResultFeed(ResultFeed.Configuration(kafka, topic: topic), onNews: onNews) },
            sharing: { onChange in
                CallbackMembership(
                    kafka, groupID: configuration.groupID, instanceID: configuration.instance,
                    topics: [topics.results, topics.replays], onChange: onChange)
            },
            states: { onChange in ReceiverStates(kafka, topic: topics.states, onChange: onChange) },
            decide: { state, receiver throws(KafkaError) in try decisions.write(state, of: receiver) },
            deadLetters: deadLetters,
            close: {
                deadLetters.close()
                decisions.close()
                positions.close()
            },
            now: { .now() }, wallClock: { WallClock.millisecondsSince1970() })
    }
}
