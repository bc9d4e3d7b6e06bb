package import PushModel

/// The state of a request that was sent, by the outcomes of its followed calls.
package enum OutcomeState: String, Sendable, CaseIterable {
    /// The hub has not told the outcome of every call.
    case awaited
    /// The push services took it for every device.
    case delivered
    /// The push services took it for some devices.
    case reachedSome = "reached_some"
    /// The push services refused every device.
    case devicesRefused = "devices_refused"
    /// The hub knows no device of its audience.
    case noTarget = "no_target"
    /// The hub has told nothing that decides it, and will not.
    case unknown

    /// The state by the outcomes of all calls, at least one.
    package init(_ outcomes: some Sequence<RequestStory.Outcome>) {
        let fates = Set(outcomes.map(\.fate))
        self =
            if fates == [.noDevice] {
                .noTarget
            } else if fates.isSubset(of: [.noDevice, .refused]) {
                .devicesRefused
            } else if fates.isSubset(of: [.reached, .noDevice]) {
                .delivered
            } else if fates.isSubset(of: [.reached, .some, .noDevice, .refused]) {
                .reachedSome
            } else {
                .unknown
            }
    }

    /// True for a state that takes the place of `sent`.
    package var isKnown: Bool { self != .awaited && self != .unknown }
}

extension RequestStory {
    /// The outcome of its calls together. Nil where it was not sent, or nothing is known of outcomes.
    package func outcomeState(at now: Timestamp) -> OutcomeState? {
        guard let ending, ending.state == ResultState.sent.rawValue else { return nil }
        switch telemetry {
        case .awaited: return .awaited
        case .known(let outcomes) where !outcomes.isEmpty:
            guard outcomes.count < ending.accepted ?? 0 else { return OutcomeState(outcomes) }
            return ending.at.map { now.milliseconds(since: $0) >= Self.longestOutcome } ?? false ? .unknown : .awaited
        case .notSearched, .notTracked, .missing, .known: return nil
        }
    }
}

extension RequestStory.Outcome {
    /// The fate of a call by the hub's outcome.
    enum Fate: Hashable {
        case reached, some, noDevice, refused, cancelled, unclear
    }

    /// The fate of its call.
    var fate: Fate {
        switch (state, code.flatMap(ErrorCode.init(rawValue:))) {
        case ("sent", _): .reached
        case ("partial", _): .some
        case (_, .noTarget): .noDevice
        case (_, .devicesRefused): .refused
        case (_, .hubCanceled): .cancelled
        default: .unclear
        }
    }
}
