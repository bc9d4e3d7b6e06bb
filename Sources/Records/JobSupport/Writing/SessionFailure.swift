package import Kafka

/// A failure of one session of work with Kafka.
package enum SessionFailure: Error {
    /// Kafka did not do it. A new session reads how far the work is, and goes on.
    case kafka(KafkaError)
    /// No new session would do better.
    case final(JobFailure)

    /// Does something with Kafka.
    package static func catching<Value: ~Copyable>(
        _ body: () throws(KafkaError) -> Value
    ) throws(SessionFailure) -> Value {
        do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
    }

    /// Does something that no new session would make better.
    package static func ending<Value>(_ body: () throws(JobFailure) -> Value) throws(SessionFailure) -> Value {
        do throws(JobFailure) { return try body() } catch { throw .final(error) }
    }
}
