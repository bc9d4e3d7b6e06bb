import Publishing
import PushModel

/// A request that was published, and what is known of it.
struct PublishedRequest: Sendable {
    /// Its final result; of two the one that is no `duplicate`.
    struct Ending: Sendable, Equatable {
        /// The result, without line ends.
        let json: [UInt8]
        let state: String
        /// Whether the request repeated another one.
        let isRepetition: Bool
        /// From when on it counts: a `duplicate` waits for the result of the first record with its id.
        let settlesAt: Timestamp
    }

    enum Standing: Sendable, Equatable {
        /// Handed to Kafka, which has not said that it has it.
        case unconfirmed
        /// Written, and without a result.
        case accepted
        /// Written, perhaps by another gateway; whether it had a result before it was asked for here is not known.
        case published
        /// Written, and not to be sent before a moment.
        case waiting(until: Timestamp)
        case final(Ending)

        /// The word for it; that of a result, once there is one.
        var word: String {
            switch self {
            case .unconfirmed: "unconfirmed"
            case .accepted: "accepted"
            case .published: "published"
            case .waiting: "waiting"
            case .final(let ending): ending.state
            }
        }
    }

    let id: String
    let owner: RequestOwner
    /// The moment of its call, which is its record's timestamp.
    let acceptedAt: Timestamp
    /// When it is of no more use; nil for never.
    var expiresAt: Timestamp?
    var notBefore: Timestamp?
    /// Whether it was found at its place, and not published here.
    var isFound = false
    /// Its record's place; nil until Kafka has said it.
    var place: RecordPlace?
    /// Its final result, once there is one.
    private(set) var ending: Ending?

    init(
        id: String, owner: RequestOwner, acceptedAt: Timestamp, expiresAt: Timestamp? = nil, notBefore: Timestamp? = nil,
        foundAt place: RecordPlace? = nil
    ) {
        self.id = id
        self.owner = owner
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.place = place
        isFound = place != nil
    }

    func standing(at now: Timestamp) -> Standing {
        if let ending, ending.settlesAt <= now { return .final(ending) }
        if place == nil && ending == nil { return .unconfirmed }
        if let notBefore, notBefore > now { return .waiting(until: notBefore) }
        return isFound ? .published : .accepted
    }

    func isFinal(at now: Timestamp) -> Bool { (ending?.settlesAt ?? .never) <= now }

    /// Takes a final result of its id, unless that is of another's request, or counts less than the one that it has. `patience`
    /// is the milliseconds for which a `duplicate` waits for the result of the first record with the id, from the time on from
    /// which that one may be sent.
    mutating func take(_ result: ResultRecord, at now: Timestamp, patience: Int64) -> Bool {
        guard result.kind == "final", names(inResult: result.source, inRequest: owner.source),
            names(inResult: result.tenant, inRequest: owner.tenant)
        else { return false }
        if let known = ending, !known.isRepetition || result.isRepetition { return false }
        // The result of a record that was found may have come before: a later record with its id is the repetition.
        if isFound, result.repeatsItsID { return false }
        let from = max(now, notBefore ?? now)
        ending = Ending(
            json: result.line, state: result.state, isRepetition: result.isRepetition,
            settlesAt: result.repeatsItsID ? from.adding(milliseconds: patience) : now)
        return true
    }

    /// Whether a name in a result can be that of the request; a result of an unreadable record has none.
    private func names(inResult: String?, inRequest: String?) -> Bool { inResult == nil || inResult == inRequest }
}
