public import Basics
import PushModel

/// The content of the hub's answer about one notification: `NotificationDetails` (page HubProtocol, "Details").
public struct NotificationTelemetry: Sendable, Equatable {
    /// The number of devices of one push service that ended with one outcome.
    public struct Count: Sendable, Equatable {
        /// The hub's format name (`apple`, `fcmv1`, `windowsphone`, …). Of an undocumented list its prefix in small letters.
        public var platform: String
        /// The outcome.
        public var outcome: PNSOutcome
        /// The number of devices, 0 or more.
        public var count: Int

        /// A count of these parts.
        public init(platform: String, outcome: PNSOutcome, count: Int) {
            self.platform = platform
            self.outcome = outcome
            self.count = count
        }
    }

    /// The id, as the hub repeats it.
    public var notificationID: String?
    /// The state of it, or nil when the answer does not say.
    public var state: NotificationState?
    /// The counts in the answer's order, those of zero included.
    public var counts: [Count] = []
    /// The place where the hub lists the devices that were refused. It exists in api-version 2016-07 and later.
    public var errorDetails: ErrorDetailsLink?

    /// Telemetry of a state and counts.
    public init(state: NotificationState? = nil, counts: [Count] = []) {
        self.state = state
        self.counts = counts
    }

    /// The devices whose push service took the notification.
    public var successCount: Int { sum { $0 == .success } }

    /// The devices that were not reached, or perhaps not. Handles that were merely skipped do not count.
    public var failureCount: Int { sum { $0 != .success && $0 != .duplicate } }

    /// The sum of the counts whose class satisfies `isMeant`. A sum beyond 64 bits stays at their end.
    private func sum(_ isMeant: (Outcome) -> Bool) -> Int {
        var sum = 0
        for entry in counts where isMeant(entry.outcome.outcome) {
            sum = sum.addingSaturated(entry.count)
        }
        return sum
    }
}

/// The link to a notification's error details. It carries a signature that opens them, so no description shows it.
public struct ErrorDetailsLink: Sendable, Equatable, Concealed {
    /// The link, an absolute `https` or `http` URI.
    public let uri: String

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// Takes a link. Nil for what is no `https` or `http` URI of 2,048 printable ASCII characters at most.
    public init?(_ text: String) {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), text.utf8.count <= 2048,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "<") })
        else { return nil }
        uri = text
    }
}
