/// The known facts of a request in work whose partition is given up, or whose worker stops.
public struct DrainFacts: OptionSet, Sendable, Hashable {
    /// The facts as bits.
    public let rawValue: UInt8

    /// Facts from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    private init(bit: UInt8) { rawValue = 1 << bit }

    /// A call of it is with a connection.
    public static let hasCallInFlight = DrainFacts(bit: 0)
    /// A call was made since its record was read, so that no record tells of it.
    public static let wasSent = DrainFacts(bit: 1)
    /// A device may have heard of it by such a call.
    public static let mayHaveArrived = DrainFacts(bit: 2)
    /// It is cancelled: no call of it may be made any more.
    public static let isCancelled = DrainFacts(bit: 3)
    /// A record of it can be committed with the position that counts its present one as read, and with nothing else.
    public static let isCommittable = DrainFacts(bit: 4)
    /// No delay lane, and no partition of held requests, takes its record.
    public static let hasNoPlace = DrainFacts(bit: 5)

    /// The number of facts.
    static let count = 6
}

/// The end of a request whose partition is given up, or whose worker stops: the order in which that is decided, and nothing else.
///
/// What became of its calls so far makes no difference to what waits. A history says of each call that it is done, or when it may be made,
/// so that the next owner makes those that are open and no others. Only where the history cannot be handed over does it count: what a
/// device may have heard of is never forgotten, because it would be called again.
public enum DrainGate: Sendable, Equatable, CaseIterable {
    /// It stays in work until its calls have ended, or time is up.
    case stay
    /// It goes to the next owner with the history of its calls: to a delay lane, or to the held requests.
    case handOver
    /// It is forgotten: the next owner reads its record and knows nothing of what was made since.
    case forget

    /// The answer to what is known. After a hand-over that finds no place it is asked again.
    public static func next(_ facts: DrainFacts) -> DrainGate {
        if facts.contains(.hasCallInFlight) { return .stay }
        if facts.isSuperset(of: [.wasSent, .isCommittable]), facts.isDisjoint(with: [.isCancelled, .hasNoPlace]) {
            return .handOver
        }
        return facts.contains(.mayHaveArrived) ? .stay : .forget
    }
}
