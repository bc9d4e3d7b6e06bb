import Basics

/// The states of a cycle, as page RequestPath draws them.
extension CommitCycle {
    /// The facts of an offered batch, which stay until it is confirmed or goes back to what waits.
    struct Offer {
        /// The moment of its first offer.
        let since: MonotonicTime
        /// The moment of its last offer.
        var begun: MonotonicTime
        /// True if it holds positions and no records.
        let isEmpty: Bool
        /// True if its positions say that nothing is in work any more.
        let closes: Bool
        /// Its progress, as the last answer about it said.
        var standing = Standing.unpublished
        /// True if it did not end in time once.
        var hasTimedOut = false
    }

    /// The whereabouts of the batch. `takenOver` changes none of them: the worker stops.
    enum State {
        /// No batch is offered. May become: in flight.
        case empty
        /// The committer has the batch. May become: empty, waiting, outdated.
        case inFlight(Offer)
        /// The batch is offered again at a moment. Until then it is known if the group has gone on without this worker. May become:
        /// empty, in flight.
        case waiting(Offer, until: MonotonicTime, isOutOfGroup: Bool)
        /// The committer has the batch, and its assignment has ended. May become: empty.
        case outdated(Offer)

        /// The offered batch, nil if there is none.
        var offer: Offer? {
            switch self {
            case .empty: nil
            case .inFlight(let offer), .waiting(let offer, _, _), .outdated(let offer): offer
            }
        }

        /// True if the batch belongs to an assignment that has ended.
        var isOutdated: Bool {
            if case .outdated = self { true } else { false }
        }
    }
}
