/// The places of a request without a result, as `state:` names them beside the states of results.
public enum OpenState: String, Sendable, CaseIterable {
    /// In a lane, and not read yet.
    case published
    /// Read by a worker, without an outcome.
    case inWork = "in_work"
    /// In a delay lane.
    case delayed
    /// Behind another request with its ordering key.
    case held
    /// Divided into parts, which have not all ended.
    case inParts = "in_parts"
    /// Not understood, and among the dead letters.
    case deadLetter = "dead_letter"

    /// Words that stand for several of them.
    static let aliases: [(name: String, states: [OpenState])] = [
        ("waiting", [.published, .delayed, .held]), ("running", [.inWork, .inParts]),
    ]

    /// Each word that `state:` takes for requests without a result.
    public static let words = allCases.map(\.rawValue) + aliases.map(\.name)
}
