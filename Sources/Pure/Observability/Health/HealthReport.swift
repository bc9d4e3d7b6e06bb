/// The kind of a probe (kubernetes.io, "Configure Liveness, Readiness and Startup Probes").
public enum HealthProbe: Sendable, CaseIterable {
    /// Does the process work at all, or must it be restarted? Never depends on Kafka or a hub.
    case live
    /// Can it do its job now?
    case ready
    /// Has it finished starting?
    case startup

    /// The path that answers it.
    public var path: String {
        switch self {
        case .live: "/livez"
        case .ready: "/readyz"
        case .startup: "/startupz"
        }
    }
}

/// The answer to a probe at one moment.
public struct HealthReport: Sendable, Equatable {
    /// One check and its state.
    public struct Check: Sendable, Equatable {
        /// The check's name.
        public let name: String
        /// The reason for which it fails, in plain words, or nil when it passes.
        public let reason: String?
        /// The thing to say while it passes, in plain words, or nil.
        public var note: String?
        /// The thing that does not work while it passes, in plain words, or nil.
        public var lack: String?
    }

    /// Every check of the probe, in the order in which they were declared.
    public let checks: [Check]

    /// True if every check passes.
    public var passes: Bool { checks.allSatisfy { $0.reason == nil } }

    /// The HTTP status to answer with: 200, or 503 while a check fails.
    public var status: Int { passes ? 200 : 503 }

    /// The answer's text: a line for each check when `verbose`, otherwise for those that fail or lack something, or `ok`.
    public func body(verbose: Bool) -> [UInt8] {
        var text = ""
        for check in checks {
            if let reason = check.reason {
                text += "failing \(check.name): \(Self.oneLine(reason))\n"
            } else if let lack = check.lack {
                text += "degraded \(check.name): \(Self.oneLine(lack))\n"
            } else if verbose {
                text += "ok \(check.name)\(check.note.map { ": " + Self.oneLine($0) } ?? "")\n"
            }
        }
        return Array((text.isEmpty ? "ok\n" : text).utf8)
    }

    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
