public import Kafka

extension ResultFollower {
    /// How results are followed.
    public struct Configuration: Sendable {
        /// The brokers and the user's properties.
        public var kafka: KafkaConfiguration
        /// The name of the results topic.
        public var topic: String
        /// The most bytes of results that are read ahead.
        public var readAhead = 32 << 20
        /// How long each question may take that has to be answered before reading begins. Deadlines are late by as much when a client broke.
        public var openTimeout: Duration = .seconds(5)
        /// How often new partitions are looked for, which are read from their beginning.
        public var refreshInterval: Duration = .seconds(30)
        /// How long a `duplicate` waits for the result of the first record with its id.
        public var patience: Duration = .seconds(2)
        /// The most that may wait at a time.
        public var maximumWaiterCount = 20_000

        /// A configuration for the results in `topic`.
        public init(_ kafka: KafkaConfiguration, topic: String) {
            self.kafka = kafka
            self.topic = topic
        }
    }

    /// How a wait ended.
    public struct Ending: Sendable {
        /// Why it ended.
        public enum Reason: Sendable, Equatable {
            /// What was wanted is known. A final result that is a `duplicate` is the only one that came.
            case complete
            /// Time was over.
            case timeOver
            /// The follower was closed.
            case closed
        }

        /// Why it ended.
        public let reason: Reason
        /// What is known.
        public let awaited: Awaited
    }

    /// Why waiting is refused.
    public enum Refusal: Error, Sendable, Equatable {
        /// The results topic was not read yet.
        case notReading
        /// So many wait already as may.
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
