import Basics

/// The hub's knowledge of one accepted notification, and its telemetry over time.
struct TelemetryRecord: Sendable {
    /// The telemetry at one moment.
    struct Shown: Sendable, Equatable {
        let state: String
        /// The start of the work, in milliseconds since 1970, or `nil` before it.
        var startedAt: Int64?
        /// The time at which the state became final.
        var endedAt: Int64?
        var counts = OutcomeCounts()
    }

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

    /// The platform of a native notification, or the templates that were filled in, in the words of `TargetPlatforms`.
    var targetPlatforms: String {
        if let platform { return platform.format }
        let templates = HubPlatform.allCases.filter { platform in counts.entries.contains { $0.platform == platform } }
        return templates.isEmpty ? "template" : templates.map { $0.format + "template" }.joined(separator: ",")
    }

    /// The telemetry at `now`, milliseconds since 1970, or `nil` while the id is unknown.
    func shown(at now: Int64) -> Shown? {
        guard let hidden = progress.hidden, now >= acceptedAt + hidden.wholeMilliseconds else { return nil }
        if let canceledAt { return Shown(state: progress.canceledState, endedAt: canceledAt) }
        if now < queuedAt { return Shown(state: "Scheduled") }
        var begin = max(queuedAt, acceptedAt + hidden.wholeMilliseconds)
        var startedAt: Int64?
        for step in progress.steps {
            if startedAt == nil, !Self.pendingStates.contains(step.state) { startedAt = begin }
            guard let duration = step.duration, now >= begin + duration.wholeMilliseconds else {
                let isFinal = Self.finalStates.contains(step.state)
                let counted = step.counts ?? (step.state == "Completed" ? counts : OutcomeCounts())
                return Shown(state: step.state, startedAt: startedAt, endedAt: isFinal ? begin : nil, counts: counted)
            }
            begin += duration.wholeMilliseconds
        }
        let state = counts.isEmpty ? "NoTargetFound" : "Completed"
        return Shown(state: state, startedAt: startedAt ?? begin, endedAt: begin, counts: counts)
    }
}
