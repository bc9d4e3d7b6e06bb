package import Basics
import Crypto
package import GatewayAPI
package import Keys
import Observability
import PushModel
import Synchronization

/// The keys that sessions of the page stand for.
package protocol SessionKeys: Sendable {
    /// The present by which keys expire, in seconds since 1970.
    var wallClock: @Sendable () -> Int64 { get }
    /// Checks a key, and gives it if it is right.
    func check(_ presented: PresentedKey?, from address: NumericAddress?) -> (outcome: KeyOutcome, key: APIKey?)
    /// Checks a key that was right when a session began, and gives it with its present terms if it still is. The call counts as the key's.
    func check(again key: APIKey) -> (outcome: KeyOutcome, key: APIKey?)
    /// The holder of a key that was right when a session began, or nil if it is not right any more. Counts as no call.
    func publisher(of key: APIKey) -> Publisher?
}

/// Begins, checks and ends the sessions of the web page. A session is its key: each call asks the keys file whether that still is right, and
/// counts as the key's.
///
/// Any thread may ask, and none waits.
package final class SessionKeeper: Sendable {
    /// A session as its holder may see it.
    package struct Facts: Sendable, Equatable {
        package let publisher: Publisher
        /// The time at which it is over at the latest.
        let expiresAt: Timestamp
    }

    private let keys: any SessionKeys
    private let services: GatewayServices
    /// No other lock is taken while it is held.
    private let sessions = Mutex(Sessions<APIKey>())

    init(_ keys: any SessionKeys, services: GatewayServices) {
        self.keys = keys
        self.services = services
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - text: The key that a person has typed.
    ///   - address: The address of the person's browser.
    /// - Returns: The secret for the cookie, and the session.
    /// - Throws: 401 for a wrong key, 429 after too many of them or beyond the key's rate, and 503 without entropy.
    package func begin(_ text: String, from address: NumericAddress?) throws(APIProblem) -> (secret: String, facts: Facts) {
        let (outcome, key) = keys.check(PresentedKey(text), from: address)
        let publisher = try outcome.publisher(orRefuse: .keyWrong)
        guard let key else { throw .keyWrong }
        do throws(CryptoError) {
            let secret = Hexadecimal.digits(of: try randomBytes(SessionCookie.digitCount / 2))
            let (digest, now) = (SHA256.digest(of: secret), services.now())
            sessions.withLock { $0.begin(digest, of: key, now: now) }
            let end = now.advanced(by: Sessions<APIKey>.longestLife)
            return (String(decoding: secret, as: UTF8.self), facts(publisher, of: key, until: end, now: now))
        } catch {
            services.log.error(.internalFault, "a session could not begin", [.reason: .string(error.description)])
            throw .overloaded(after: 1000)
        }
    }

    /// Checks a session for a call, which counts as its key's.
    ///
    /// - Throws: 401 when it is over or its key is not right any more, and 429 beyond the key's rate.
    package func check(_ secret: String) throws(APIProblem) -> Facts {
        let now = services.now()
        let digest = Self.digest(of: secret)
        guard let session = sessions.withLock({ $0.use(digest, now: now) }) else { throw .sessionOver }
        let (outcome, key) = keys.check(again: session.key)
        if outcome == .refused { sessions.withLock { $0.end(digest) } }
        return facts(try outcome.publisher(orRefuse: .sessionOver), of: key ?? session.key, until: session.end, now: now)
    }

    /// True as long as a session is there and its key has the same rights. A stream that goes on is a use of its session, and no call.
    package func isOpen(_ secret: String, for publisher: Publisher) -> Bool {
        let now = services.now()
        let digest = Self.digest(of: secret)
        guard let session = sessions.withLock({ $0.use(digest, now: now) }) else { return false }
        return keys.publisher(of: session.key) == publisher
    }

    /// Ends a session, if there is one.
    package func end(_ secret: String) {
        let digest = Self.digest(of: secret)
        sessions.withLock { $0.end(digest) }
    }

    private func facts(_ publisher: Publisher, of key: APIKey, until end: MonotonicTime, now: MonotonicTime) -> Facts {
        let seconds = keys.wallClock() + end.nanoseconds(since: now) / 1_000_000_000
        return Facts(publisher: publisher, expiresAt: Timestamp(milliseconds: min(seconds, key.terms.expiresAt ?? .max) * 1000))
    }

    private static func digest(of secret: String) -> [UInt8] { SHA256.digest(of: Array(secret.utf8)) }
}
