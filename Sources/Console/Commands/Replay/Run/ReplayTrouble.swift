import Kafka

/// Why a run cannot go on as it is.
enum ReplayTrouble: Error {
    /// Kafka did not do what was asked; a new session finds out how far the job is, and goes on.
    case kafka(KafkaError)
    /// Nothing can be done about it here.
    case final(CommandFailure)
}

extension ReplayTrouble {
    /// Does something with Kafka.
    static func catching<Value: ~Copyable>(_ body: () throws(KafkaError) -> Value) throws(ReplayTrouble) -> Value {
        do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
    }

    /// Does something that no new session would make better.
    static func ending<Value>(_ body: () throws(CommandFailure) -> Value) throws(ReplayTrouble) -> Value {
        do throws(CommandFailure) { return try body() } catch { throw .final(error) }
    }
}
