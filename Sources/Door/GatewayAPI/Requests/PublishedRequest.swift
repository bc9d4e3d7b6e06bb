package import Publishing
package import PushModel

/// The results that were searched for that of a request, of those written before this gateway listened. Each includes those before.
package enum ResultSearch: Sendable, Comparable {
    case nowhere
    /// Among the results since its record was written.
    case sinceItsRecord
    /// Among those before that, too: its id was there before.
    case sinceItsID
}

/// A request that was published, and what is known of it.
package struct PublishedRequest: Sendable {
    /// Its final result; of two the one that is no `duplicate`.
    package struct Ending: Sendable, Equatable {
        /// The result, without line ends.
        package let json: [UInt8]
        package let state: String
        /// Whether the request repeated another one.
        let isRepetition: Bool
        /// True if that has the same id, so that its result counts in place of this one.
        let repeatsItsID: Bool
    }

    package enum Standing: Sendable, Equatable {
        /// Handed to Kafka, which has not said that it has it.
        case unconfirmed
        /// Written, and without a result.
        case accepted
        /// Written, perhaps by another gateway, and without a result.
        case published
        /// Written. Its result was not found in time, and may be there.
        case unknown
        /// Written, and not to be sent before a moment.
        case waiting(until: Timestamp)
        case final(Ending)

        /// The word for it; that of a result, once there is one.
        package var word: String {
            switch self {
            case .unconfirmed: "unconfirmed"
            case .accepted: "accepted"
            case .published: "published"
            case .unknown: "unknown"
            case .waiting: "waiting"
            case .final(let ending): ending.state
            }
        }
    }

    package let id: String
    package let owner: RequestOwner
    /// The party whose share of what is kept it counts for: whoever published or asked for it, else that of its owner.
    package var party: Party
    /// The moment of its call, which is its record's timestamp. Once it has ended, that of the call that counts.
    package private(set) var acceptedAt: Timestamp
    /// When it is of no more use; nil for never.
    package var expiresAt: Timestamp?
    var notBefore: Timestamp?
    /// Whether it was found at its place, and not published here.
    package var isFound = false
    /// The moment at which this gateway cancelled it; nil for one that it did not cancel.
    package var cancelledAt: Timestamp?
    /// Its record's place; nil until Kafka has said it.
    package var place: RequestPlace?
    /// Its final result, once there is one.
    package private(set) var ending: Ending?
    private(set) var searched = ResultSearch.nowhere
    /// True if its id is known to have been published more than once. The result is that of the first.
    package private(set) var isRepeated = false
    /// True if the result of the request that had its id first is not kept any more.
    private var isAlone = false

    package init(
        id: String, owner: RequestOwner, acceptedAt: Timestamp, expiresAt: Timestamp? = nil, notBefore: Timestamp? = nil,
        foundAt place: RequestPlace? = nil, keptFor party: Party? = nil
    ) {
        self.id = id
        self.owner = owner
        self.party = party ?? Party(tenant: owner.tenant, source: owner.source)
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.place = place
        isFound = place != nil
    }

    package func standing(at now: Timestamp) -> Standing {
        if let ending, isFinal { return .final(ending) }
        if !isFound && place == nil && ending == nil { return .unconfirmed }
        if missingSearch != nil { return .unknown }
        if let notBefore, notBefore > now { return .waiting(until: notBefore) }
        return isFound ? .published : .accepted
    }

    /// True if its final result is known. A `duplicate` is none while the first request with its id has, or may have, another one.
    package var isFinal: Bool { ending.map { !$0.repeatsItsID || isAlone } ?? false }

    /// The search without which its state cannot be said, or nil for none.
    package var missingSearch: ResultSearch? {
        guard !isFinal else { return nil }
        let needed: ResultSearch = ending != nil ? .sinceItsID : isFound ? .sinceItsRecord : .nowhere
        return needed > searched ? needed : nil
    }

    /// Takes a final result of its id, unless that is of another's request, or counts less than the one that it has.
    package mutating func take(_ result: ResultRecord) -> Bool {
        guard result.kind == "final", has(result) else { return false }
        isRepeated = isRepeated || result.repeatsItsID
        if let known = ending, !known.isRepetition || result.isRepetition { return false }
        ending = Ending(
            json: result.line, state: result.state, isRepetition: result.isRepetition, repeatsItsID: result.repeatsItsID)
        if !result.repeatsItsID { takePlace(of: result) }
        return true
    }

    /// Takes the place and the moment of the record that a result is of: its id may have been published before.
    private mutating func takePlace(of result: ResultRecord) {
        guard let origin = result.origin, origin.record != place?.record else { return }
        place = origin
        if let publishedAt = origin.time { acceptedAt = publishedAt }
    }

    /// Notes that everything was searched, and only what was taken was found. `isAlone` says that the result of the request that had its id
    /// first is not kept any more.
    package mutating func note(_ search: ResultSearch, isAlone: Bool = false) {
        searched = max(searched, search)
        self.isAlone = self.isAlone || isAlone
    }

    /// True for a result of its id that is its own: it names the same source and tenant, or none and the place of its record, as that of a
    /// record does that a worker cannot read.
    package func has(_ result: ResultRecord) -> Bool {
        if result.source == owner.source && result.tenant == owner.tenant { return true }
        guard result.source == nil, result.tenant == nil, let place else { return false }
        return result.origin?.record == place.record
    }
}
