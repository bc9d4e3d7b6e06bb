import Console
import Kafka

extension CommandFailure {
    /// What an error of the bench's broker means, with the bench's own name for its address.
    static func broker(_ error: KafkaError, at brokers: String, action: String) -> CommandFailure {
        let failure = CommandFailure(error, brokers: brokers, action: action)
        guard failure.code == .unreachable else { return failure }
        return CommandFailure(failure.code, failure.message, hint: "give the right address with --kafka")
    }
}
