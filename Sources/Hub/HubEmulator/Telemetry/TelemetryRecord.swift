import Basics
import HubServer

/// The hub's knowledge of one accepted notification, and its telemetry over time.
struct TelemetryRecord: Sendable {
    private static let pendingStates = ["Enqueued", "Scheduled"]
    private static let finalStates = ["Completed", "Abandoned", "NoTargetFound", "Canceled", "Cancelled"]

    let id: String
    let body: [UInt8]
    /// The tags header of a send to tags.
    let tags: String?
    /// The platform of a native notification, or `nil` for a template's.
    let platform: HubPlatform?
    let apiVersion: APIVersion
    let progress: TelemetryScript.Progress
    /// The time of the answer to the send, in milliseconds since 1970.
    let acceptedAt: Int64
    /// The time of delivery, which is later than `acceptedAt` for a scheduled notification.
    let queuedAt: Int64
    private var canceledAt: Int64?
    private var counts = OutcomeCounts()
    /// The devices that a push service refused.
    private(set) var refused: [PNSFeedback] = []

    /// The record of a notification, with its id, that has reached no device yet. `due` is the time of a scheduled one.
    init(_ notification: Notification, call: HubCall, progress: TelemetryScript.Progress, due: Int64? = nil) {
        id = notification.id
        body = notification.body
        if case .tags = notification.audience { tags = call.notificationHeader("Tags") } else { tags = nil }
        if case .native(let platform) = notification.content { self.platform = platform } else { platform = nil }
        apiVersion = call.apiVersion
        self.progress = progress
        acceptedAt = call.moment.milliseconds
        queuedAt = due ?? acceptedAt
    }

    /// Notes the outcome of the notification.
    mutating func delivered(_ reach: Reach, refused: [PNSFeedback]) {
        counts = reach.counts
        self.refused = refused
    }

    /// Notes that a scheduled notification was taken back.
    mutating func canceled(at now: Int64) { canceledAt = now }

    /// The telemetry at `now`, milliseconds since 1970, or `nil` while the id is unknown.
    func telemetry(at now: Int64) -> MessageTelemetry? {
        shown(at: now).map {
            MessageTelemetry(
                id: id, body: body, tags: tags, platform: platform, apiVersion: apiVersion, queuedAt: queuedAt, shown: $0)
        }
    }

    /// The telemetry at `now`, milliseconds since 1970, or `nil` while the id is unknown.
    private func shown(at now: Int64) -> MessageTelemetry.Shown? {
        guard let hidden = progress.hidden, now >= acceptedAt + hidden.wholeMilliseconds else { return nil }
        if let canceledAt { return MessageTelemetry.Shown(state: progress.canceledState, endedAt: canceledAt) }
        if now < queuedAt { return MessageTelemetry.Shown(state: "Scheduled") }
        var begin = max(queuedAt, acceptedAt + hidden.wholeMilliseconds)
        var startedAt: Int64?
        for step in progress.steps {
            if startedAt == nil, !Self.pendingStates.contains(step.state) { startedAt = begin }
            guard let duration = step.duration, now >= begin + duration.wholeMilliseconds else {
                let isFinal = Self.finalStates.contains(step.state)
                let counted = step.counts ?? (step.state == "Completed" ? counts : OutcomeCounts())
                return MessageTelemetry.Shown(
                    state: step.state, startedAt: startedAt, endedAt: isFinal ? begin : nil, counts: counted)
            }
            begin += duration.wholeMilliseconds
        }
        let state = counts.isEmpty ? "NoTargetFound" : "Completed"
        return MessageTelemetry.Shown(state: state, startedAt: startedAt ?? begin, endedAt: begin, counts: counts)
    }
}
