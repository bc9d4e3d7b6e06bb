import Kafka

/// The failure of a worker to report itself. It is logged once, and again when it is another one or has been over. Pure.
struct ReportFailure {
    /// A kind of failure.
    enum Kind: Equatable {
        /// There is no topic.
        case missing
        /// The worker may not write there.
        case notAllowed
        /// Brokers do not answer.
        case unanswered
        /// Anything else, by the library's name for it.
        case other(String)

        init(_ error: KafkaError) {
            self =
                error.isUnknownTopicOrPartition
                ? .missing
                : error.isAuthorization
                    ? .notAllowed : error.isUnreachable || error.isTimeout || error.isQueueFull ? .unanswered : .other(error.name)
        }

        /// True if nothing changes before an operator does something.
        var isLasting: Bool { self == .missing || self == .notAllowed }
    }

    /// The present one, or nil when the last report was written.
    private(set) var present: Kind?

    /// A report was written.
    mutating func noteSuccess() { present = nil }

    /// A report was not written. Returns true if that is new.
    mutating func note(_ error: KafkaError) -> Bool {
        let kind = Kind(error)
        defer { present = kind }
        return kind != present
    }
}
