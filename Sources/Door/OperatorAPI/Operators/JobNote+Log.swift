import JobSupport
import Kafka
import Observability

extension JobNote {
    /// Writes a line for operators.
    func write(to log: Log) {
        switch self {
        case .indexUnused(let reason): log.warning(.internalFault, "the index is not used", [.reason: .string(reason)])
        case .indexFailed(let reason): log.warning(.internalFault, "the index cannot be used", [.reason: .string(reason)])
        case .indexRebuilt(let path, let reason):
            log.warning(.internalFault, "the index is rebuilt", [.reason: .string("\(path) \(reason)")])
        case .unknownReplays(let count, let topic):
            log.warning(
                .internalFault, "results of replays count as not repeated, because no job of theirs is known",
                [.topic: .string(topic), .count: LogValue(count)])
        case .paused(let next, let count):
            log.info(.draining, "a replay pauses", [.reason: .string("\(next) of \(count) requests were dealt with")])
        case .retrying(let error):
            log.warning(.kafkaError, "a replay goes on with a new session", [.reason: .string(error.description)])
        }
    }
}
