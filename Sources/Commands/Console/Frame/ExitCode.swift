/// The exit codes of the program, for scripts and service managers. 69 to 78 are the numbers of `sysexits.h`.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case partlyFailed = 3
    case nothingMatched = 4
    case refused = 5
    case unreachable = 69
    case temporary = 75
    case notAllowed = 77
    case configuration = 78
    case interrupted = 130

    /// The meaning of the number, in a few words.
    public var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "the command line, or a request in it, is not right"
        case .partlyFailed: "finished, but some items failed"
        case .nothingMatched: "nothing matched"
        case .refused: "a safety guard said no"
        case .unreachable: "the broker or the hub cannot be reached"
        case .temporary: "not finished in time; try again"
        case .notAllowed: "the broker or the hub does not allow it"
        case .configuration: "a setting is not right"
        case .interrupted: "interrupted"
        }
    }
}
