public import PushModel

/// Until when the requests of a replay are of use, in place of what the originals said.
public enum NewExpiry: Sendable, Equatable {
    /// For so many seconds, counted from when each new request is written.
    case life(seconds: Int64)
    /// Until this moment.
    case moment(Timestamp)

    /// The words of a lineage about it.
    var note: String {
        switch self {
        case .life(let seconds): return "ttl_seconds=\(seconds)"
        case .moment(let moment):
            var text = ByteWriter()
            text.append(moment)
            return "expires_at=\(String(decoding: text.bytes, as: UTF8.self))"
        }
    }
}
