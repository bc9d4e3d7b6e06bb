/// Why a gateway cannot start; no secret is in it.
public enum GatewayFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// It cannot work with these settings.
    case configuration(String)
    /// Something on this machine failed.
    case system(String)

    /// What has happened, in plain words.
    public var description: String {
        switch self {
        case .configuration(let reason), .system(let reason): reason
        }
    }
}
