/// Chooses the start offset of a partition of requests without a committed offset: the group is new, or the broker has forgotten it.
///
/// Its records may have been sent under another group id, so the default does not guess.
public enum StartRule: Sendable, Equatable {
    /// With everything if nothing older than ten minutes waits; else not at all, until an operator decides.
    case safe
    /// With everything that is retained.
    case beginning
    /// Behind everything.
    case end
    /// With the first record that is not older, milliseconds since 1970.
    case moment(Int64)

    /// How old what waits may be for `safe`: 10 min in milliseconds.
    public static let safeAge: Int64 = 600_000

    /// What comes of it.
    public enum Decision: Sendable, Equatable {
        /// It is read from this offset on.
        case offset(Int64)
        /// It is not read.
        case refused
    }

    /// The time of which it must be known what the first record is that is not older.
    ///
    /// - Parameter now: The present moment, milliseconds since 1970.
    /// - Returns: Milliseconds since 1970; nil when age does not matter.
    public func time(now: Int64) -> Int64? {
        switch self {
        case .safe: max(now, Self.safeAge) - Self.safeAge
        case .beginning, .end: nil
        case .moment(let moment): max(0, moment)
        }
    }

    /// Decides where a partition begins.
    ///
    /// - Parameters:
    ///   - low: The first offset that is retained.
    ///   - high: The next offset.
    ///   - since: The first offset that is not older than `time(now:)`; nil when all are older.
    /// - Returns: The decision.
    public func decision(low: Int64, high: Int64, since: Int64?) -> Decision {
        switch self {
        case .safe: low >= high || since.map { $0 <= low } ?? false ? .offset(low) : .refused
        case .beginning: .offset(low)
        case .end: .offset(high)
        case .moment: .offset(since ?? high)
        }
    }

    /// Why a partition does not begin at the group's position.
    public enum Cause: Sendable, Equatable {
        /// There is none.
        case noPosition
        /// The partition ends before it, and holds nothing but what was published after all that was read: it was recreated.
        case madeAnew
        /// The partition ends before it, and holds what was read: its end was lost.
        case lostEnd
        /// The partition ends before it, and it is unknown when what was read was published.
        case unknownEnd
    }

    /// Decides where a partition goes on that ends before the group's position, or did when it was read.
    ///
    /// - Parameters:
    ///   - low: The first offset that is retained.
    ///   - high: The next offset.
    ///   - latest: When the latest record was published that was read, milliseconds since 1970; nil when that is not known.
    ///   - since: The first offset that was published after that, or, if `latest` is nil, that is not older than `time(now:)`; nil when
    ///     all are older.
    /// - Returns: The decision, and the cause.
    public func decisionBeyondEnd(low: Int64, high: Int64, latest: Int64?, since: Int64?) -> (Decision, Cause) {
        guard latest != nil else {
            return (self == .safe ? .refused : decision(low: low, high: high, since: since), .unknownEnd)
        }
        if low >= high || since == low { return (.offset(low), .madeAnew) }
        return (.offset(since ?? high), .lostEnd)
    }
}
