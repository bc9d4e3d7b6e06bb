import Webhooks

extension CallbackAnswer {
    /// The status, or nil without an answer.
    var status: Int? {
        if case .status(let status, _) = self { status } else { nil }
    }

    /// True if the receiver, or the way to it, is at fault: then the next result would fare no better.
    var isAway: Bool {
        guard let status else { return true }
        return switch status {
        case 300..<400, 401, 403, 404, 405, 500...: true
        default: false
        }
    }

    /// True if the receiver did not answer, or as one that has too much to do.
    var isLost: Bool { status.map { $0 >= 500 || $0 == 429 } ?? true }
}
