import Basics

extension Membership {
    /// The life of an assignment, and the end of the worker. A state stays where nothing that it names happens.
    enum State: Sendable {
        /// The group has assigned nothing.
        ///
        /// May become: asked, stopping, stopped.
        case nothing
        /// The positions of what it assigned, perhaps of nothing, are not known.
        ///
        /// May become: begun, nothing (revoked), stopping, stopped.
        case asked(Question)
        /// The partitions have begun.
        ///
        /// May become: revoking, nothing (lost, or revoked without partitions), asked (positions moved, another assignment), stopping, stopped.
        case begun(Share)
        /// Partitions are taken away, and calls may finish. The share is empty once the assignment has ended on the way.
        ///
        /// May become: nothing, asked (another assignment), stopping, stopped.
        case revoking(Share, Drain)
        /// The worker stops, and calls may finish. The share is empty if none was begun, or once it is lost.
        ///
        /// May become: stopped.
        case stopping(Share, Drain)
        /// Everything is committed or given up. The share is what was not dropped.
        ///
        /// May become: nothing else.
        case stopped(Share)
    }

    /// The positions that are asked for.
    struct Question: Sendable {
        /// The partitions that the group assigned.
        let partitions: [Partition]
        /// The moment to ask again, or nil while an answer is to come.
        var askAt: MonotonicTime?
    }

    /// The partitions that have begun.
    struct Share: Sendable {
        /// All that the group assigned.
        var partitions: [Partition] = []
        /// True if positions say that no worker is at work.
        var hasClosed = false
    }

    /// The time that is left to what is given up.
    struct Drain: Sendable {
        /// Until when calls may finish.
        private(set) var deadline: MonotonicTime
        /// Since when nothing is in work any more and all results are committed.
        private(set) var drainedAt: MonotonicTime?

        /// A drain that has just begun.
        ///
        /// - Parameter deadline: Until when calls may finish.
        init(until deadline: MonotonicTime) { self.deadline = deadline }

        /// Ends the time of calls at a moment, if it is not over by then.
        mutating func shorten(to moment: MonotonicTime) { deadline = min(deadline, moment) }

        /// Nothing is in work, and all results are committed.
        mutating func noteDrained(at now: MonotonicTime) { drainedAt = drainedAt ?? now }

        /// True while positions may be closed.
        func isClosing(at now: MonotonicTime) -> Bool {
            drainedAt.map { now < $0.advanced(byNanoseconds: Membership.closingPatience) } ?? false
        }
    }
}

extension Membership.State {
    /// The worker's mode.
    var mode: Membership.Mode {
        switch self {
        case .nothing, .asked, .begun: .running
        case .revoking: .revoking
        case .stopping: .stopping
        case .stopped: .stopped
        }
    }

    /// The partitions that have begun. Where none can have, nothing is changed.
    var share: Membership.Share {
        get {
            switch self {
            case .nothing, .asked: Membership.Share()
            case .begun(let share), .revoking(let share, _), .stopping(let share, _), .stopped(let share): share
            }
        }
        set {
            switch self {
            case .nothing, .asked: break
            case .begun: self = .begun(newValue)
            case .revoking(_, let drain): self = .revoking(newValue, drain)
            case .stopping(_, let drain): self = .stopping(newValue, drain)
            case .stopped: self = .stopped(newValue)
            }
        }
    }

    /// The drain, or nil where nothing is given up. Then nothing is changed.
    var drain: Membership.Drain? {
        get {
            switch self {
            case .nothing, .asked, .begun, .stopped: nil
            case .revoking(_, let drain), .stopping(_, let drain): drain
            }
        }
        set {
            switch (self, newValue) {
            case (.revoking(let share, _), let drain?): self = .revoking(share, drain)
            case (.stopping(let share, _), let drain?): self = .stopping(share, drain)
            default: break
            }
        }
    }

    /// Forgets the assignment. Whatever is given up stays so.
    mutating func endAssignment() {
        switch self {
        case .nothing, .asked, .begun: self = .nothing
        case .revoking(_, let drain): self = .revoking(Membership.Share(), Membership.Drain(until: drain.deadline))
        case .stopping(_, let drain): self = .stopping(Membership.Share(), Membership.Drain(until: drain.deadline))
        case .stopped: self = .stopped(Membership.Share())
        }
    }
}
