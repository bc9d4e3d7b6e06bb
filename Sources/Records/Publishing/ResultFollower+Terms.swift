public import Kafka

extension ResultFollower {
    /// The limits and intervals by which results are followed.
    public struct Configuration: Sendable {
        /// The brokers and the user's properties.
        public var kafka: KafkaConfiguration
        /// The name of the results topic.
        public var topic: String
        /// The most bytes of results that are read ahead.
        public var readAhead = 32 << 20
        /// The time limit of each query that must be answered before reading begins. After a broken client, deadlines are late by
        /// as much.
        public var openTimeout: Duration = .seconds(5)
        /// The interval of the search for new partitions, which are read from their beginning.
        public var refreshInterval: Duration = .seconds(30)
        /// The time for which a `duplicate` waits for the result of the first record with its id.
        public var patience: Duration = .seconds(2)
        /// The most that may wait at a time.
        public var maximumWaiterCount = 20_000

        /// A configuration for the results in `topic`.
        public init(_ kafka: KafkaConfiguration, topic: String) {
            self.kafka = kafka
            self.topic = topic
        }
    }

    /// The end of a wait.
    public struct Ending: Sendable {
        /// The reason of the end.
        public enum Kind: Sendable, Equatable {
            /// The goal is reached. A final result that is a `duplicate` is the only one that came.
            case complete
            /// Time was over.
            case timeOver
            /// The follower was closed.
            case closed
        }

        /// The reason of the end.
        public let reason: Kind
        /// The results that have come.
        public let awaited: Awaited
    }

    /// The reason for which waiting is refused.
    public enum WaitRefusal: Error, Sendable, Equatable {
        /// The results topic was not read yet.
        case notReading
        /// The most waiters are reached.
        case full
        /// The follower is closed.
        case closed
    }

    /// One wait, for `forget`.
    public struct Ticket: Sendable, Hashable {
        let id: String
        let number: UInt64
    }
}
