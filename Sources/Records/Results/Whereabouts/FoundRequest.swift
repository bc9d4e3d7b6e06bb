package import Delivery
package import Groups
package import Kafka
package import PushModel

/// A record of a request that was found in a topic.
package struct FoundRequest: Sendable, Equatable {
    /// The progress of a group on a record.
    package enum Reading: String, Sendable {
        /// It was not read when the group last committed its position.
        case unread
        /// It was read, and has no outcome.
        case read
        /// Its outcome was written: a result, a dead letter, or its place in another topic.
        case done
    }

    /// The purpose of its topic.
    package let kind: AssignmentPlan.Kind
    /// Its partition.
    package let partition: TopicPartition
    /// Its offset.
    package let offset: Int64
    /// The request in the record.
    package let request: WaitingRequest
    /// The position of the group in the partition.
    package let position: Int64
    /// The progress of the group on the record.
    package let reading: Reading
}

extension GroupPosition {
    /// The progress of the group on a record of the partition.
    func reading(of offset: Int64) -> FoundRequest.Reading {
        if offset < start || finishedOffsets.contains(offset) { return .done }
        return marks.map { offset <= $0.last.offset } ?? false ? .read : .unread
    }
}

/// The place of a request that has no result yet.
package struct RequestWhereabouts: Sendable, Equatable {
    /// The state of the request.
    package enum State: String, CaseIterable, Sendable {
        /// In a lane, and not read yet.
        case published
        /// Read by a worker, which has not written its outcome.
        case inWork = "in_work"
        /// In a delay lane.
        case delayed
        /// In the topic of held requests.
        case held
        /// Divided into parts, which have not all ended.
        case inParts = "in_parts"
        /// The group is done with it, and its result is not among the searched results.
        case done
        /// No record of it was found.
        case unknown
    }

    /// The state of the request.
    package let state: State
    /// The record that shows it, or nil for one that is unknown.
    package let found: FoundRequest?
    /// The parts of one that was divided, or nil for any other.
    package let divided: DividedRequest?

    /// True if nothing of it was found.
    package var isUnknown: Bool { state == .unknown }

    /// The record that it was published with, if that is known.
    package var origin: RecordOrigin? { found?.request.origin ?? divided?.origin }

    /// Decides where a request is by its records.
    ///
    /// What waits counts before the record that it was published with, because a worker counts that as read in the transaction that writes
    /// the other. Of several copies the last one waits. An id that was published several times means the last request. A request that was
    /// divided is read, and is not done while parts of it are open.
    ///
    /// - Parameters:
    ///   - sightings: Its records.
    ///   - divided: Its parts, if it has any that have not ended.
    ///   - now: The present.
    package init(_ sightings: [FoundRequest], divided: DividedRequest? = nil, now: Timestamp) {
        let last = sightings.max { Self.isBefore($0, $1) }
        found = last
        guard let last, last.reading != .done else {
            self.divided = divided
            state = divided != nil ? .inParts : last == nil ? .unknown : .done
            return
        }
        self.divided = nil
        let isDue = last.request.due.map { $0 <= now } ?? true
        switch (last.reading, last.kind) {
        case (.read, .requests): state = .inWork
        case (.read, .delayed) where isDue: state = .inWork
        case (_, .delayed): state = .delayed
        case (_, .held): state = .held
        default: state = .published
        }
    }

    private static func isBefore(_ left: FoundRequest, _ right: FoundRequest) -> Bool {
        func rank(_ sighting: FoundRequest) -> (Int, Int64, Int, Int64, Int64) {
            (
                sighting.reading == .done ? 0 : 1, sighting.request.origin.timestamp.milliseconds,
                sighting.kind == .requests ? 0 : 1, sighting.request.attempts, sighting.offset
            )
        }
        return rank(left) < rank(right)
    }
}
