/// What a replay is allowed to repeat.
public struct ReplayPolicy: Sendable, Equatable {
    /// Ambiguous sends, which may have reached their devices, are repeated, too, and may ring twice.
    public var includesAmbiguous: Bool
    /// The new requests get a new expiry, so that those that came too late have a use again.
    public var renewsExpiry: Bool

    /// What is allowed.
    public init(includesAmbiguous: Bool = false, renewsExpiry: Bool = false) {
        self.includesAmbiguous = includesAmbiguous
        self.renewsExpiry = renewsExpiry
    }
}

/// Why a send is not replayed.
public enum Leftover: String, Sendable, CaseIterable {
    /// A replay has repaired it since, or it never failed.
    case delivered
    /// It was replayed before, and that replay has not ended or has failed itself; then its own result can be replayed.
    case replayed
    /// It may have reached its devices, and to include such was not asked for.
    case ambiguous
    /// It is of no more use: its expiry has passed.
    case expired
    /// It would fail again in the same way.
    case pointless
    /// It was sent in parts, which have results of their own.
    case parts
    /// Which of its sends failed is not known.
    case unspecific
    /// The original request is gone by retention.
    case gone
    /// The original would be planned otherwise than it was: the settings here are others than the worker's.
    case changed
    /// It is a replay of a replay of a replay; the chain ends here.
    case exhausted
    /// With the edits, or as it stands, it is no valid request.
    case invalid

    /// One sentence for a person, without a full stop.
    public var explanation: String {
        switch self {
        case .delivered: "delivered: nothing is left to repair"
        case .replayed: "replayed before; if that failed, its own result can be replayed"
        case .ambiguous: "may have reached its devices; --include-ambiguous risks that they ring twice"
        case .expired: "expired; --ttl or --expires-at gives it a new life"
        case .pointless: "would fail again in the same way"
        case .parts: "was sent in parts; each has a result of its own, which can be replayed"
        case .unspecific: "which of its sends failed is not known (options.result_detail)"
        case .gone: "the original request is gone by retention"
        case .changed: "would become other calls than it was: check hub.platforms here and at the worker"
        case .exhausted: "has been replayed too often in a row"
        case .invalid: "is no valid request, as it stands or with the edits"
        }
    }
}

/// Which sends of one request are repeated, and why the others are not.
public struct Eligibility: Sendable, Equatable {
    /// The sends to repeat.
    public private(set) var sends: SendSet
    /// The failed sends that are not repeated.
    public private(set) var left: [Leftover: SendSet] = [:]

    /// Decides.
    ///
    /// - Parameters:
    ///   - result: What became of the request.
    ///   - history: What earlier replays took up of it.
    ///   - policy: What is allowed.
    public init(of result: SettledResult, _ history: ReplayHistory, _ policy: ReplayPolicy) {
        sends = SendSet()
        guard !result.hasParts else {
            left[.parts] = .all
            return
        }
        guard !result.isUnspecific else {
            left[.unspecific] = .all
            return
        }
        let replayed = history.replayed(result.place)
        let delivered = history.delivered(result.place)
        func open(_ failed: SendSet, isAllowed: Bool, _ reason: Leftover) {
            let rest = failed.subtracting(replayed)
            if isAllowed { sends = sends.union(rest) } else { leave(rest, reason) }
            leave(failed.intersection(replayed).intersection(delivered), .delivered)
            leave(failed.intersection(replayed).subtracting(delivered), .replayed)
        }
        open(result.safe, isAllowed: true, .gone)
        open(result.ambiguous, isAllowed: policy.includesAmbiguous, .ambiguous)
        open(result.expired, isAllowed: policy.renewsExpiry, .expired)
        open(result.pointless, isAllowed: false, .pointless)
        if sends.isEmpty && left.isEmpty { leave(result.delivered, .delivered) }
    }

    private mutating func leave(_ sends: SendSet, _ reason: Leftover) {
        guard !sends.isEmpty else { return }
        left[reason] = (left[reason] ?? SendSet()).union(sends)
    }

    /// What stands for the request as a whole when none of its sends is repeated: what a person could change comes first.
    public var mainReason: Leftover? {
        guard sends.isEmpty else { return nil }
        return [.parts, .unspecific, .ambiguous, .expired, .replayed, .delivered, .pointless].first { left[$0] != nil }
    }
}
