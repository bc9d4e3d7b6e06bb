/// Why the suite, or one scenario of it, could not do its work; not the same as an invariant that does not hold.
enum SuiteError: Error, CustomStringConvertible {
    /// The command line.
    case usage(String)
    /// Something that must be there is not; a sentence says what and how to get it.
    case missing(String)
    /// The system refused a call.
    case system(String, Int32)
    /// A step failed.
    case failed(String)
    /// A scenario needs what this machine does not have; a sentence says what.
    case unavailable(String)
    /// A step took too long.
    case late(String)

    var description: String {
        switch self {
        case .usage(let what), .missing(let what), .failed(let what), .unavailable(let what): what
        case .system(let call, let code): "\(call) failed with error \(code)"
        case .late(let what): "not in time: \(what)"
        }
    }
}
