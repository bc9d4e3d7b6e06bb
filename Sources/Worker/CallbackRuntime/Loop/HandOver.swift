import Basics
import Dispatch
import Kafka

/// Partitions that are about to be given back.
struct HandOver {
    let partitions: Set<TopicPartition>
    /// The end of the time for calls in flight.
    let deadline: MonotonicTime
    /// The gate that opens when they are let go.
    let gate: DispatchSemaphore
    /// True if the positions are being saved.
    var isSaving = false
}
