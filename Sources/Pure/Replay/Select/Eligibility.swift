public import PushModel

/// The things that a replay is allowed to repeat.
public struct ReplayPolicy: Sendable, Equatable {
    /// Ambiguous sends, which may have reached their devices, are repeated, too, and may ring twice.
    public var includesAmbiguous: Bool
    /// The new requests get a new expiry, so that those that came too late have a use again.
    public var renewsExpiry: Bool
    /// True if what was cancelled is repeated, too.
    public var includesCancelled: Bool
    /// True if what found no registered device is repeated, too.
    public var includesUntargeted: Bool

    /// A policy of what is allowed.
    public init(
        includesAmbiguous: Bool = false, renewsExpiry: Bool = false, includesCancelled: Bool = false,
        includesUntargeted: Bool = false
    ) {
        self.includesAmbiguous = includesAmbiguous
        self.renewsExpiry = renewsExpiry
        self.includesCancelled = includesCancelled
        self.includesUntargeted = includesUntargeted
    }
}

/// The reason why a send is not replayed.
public enum Leftover: String, Sendable, CaseIterable {
    /// A replay has repaired it since, or it never failed.
    case delivered
    /// It was replayed before, and that replay has not ended or has failed itself. Then its own result can be replayed.
    case replayed
    /// It may have reached its devices, and to include such was not asked for.
    case ambiguous
    /// The request was cancelled, or the whole that it is a part of, or what it replays.
    case cancelled
    /// It is of no more use: its expiry has passed.
    case expired
    /// No device was registered for it.
    case untargeted = "no_target"
    /// No change of settings, routes or rights could help it.
    case pointless
    /// It was sent in parts, which have results of their own.
    case parts
    /// It is not known which of its sends failed.
    case unspecific
    /// The original request is no longer in its topic.
    case gone
    /// The original would be planned otherwise than it was: the settings here are others than the worker's.
    case changed
    /// It is a replay of a replay of a replay. The chain ends here.
    case exhausted
    /// With the edits, or as it stands, it is no valid request.
    case invalid
    /// The dead letter does not hold the whole record.
    case cut
    /// The dead letter holds what could be read no better now.
    case broken

    /// One sentence for a person, without a full stop.
    public var explanation: String {
        switch self {
        case .delivered: "delivered: nothing is left to repair"
        case .replayed: "replayed before; if that failed, its own result can be replayed"
        case .ambiguous: "may have reached its devices; --include-ambiguous risks that they ring twice"
        case .cancelled: "was cancelled; a filter that names it, such as state:cancelled, repeats it all the same"
        case .expired: "expired; --ttl or --expires-at gives it a new life"
        case .untargeted: "no device was registered for it; error:no_target in the filter repeats it all the same"
        case .pointless: "would fail again in the same way, whatever is changed"
        case .parts: "was sent in parts; each has a result of its own, which can be replayed"
        case .unspecific: "which of its sends failed is not known (options.result_detail)"
        case .gone: "the original request is no longer kept: retention removed it, or its topic was made again"
        case .changed: "would become other calls than it was: check hub.platforms here and at the worker"
        case .exhausted: "has been replayed too often in a row"
        case .invalid: "is no valid request, as it stands or with the edits"
        case .cut: "the dead letter does not hold the whole record; publish it again"
        case .broken: "would be a dead letter again; --value mends one, and a version that reads it sends it"
        }
    }
}

/// The sends of one request that are repeated, and why the others are not.
public struct Eligibility: Sendable, Equatable {
    /// The sends to repeat.
    public private(set) var sends: SendSet
    /// Those of them that may have reached their devices.
    public private(set) var ambiguous = SendSet()
    /// The failed sends that are not repeated.
    public private(set) var left: [Leftover: SendSet] = [:]
    /// The error to repair first, for the first of the sends that need it.
    public private(set) var repair: ErrorCode?

    /// Decides.
    ///
    /// - Parameters:
    ///   - result: What became of the request.
    ///   - history: What earlier replays took up of it.
    ///   - policy: What is allowed.
    public init(of result: SettledResult, after history: ReplayHistory, under policy: ReplayPolicy) {
        sends = SendSet()
        guard !result.hasParts else {
            left[.parts] = .all
            return
        }
        guard !result.isUnspecific else {
            left[.unspecific] = .all
            return
        }
        let replayed = history.replayed(result.original)
        let delivered = history.delivered(result.original)
        func open(_ failed: SendSet, isAllowed: Bool, otherwise reason: Leftover) {
            let rest = failed.subtracting(replayed)
            if isAllowed { sends = sends.union(rest) } else { leave(rest, because: reason) }
            leave(failed.intersection(replayed).intersection(delivered), because: .delivered)
            leave(failed.intersection(replayed).subtracting(delivered), because: .replayed)
        }
        // Whoever cancelled the request meant all of it, what had failed by then as well.
        let isStopped = !result.cancelled.isEmpty && !policy.includesCancelled
        func openUnlessStopped(_ failed: SendSet, isAllowed: Bool, otherwise reason: Leftover) {
            open(failed, isAllowed: isAllowed && !isStopped, otherwise: isStopped ? .cancelled : reason)
        }
        openUnlessStopped(result.safe, isAllowed: true, otherwise: .gone)
        openUnlessStopped(result.cancelled, isAllowed: true, otherwise: .cancelled)
        openUnlessStopped(result.ambiguous, isAllowed: policy.includesAmbiguous, otherwise: .ambiguous)
        openUnlessStopped(result.expired, isAllowed: policy.renewsExpiry, otherwise: .expired)
        openUnlessStopped(result.untargeted, isAllowed: policy.includesUntargeted, otherwise: .untargeted)
        open(result.pointless, isAllowed: false, otherwise: .pointless)
        if sends.isEmpty && left.isEmpty { leave(result.delivered, because: .delivered) }
        ambiguous = sends.intersection(result.ambiguous)
        repair = result.repairs.first { !$0.sends.intersection(sends).isEmpty }?.code
    }

    private mutating func leave(_ sends: SendSet, because reason: Leftover) {
        guard !sends.isEmpty else { return }
        left[reason] = (left[reason] ?? SendSet()).union(sends)
    }

    /// The reason that stands for the request as a whole when none of its sends is repeated: what a person could change comes
    /// first.
    public var mainReason: Leftover? {
        guard sends.isEmpty else { return nil }
        let order: [Leftover] = [
            .parts, .unspecific, .cancelled, .ambiguous, .expired, .untargeted, .replayed, .delivered, .pointless,
        ]
        return order.first { left[$0] != nil }
    }
}
