import CRDKafka
import Dispatch
import Glibc
import Synchronization

/// A token with which a client logs in (SASL OAUTHBEARER).
public struct LoginToken: Sendable {
    /// The token itself, which is not looked into.
    public let text: String
    /// The name under which the library keeps it. Brokers go by the token alone.
    public let principal: String
    /// The time for which it is valid, a year at most.
    public let life: Duration
    /// Names and values that brokers get with it (RFC 7628).
    public let extensions: [(name: String, value: String)]

    /// A token that is valid for `life` from now on, which counts as a year if it is more.
    public init(_ text: String, principal: String, life: Duration, extensions: [(name: String, value: String)] = []) {
        self.text = text
        self.principal = principal
        self.life = min(life, .seconds(365 * 86_400))
        self.extensions = extensions
    }
}

/// The reason for which there is no token, without secrets.
public struct TokenFailure: Error, Sendable {
    /// One sentence for a person.
    public let reason: String

    /// A reason.
    public init(_ reason: String) { self.reason = reason }
}

/// Gets a token for all clients of a program, and another before it expires. Nothing is asked before the first client needs one.
///
/// It does what librdkafka does with `sasl.oauthbearer.method=oidc`, with the same properties: Debian builds librdkafka without libcurl,
/// and such a build refuses them.
public final class TokenKeeper: Sendable {
    /// Asks for a token, and waits for it.
    public typealias Fetch = @Sendable () throws(TokenFailure) -> LoginToken

    private struct State {
        var token: (value: LoginToken, expiry: ContinuousClock.Instant)?
        var failure: TokenFailure?
        var clients: [WeakClient] = []
        var hasBegun = false
    }

    /// The part of a token's life after which the next one is fetched. From four fifths on the library would ask for one.
    private static let renewal = 0.7
    private static let shortestWait = Duration.seconds(1)
    /// The wait after a failure.
    private static let pause = Duration.seconds(3)

    private let fetch: Fetch
    private let queue = DispatchQueue(label: "pushfan-tokens")
    /// Protects all of it, and the order in which a client hears of tokens. Nothing of ours is locked while it is held.
    private let state = Mutex(State())

    /// A keeper of what `fetch` gets, which is called on a thread of its own, once at a time.
    public init(_ fetch: @escaping Fetch) { self.fetch = fetch }

    /// Gives a new client the token of now, and each later one.
    func add(_ client: ClientHandle) {
        let begins = state.withLock { state in
            state.clients.removeAll { $0.client == nil }
            state.clients.append(WeakClient(client: client))
            if let current = Self.current(in: state) { client.take(current) }
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if begins { queue.async { [weak self] in self?.renew() } }
    }

    /// The reason for which clients have no valid token now, or nil where they have one or none was asked for yet.
    var failure: TokenFailure? {
        guard case .failure(let failure)? = state.withLock({ Self.current(in: $0) }) else { return nil }
        return failure
    }

    private func renew() {
        let result = Result { () throws(TokenFailure) in try fetch() }
        // Whoever has the last hold on a client destroys it, which takes time, so not under the lock.
        let told = state.withLock { state in
            switch result {
            case .success(let token): state.token = (token, .now + token.life)
            case .failure(let failure): state.failure = failure
            }
            let clients = state.clients.compactMap(\.client)
            // A token that is still valid is enough for the clients that have it.
            guard let current = Self.current(in: state), result.isSuccess || !current.isToken else { return clients }
            for client in clients { client.take(current) }
            return clients
        }
        withExtendedLifetime(told) {}
        let wait = (try? result.get()).map { max(Self.shortestWait, $0.life * Self.renewal) } ?? Self.pause
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(wait / .milliseconds(1)))) { [weak self] in self?.renew() }
    }

    private static func current(in state: State) -> Credential? {
        if let token = state.token, token.expiry > .now {
            return .token(token.value, milliseconds: Int64(ContinuousClock.now.duration(to: token.expiry) / .milliseconds(1)))
        }
        return state.failure.map { .failure($0) }
    }

    /// The token of now, or why there is none.
    enum Credential {
        case token(LoginToken, milliseconds: Int64)
        case failure(TokenFailure)

        var isToken: Bool { if case .token = self { true } else { false } }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

extension TokenKeeper {
    /// The beginning of the library's sentence about a failure of ours.
    static let failed = "Failed to acquire SASL OAUTHBEARER token: "

    /// The properties that are read here, and that the library must not see.
    static func reads(_ key: String) -> Bool {
        key.hasPrefix("sasl.oauthbearer.") && key != "sasl.oauthbearer.config" || key == "https.ca.location"
    }
}

extension KafkaConfiguration {
    /// The clients log in with tokens that a server gives for the properties `sasl.oauthbearer.client.id` and so on.
    public var fetchesTokens: Bool {
        Diagnosis(self).needsTokens && value(of: "sasl.oauthbearer.method")?.lowercased() == "oidc"
    }
}

extension ClientHandle {
    /// Logs in with a token from now on, or says why there is none.
    func take(_ credential: TokenKeeper.Credential) {
        switch credential {
        case .failure(let failure): rd_kafka_oauthbearer_set_token_failure(pointer, failure.reason)
        case .token(let token, let milliseconds):
            var reason = [CChar](repeating: 0, count: 256)
            let words = token.extensions.flatMap { pair -> [String] in [pair.name, pair.value] }
            let copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
            defer { for copy in copies { free(copy) } }
            var extensions: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            let expiry = Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000 + milliseconds
            let code = rd_kafka_oauthbearer_set_token(
                pointer, token.text, expiry, token.principal, &extensions, extensions.count, &reason, reason.count)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
            rd_kafka_oauthbearer_set_token_failure(pointer, "the token cannot be used: \(text(reason))")
        }
    }
}
