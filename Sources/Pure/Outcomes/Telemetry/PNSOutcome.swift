public import PushModel

/// The action of a push service with a notification for one device, in the hub's own words (page HubProtocol, "Outcomes").
public enum PNSOutcome: Sendable, Hashable {
    /// A name that the service's pages or .NET's client document.
    case known(Name)
    /// Any other word, as the hub wrote it.
    case other(String)

    /// The documented names. The raw value is the hub's word.
    public enum Name: String, Sendable, CaseIterable {
        case success = "Success"
        case skipped = "Skipped"
        case noTargets = "NoTargets"
        case badChannel = "BadChannel"
        case expiredChannel = "ExpiredChannel"
        case wrongToken = "WrongToken"
        case wrongChannel = "WrongChannel"
        case channelDisconnected = "ChannelDisconnected"
        case channelThrottled = "ChannelThrottled"
        case throttled = "Throttled"
        case dropped = "Dropped"
        case invalidCredentials = "InvalidCredentials"
        case invalidToken = "InvalidToken"
        case refreshToken = "RefreshToken"
        case tokenProviderInterfaceError = "TokenProviderInterfaceError"
        case tokenProviderUnreachable = "TokenProviderUnreachable"
        case invalidNotificationFormat = "InvalidNotificationFormat"
        case invalidNotificationSize = "InvalidNotificationSize"
        case pnsInterfaceError = "PnsInterfaceError"
        case pnsServerError = "PnsServerError"
        case pnsUnavailable = "PnsUnavailable"
        case pnsUnreachable = "PnsUnreachable"
        case abandonedNotificationMessages = "AbandonedNotificationMessages"
        case unknownError = "UnknownError"
    }

    /// Reads the hub's word. Names are compared exactly.
    public init(word: String) { self = Name(rawValue: word).map { .known($0) } ?? .other(word) }

    /// The hub's word.
    public var word: String {
        switch self {
        case .known(let name): name.rawValue
        case .other(let word): word
        }
    }

    /// The class of what became of the device, or `duplicate` for a handle that the same notification reached already.
    ///
    /// What may have reached the device, although the hub counts it as a failure, is `ambiguous`: a push service that broke off or did
    /// not answer in time, and every undocumented word.
    public var outcome: Outcome {
        guard case .known(let name) = self else { return .ambiguous }
        switch name {
        case .success: return .success
        case .skipped: return .duplicate
        case .noTargets: return .noTarget
        case .badChannel, .expiredChannel, .wrongToken, .wrongChannel: return .permanent
        case .channelThrottled, .throttled: return .throttled
        case .invalidCredentials, .invalidToken: return .auth
        case .invalidNotificationFormat, .invalidNotificationSize: return .payload
        case .channelDisconnected, .dropped, .refreshToken, .tokenProviderInterfaceError, .tokenProviderUnreachable,
            .pnsUnavailable:
            return .transient
        case .pnsInterfaceError, .pnsServerError, .pnsUnreachable, .abandonedNotificationMessages, .unknownError:
            return .ambiguous
        }
    }

    /// True if the device's handle will never be served again, so that a clean-up may remove it.
    public var isHandleDead: Bool {
        switch self {
        case .known(.badChannel), .known(.expiredChannel), .known(.wrongToken), .known(.wrongChannel): true
        default: false
        }
    }
}
