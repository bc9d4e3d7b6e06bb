/// The end of one attempt to deliver a callback.
public enum CallbackAnswer: Sendable, Equatable {
    /// A status, and the wait in milliseconds that its field `Retry-After` asks for.
    case status(Int, retryAfter: Int64?)
    /// No answer, and whether the call may have arrived all the same.
    case failed(reason: String, mayHaveArrived: Bool)

    /// The longest wait that a receiver may ask for, in milliseconds.
    public static let maximumWait: Int64 = 3_600_000

    /// The meaning of the answer.
    public var verdict: CallbackVerdict {
        guard case .status(let status, let wait) = self else { return .again }
        switch status {
        case 200..<300: return .taken
        case 410: return .disabled
        case 429, 503:
            guard let wait, wait > 0 else { return .again }
            return .wait(milliseconds: min(wait, Self.maximumWait))
        default: return .again
        }
    }
}

/// The decision about a callback after an attempt.
public enum CallbackVerdict: Sendable, Equatable {
    /// The receiver has it.
    case taken
    /// The receiver wants no callback any more.
    case disabled
    /// The receiver asks to be left alone for so long.
    case wait(milliseconds: Int64)
    /// It is tried again.
    case again
}
