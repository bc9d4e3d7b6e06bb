import Kafka

/// The reason that a worker could not go on.
public enum WorkerFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another worker runs under the same name, and had it from the start.
    case fenced(String)
    /// Another process has taken the worker's name over while it worked.
    case takenOver(String)
    /// Brokers took the worker for an outdated one, and it was asked to stop before it could join again.
    case interrupted(String)
    /// Another cluster answers at the address of the one that the worker has worked with.
    case otherCluster(String)
    /// The Kafka client has failed for good.
    case kafka(String)
    /// The brokers do not allow the worker's user to do what a worker does.
    case notAllowed(String)
    /// The Kafka client cannot work with these settings.
    case configuration(String)
    /// The drain timeout ended before this many results were committed. Their requests are redelivered.
    case uncommitted(Int)
    /// Something on this machine failed.
    case system(String)

    /// An account of what has happened and what to do, in plain words.
    public var description: String {
        switch self {
        case .fenced(let reason):
            "another process works under this worker's name: stop it, or give this one its own PUSHFAN_WORKER_ID (\(reason))"
        case .takenOver(let reason):
            "another process works under this worker's name: stop it, or give this one its own PUSHFAN_WORKER_ID; "
                + "started again, it waits until the other is gone (\(reason))"
        case .interrupted(let reason):
            "brokers took this worker for an outdated one, and it was asked to stop before it could join again; "
                + "requests without a result will be redelivered (\(reason))"
        case .otherCluster(let reason): "\(reason); started again, it goes by `kafka.start`, as at any first start"
        case .kafka(let reason): "the Kafka client has failed for good: \(reason)"
        case .notAllowed(let reason): "a right of this worker's user is missing (`pushfan doctor` says which): \(reason)"
        case .configuration(let reason): "the settings for Kafka cannot be used: \(reason)"
        case .uncommitted(let count):
            "drain timeout: "
                + (count == 1
                    ? "1 result not committed; its request will be redelivered"
                    : "\(count) results not committed; their requests will be redelivered")
        case .system(let reason): reason
        }
    }
}

extension WorkerFailure {
    /// The meaning of an error after which a client works no more.
    init(fatal error: KafkaError) {
        let reason = error.description
        self =
            error.isOtherCluster
            ? .otherCluster(reason)
            : error.isFenced ? .fenced(reason) : error.isAuthorization ? .notAllowed(reason) : .kafka(reason)
    }
}
