/// The state of a notification, in the hub's own words (page HubProtocol, "States").
public enum NotificationState: Sendable, Hashable {
    /// Accepted, not begun.
    case enqueued
    /// A word of .NET's for test sends. Telemetry does not say it.
    case detailedStateAvailable
    /// Waits for its time.
    case scheduled
    /// Is being delivered. Counts grow.
    case processing
    /// All deliveries were attempted. The counts say how they went.
    case completed
    /// Could not be processed within the hub's 30 minutes.
    case abandoned
    /// The hub has lost it or cannot tell.
    case unknown
    /// No registration matched.
    case noTargetFound
    /// Taken back before its time. Clients and pages spell it with one l or two.
    case canceled
    /// An undocumented word.
    case other(String)

    /// The states that are documented.
    public static let documented: [NotificationState] = [
        .enqueued, .detailedStateAvailable, .scheduled, .processing, .completed, .abandoned, .unknown, .noTargetFound, .canceled,
    ]

    /// Reads the hub's word, in any case and in both spellings of `Canceled`.
    public init(word: String) {
        let folded = word.lowercased()
        if folded == "cancelled" {
            self = .canceled
        } else {
            self = Self.documented.first { $0.word.lowercased() == folded } ?? .other(word)
        }
    }

    /// The word as results show it, or an undocumented one as the hub wrote it.
    public var word: String {
        switch self {
        case .enqueued: "Enqueued"
        case .detailedStateAvailable: "DetailedStateAvailable"
        case .scheduled: "Scheduled"
        case .processing: "Processing"
        case .completed: "Completed"
        case .abandoned: "Abandoned"
        case .unknown: "Unknown"
        case .noTargetFound: "NoTargetFound"
        case .canceled: "Canceled"
        case .other(let word): word
        }
    }

    /// True if nothing else follows. `Unknown` may still become something, and so may an undocumented word.
    public var isFinal: Bool {
        switch self {
        case .completed, .abandoned, .noTargetFound, .canceled: true
        case .enqueued, .detailedStateAvailable, .scheduled, .processing, .unknown, .other: false
        }
    }
}
