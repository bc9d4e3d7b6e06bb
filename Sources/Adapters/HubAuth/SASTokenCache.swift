/// The tokens of one hub: signs once, hands the same bytes out for 90 % of their life, and tells on a refusal whether
/// another try makes sense.
///
/// It reads no clock. One owner, not thread-safe; any number of calls may be in flight with the same token, which is why
/// answers are reported with the serial number of the token they were given to.
public struct SASTokenCache: Sendable {
    /// The one of the two keys that signs.
    public enum KeySlot: Sendable, Equatable {
        /// The first key.
        case primary
        /// The key used while the first one is being replaced.
        case secondary
    }

    /// The consequence of a 401.
    public enum Verdict: Sendable, Equatable {
        /// The refused token had already been replaced: try again.
        case superseded
        /// The token was dropped. The next one is signed with the same key: try again.
        case renewed
        /// A fresh token was refused too. The next one is signed with this key: try again.
        case switched(to: KeySlot)
        /// Fresh tokens of every key were refused: an authorization failure, not to be tried again.
        case refused

        /// True if the same call should be sent again with `token(now:)`.
        public var allowsRetry: Bool { self != .refused }
    }

    /// trusted → renewed → switched → refused, by a 401 for the current token each (renewed → refused without a second
    /// key); any → trusted, by a success of the current token.
    private enum Phase { case trusted, renewed, switched, refused }

    /// True while the last answer to each of the keys was a refusal of a fresh token.
    public var isRefused: Bool { phase == .refused }

    /// True if the latest answer to a token was a refusal, so that it is not known whether any key is good.
    public var isInDoubt: Bool { phase != .trusted }

    /// Allowed life of a token.
    public static let lifetimes: ClosedRange<Duration> = .seconds(300) ... .seconds(86400)

    private let audience: String
    private let primary: SASCredential
    private let secondary: SASCredential?
    private let lifetimeSeconds: Int64
    private var slot = KeySlot.primary
    private var phase = Phase.trusted
    private var current: SASToken?
    private var serial: UInt64 = 0
    private var signedAt: Int64 = 0
    private var renewAt: Int64 = 0

    /// Sets up a cache that has signed nothing yet.
    ///
    /// - Parameters:
    ///   - audience: What the tokens are for: `HubEndpoint.audience(of:)`.
    ///   - primary: The key to begin with.
    ///   - secondary: The key to change to when fresh tokens of the first are refused. Default none.
    ///   - lifetime: Life of a token in whole seconds, 5 min … 24 h. Default 1 h.
    /// - Throws: `HubAuthError.tokenLifetime`.
    public init(
        audience: String, primary: SASCredential, secondary: SASCredential? = nil, lifetime: Duration = .seconds(3600)
    ) throws(HubAuthError) {
        let seconds = lifetime.components.seconds
        guard Self.lifetimes.contains(lifetime) else { throw .tokenLifetime(seconds: seconds) }
        self.audience = audience
        self.primary = primary
        self.secondary = secondary
        lifetimeSeconds = seconds
    }

    /// Gives the token for a call. Signs one when there is none, when 90 % of its life are over, or when the clock has
    /// been set back past its making. Otherwise it allocates nothing.
    ///
    /// - Parameter now: Seconds since 1970, UTC.
    /// - Returns: The token; its serial number goes with the call.
    /// - Throws: `HubAuthError.signing`.
    public mutating func token(now: Int64) throws(HubAuthError) -> SASToken {
        if let current, now >= signedAt, now < renewAt { return current }
        let credential = slot == .secondary ? secondary ?? primary : primary
        var token = try SASToken.sign(
            resource: audience, policy: credential.policy, key: credential.key, expiry: now &+ lifetimeSeconds)
        serial += 1
        token.serial = serial
        current = token
        signedAt = now
        renewAt = now &+ lifetimeSeconds * 9 / 10
        return token
    }

    /// Notes that the hub answered 401 to a token.
    ///
    /// With 64 calls in flight the same token is refused 64 times: the first report moves on, the others must try
    /// again with what the first one caused, and only the refusal of that one counts further. When all keys are refused,
    /// later tokens take the keys in turn, so that the first one to be restored is found without any retrying.
    ///
    /// - Parameter serial: The refused token's `serial`.
    /// - Returns: What happened, and so whether to try again. The caller's limit of attempts still applies.
    public mutating func rejected(serial: UInt64) -> Verdict {
        guard let current, current.serial == serial else { return phase == .refused ? .refused : .superseded }
        self.current = nil
        switch phase {
        case .trusted:
            phase = .renewed
            return .renewed
        case .renewed where secondary != nil:
            phase = .switched
            takeOtherKey()
            return .switched(to: slot)
        case .renewed, .switched, .refused:
            phase = .refused
            takeOtherKey()
            return .refused
        }
    }

    /// Notes that the hub took a token (any answer but 401), by its serial: what was refused before is forgotten, the key that
    /// works stays. A token that has been replaced since proves nothing.
    public mutating func accepted(serial: UInt64) {
        if let current, current.serial == serial { phase = .trusted }
    }

    private mutating func takeOtherKey() {
        if secondary != nil { slot = slot == .primary ? .secondary : .primary }
    }
}
