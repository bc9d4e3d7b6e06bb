package import Publishing
package import PushModel
package import Results

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
        /// The calls that the hub accepted and that are followed, or 0 for a result that is the last word.
        let followedCount: Int
        /// The moment from which no outcome is awaited any more.
        package let awaitsUntil: Timestamp
    }

    /// A call that an outcome is of: the record that it names, if it names one, and the call's index.
    private struct Call: Hashable, Sendable {
        let record: StoredPlace?
        let index: Int64
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
    /// The outcomes of its followed calls, by the index of each.
    private var outcomes: [Int64: RequestStory.Outcome] = [:]
    /// Outcomes that came before the final result that counts. A search finds that later if it was written before anybody listened here.
    private var early: [Call: RequestStory.Outcome] = [:]
    /// True if a search found its final result, and did not come to the end of those that may be outcomes.
    private var lacksOutcomes = false
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

    /// The outcome of its followed calls. Nil without a final result, and of a request whose result is the last word.
    package func outcomeState(at now: Timestamp) -> OutcomeState? {
        guard isFinal, let ending, ending.followedCount > 0 else { return nil }
        guard outcomes.count < ending.followedCount else { return OutcomeState(outcomes.values) }
        return now < ending.awaitsUntil ? .awaited : .unknown
    }

    /// True if nothing is to come that would change its state.
    package func isSettled(at now: Timestamp) -> Bool { isFinal && outcomeState(at: now) != .awaited }

    /// The moment until which an outcome may come, or nil where none is awaited.
    package var awaitsOutcomeUntil: Timestamp? {
        ending.flatMap { outcomes.count < $0.followedCount ? $0.awaitsUntil : nil }
    }

    /// The word for its state: that of its outcome, once that is known.
    package func word(at now: Timestamp) -> String {
        if let state = outcomeState(at: now), state.isKnown { return state.rawValue }
        return standing(at: now).word
    }

    /// The outcomes as a verdict needs them, or nil where no call is followed.
    package func telemetry(at now: Timestamp) -> RequestStory.Telemetry? {
        guard let state = outcomeState(at: now) else { return nil }
        guard outcomes.isEmpty else { return .known(outcomes.sorted { $0.key < $1.key }.map(\.value)) }
        return state == .awaited ? .awaited : .missing
    }

    /// The bytes of its results, as they count for what is kept.
    package var resultByteCount: Int { (ending?.json.count ?? 0) + (outcomes.count + early.count) * Self.outcomeByteCount }

    /// The bytes of an outcome that is kept.
    private static let outcomeByteCount = 128

    /// The search without which its state cannot be said, or nil for none.
    package var missingSearch: ResultSearch? {
        guard !isFinal else { return lacksOutcomes && awaitsOutcomeUntil != nil ? .sinceItsRecord : nil }
        let needed: ResultSearch = ending != nil ? .sinceItsID : isFound ? .sinceItsRecord : .nowhere
        return needed > searched ? needed : nil
    }

    /// Takes a result of its id, unless that is of another's request, or counts less than what it has.
    package mutating func take(_ result: ResultRecord) -> Bool {
        guard has(result) else { return false }
        return result.kind == "final" ? takeFinal(result) : takeOutcome(result)
    }

    private mutating func takeFinal(_ result: ResultRecord) -> Bool {
        isRepeated = isRepeated || result.repeatsItsID
        if let known = ending, !known.isRepetition || result.isRepetition { return false }
        let followed = result.state == ResultState.sent.rawValue ? result.followedCount : 0
        ending = Ending(
            json: result.line, state: result.state, isRepetition: result.isRepetition, repeatsItsID: result.repeatsItsID,
            followedCount: min(Int(clamping: followed), Awaited.maximumOutcomeCount),
            awaitsUntil: Timestamp(milliseconds: result.timestamp).adding(milliseconds: RequestStory.longestOutcome))
        if !result.repeatsItsID { takePlace(of: result) }
        guard !result.isRepetition else { return true }
        for (call, outcome) in early { _ = count(outcome, of: call) }
        early = [:]
        return true
    }

    /// Takes the outcome of a call. Which calls are followed, and of which record, the final result says.
    private mutating func takeOutcome(_ result: ResultRecord) -> Bool {
        guard result.kind == "outcome", let index = result.call else { return false }
        let call = Call(record: result.origin?.record, index: index)
        let outcome = RequestStory.Outcome(state: result.state, code: result.errorCode)
        guard ending?.isRepetition ?? true else { return count(outcome, of: call) }
        guard early.count < Awaited.maximumOutcomeCount, early[call] == nil else { return false }
        early[call] = outcome
        return true
    }

    /// Counts the outcome of a followed call. That of another record with the same id is of another call.
    private mutating func count(_ outcome: RequestStory.Outcome, of call: Call) -> Bool {
        guard let ending, outcomes.count < ending.followedCount, outcomes[call.index] == nil,
            call.record == nil || call.record == place?.record
        else { return false }
        outcomes[call.index] = outcome
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

    /// Notes whether a search came to the end of the results that may be its outcomes.
    package mutating func noteOutcomes(areWhole: Bool) { lacksOutcomes = !areWhole }

    /// True for a result of its id that is its own: it names the same source and tenant, or none and the place of its record, as that of a
    /// record does that a worker cannot read.
    package func has(_ result: ResultRecord) -> Bool {
        if result.source == owner.source && result.tenant == owner.tenant { return true }
        guard result.source == nil, result.tenant == nil, let place else { return false }
        return result.origin?.record == place.record
    }
}
