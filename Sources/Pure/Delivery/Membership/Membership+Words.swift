/// The words of a membership: what it gets, and what it answers.
extension Membership {
    /// After what time positions that could not be learnt are asked for again: 500 ms in nanoseconds.
    public static let askInterval: Int64 = 500_000_000
    /// After this time without positions something more than a moment's trouble holds them back: 30 s in nanoseconds.
    public static let positionPatience: Int64 = 30_000_000_000
    /// After what time it is tried again to get the producer ready: 1 s in nanoseconds.
    public static let prepareInterval: Int64 = 1_000_000_000
    /// The time for which it is tried to close positions: 2 s in nanoseconds.
    public static let closingPatience: Int64 = 2_000_000_000

    /// The terms that a membership goes by.
    public struct Terms: Sendable {
        /// The time that calls in flight may take to finish before partitions are given up or the worker stops, nanoseconds.
        public var drainTimeout: Int64
        /// The time for which brokers leave a transaction open, nanoseconds.
        public var transactionTimeout: Int64
        /// True if it is looked for partitions without a consumer. Members without a name of their own rejoin whenever they
        /// start, so only those with one have to.
        public var checksForUnread: Bool
        /// The time for which the group waits for a silent member, nanoseconds.
        public var sessionTimeout: Int64

        /// Terms with all there is.
        public init(
            drainTimeout: Int64, transactionTimeout: Int64, checksForUnread: Bool, sessionTimeout: Int64 = 10_000_000_000
        ) {
            self.drainTimeout = drainTimeout
            self.transactionTimeout = transactionTimeout
            self.checksForUnread = checksForUnread
            self.sessionTimeout = sessionTimeout
        }
    }

    /// A partition of a topic.
    public struct Partition: Sendable, Hashable {
        /// The topic's name.
        public var topic: String
        /// Its number, from 0.
        public var number: Int32

        /// A partition by its names.
        public init(topic: String, number: Int32) {
            self.topic = topic
            self.number = number
        }
    }

    /// The modes of a worker.
    public enum Mode: String, Sendable, CaseIterable {
        /// Reading and sending.
        case running
        /// Letting calls finish, because partitions are taken away.
        case revoking
        /// Letting calls finish, because the worker stops.
        case stopping
        /// Everything is committed or given up.
        case stopped
    }

    /// The progress of the draining.
    public struct Work: Sendable {
        /// True if no request is in work.
        public var isIdle: Bool
        /// True if all results are committed. The commit that closes positions may be missing.
        public var isCommitted: Bool
        /// True if the group has gone on without this worker.
        public var isOutOfGroup: Bool
        /// True if a position could be closed.
        public var canClose: Bool

        /// The progress of the draining so far.
        public init(isIdle: Bool, isCommitted: Bool, isOutOfGroup: Bool, canClose: Bool) {
            self.isIdle = isIdle
            self.isCommitted = isCommitted
            self.isOutOfGroup = isOutOfGroup
            self.canClose = canClose
        }
    }

    /// The kinds of what to do.
    public enum Action: Sendable, Equatable {
        /// Get the producer ready.
        case prepare
        /// Ask for the group's positions of these partitions. Some were seen to end before theirs. The answer must name the
        /// epoch.
        case ask([Partition], behindCommit: Set<Partition>, epoch: Int)
        /// Say that the positions cannot be read, and what may hold them back.
        case reportUnreadablePositions
        /// Begin the partitions where their positions say. Call `noteStart`, or `positionsFailed` if they cannot be read from there.
        case begin
        /// Start nothing, and leave to the next owner what no device can have heard of.
        case drain
        /// Time is up: end the calls. What devices may have heard of gets its result, the rest is left to the next owner.
        case cut
        /// Forget the assignment and everything that belongs to it.
        case forget
        /// The same, and tell the group so.
        case drop
        /// Ask a broker that failed whether it is back.
        case probe
        /// Look for partitions without a consumer, and for those that wait for a leader that is back.
        case survey
        /// Find out whether these partitions, at least one, still hold what was read of them. Call `examined`.
        case examine([Partition], epoch: Int)
        /// Rejoin the group, because these partitions, at least one, have no reader.
        case rejoin(unread: [Partition])
        /// Stop. `isCommitted`: nothing is left that has to be redelivered.
        case stop(isCommitted: Bool)
    }
}
