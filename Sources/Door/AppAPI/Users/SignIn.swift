package import Basics
package import Crypto
import Dispatch
import EventLoop
package import GatewayAPI
import Observability
import Synchronization
package import UserTokens
package import Users

/// Says who the bearer of a token is, from the value of an `Authorization` header. Any thread may ask, and none waits.
package typealias TokenCheck = @Sendable (_ authorization: String?) -> TokenVerifier.Outcome

/// Tells who a client is from name and password (RFC 7617), or from a token (RFC 7519).
///
/// A password takes a processor for some 50 ms. So one thread checks them, a right one is remembered, those who failed wait before they
/// are checked again, and those who wait take turns. Any thread may ask, and none waits.
package final class SignIn: Sendable {
    package enum Outcome: Sendable, Equatable {
        case signedIn(Caller)
        /// There are no credentials, or they are wrong.
        case refused
        /// There is a token that does not count.
        case tokenRefused
        /// The key of a token may be one that was not read yet. Another try makes sense after so many milliseconds.
        case tokenKeyUnread(Int64)
        /// The credentials were not looked at, because others failed or wait; another try makes sense after so many milliseconds.
        case held(Int64)
        /// Too many wait; the credentials were not looked at.
        case overloaded
    }

    /// A password that waits to be checked.
    private struct Check: Sendable {
        let authorization: String
        let credentials: BasicCredentials
        let network: ClientNetwork
        let then: @Sendable (Outcome) -> Void

        func attempt(_ users: KnownUsers) -> SignInLimits.Attempt {
            SignInLimits.Attempt(from: network, as: credentials.name, isUser: users.file.user(named: credentials.name) != nil)
        }
    }

    private struct Waiting {
        var limits = SignInLimits()
        var turns = CheckTurns<Check>()
        var isClosed = false
    }

    private let users: UsersSource?
    private let allowsDemo: Bool
    private let checkToken: TokenCheck?
    private let services: GatewayServices
    /// Nothing else is locked while one of these two is held.
    private let verified: Mutex<VerifiedCredentials>
    private let waiting = Mutex(Waiting())
    /// Counts what waits, and one for the end.
    private let arrivals = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    /// Makes one whose thread does not run yet. Passwords wait until it does. No one has a password without `users`, and with
    /// `allowsDemo` everybody whose password is the name. Tokens count with `checkToken` alone. It fails when there is no entropy.
    package init(
        _ users: UsersSource?, allowsDemo: Bool, checkToken: TokenCheck? = nil, services: GatewayServices
    ) throws(CryptoError) {
        self.users = users
        self.allowsDemo = allowsDemo
        self.checkToken = checkToken
        self.services = services
        verified = Mutex(VerifiedCredentials(key: try randomBytes(32)))
    }

    /// Starts the thread that checks passwords; it holds `self` until ``stop()``.
    package func start() {
        thread.start(named: "pushfan-sign-in") { [self] in
            while let check = take() { check.then(outcome(of: check)) }
        }
    }

    /// Ends the thread, and waits up to 1 s for the check that is running; those that wait hear nothing any more.
    package func stop() {
        // Returned, so that what it holds ends outside the lock.
        _ = waiting.withLock { waiting -> CheckTurns<Check> in
            defer { waiting.turns = CheckTurns() }
            waiting.isClosed = true
            return waiting.turns
        }
        arrivals.signal()
        thread.waitForEnd(until: .now() + .seconds(1))
    }

    /// True where tokens count.
    package var takesTokens: Bool { checkToken != nil }

    /// True if the value of an `Authorization` header can sign a user in by its form: a name and a password, or a token where tokens count.
    package func takes(_ authorization: String?) -> Bool {
        BasicCredentials(authorization: authorization) != nil || takesTokens && Self.isBearer(authorization)
    }

    /// Checks the value of an `Authorization` header. `then` gets what came of it, once: before this returns where no password
    /// has to be checked, else on the thread that checks.
    package func check(_ authorization: String?, from address: NumericAddress?, then: @escaping @Sendable (Outcome) -> Void) {
        if let checkToken, Self.isBearer(authorization) { return then(outcome(of: checkToken(authorization))) }
        guard let authorization, let credentials = BasicCredentials(authorization: authorization) else {
            return then(count(.refused, as: "refused"))
        }
        if allowsDemo, credentials.areOfDemonstration {
            return then(count(.signedIn(Caller(name: credentials.name)), as: "demonstration"))
        }
        guard let users else { return then(count(.refused, as: "refused")) }
        let now = services.now()
        if let caller = remembered(authorization, among: users.current(now: now)) {
            return then(count(.signedIn(caller), as: "remembered"))
        }
        let network = ClientNetwork(address)
        let check = Check(authorization: authorization, credentials: credentials, network: network, then: then)
        if let refusal = put(check, knowing: users.latest(now: now)) {
            return then(count(refusal, as: refusal == .overloaded ? "overloaded" : "held"))
        }
        arrivals.signal()
    }

    /// True for the scheme of RFC 6750.
    private static func isBearer(_ authorization: String?) -> Bool {
        authorization.map { $0.utf8.prefix { $0 != UInt8(ascii: " ") }.elementsEqual("bearer".utf8) { $0 | 0x20 == $1 } } == true
    }

    private func outcome(of token: TokenVerifier.Outcome) -> Outcome {
        switch token {
        case .user(let name, let scopes): count(.signedIn(Caller(name: name, scopes: scopes)), as: "token")
        case .refused: count(.tokenRefused, as: "token_refused")
        case .unavailable(let wait): count(.tokenKeyUnread(wait), as: "token_unavailable")
        }
    }

    /// Lets a check wait for its turn, or returns why it must not wait.
    private func put(_ check: Check, knowing users: KnownUsers) -> Outcome? {
        let (attempt, now) = (check.attempt(users), services.now())
        return waiting.withLock { waiting -> Outcome? in
            guard !waiting.isClosed else { return .overloaded }
            switch waiting.limits.decision(on: attempt, now: now) {
            case .wait(let milliseconds): return .held(milliseconds)
            case .check(let rank):
                switch waiting.turns.put(check, from: check.network, rank: rank) {
                case .waits: return nil
                case .addressIsFull: return .held(1000)
                case .isFull: return .overloaded
                }
            }
        }
    }

    /// Waits for a check; nil after the end.
    private func take() -> Check? {
        arrivals.wait()
        return waiting.withLock { $0.isClosed ? nil : $0.turns.take() }
    }

    /// Checks a password, unless the same header was verified while it waited, or others of its address or name failed.
    private func outcome(of check: Check) -> Outcome {
        guard let users else { return count(.refused, as: "refused") }
        let known = users.latest(now: services.now())
        if let caller = remembered(check.authorization, among: known) { return count(.signedIn(caller), as: "remembered") }
        let (attempt, begun) = (check.attempt(known), services.now())
        if case .wait(let milliseconds) = waiting.withLock({ $0.limits.decision(on: attempt, now: begun) }) {
            return count(.held(milliseconds), as: "held")
        }
        do throws(CryptoError) {
            let name = try known.name(for: check.credentials)
            let now = services.now()
            waiting.withLock { name == nil ? $0.limits.noteFailure(of: attempt, now: now) : $0.limits.noteSuccess(of: attempt) }
            guard let name else { return count(.refused, as: "refused") }
            verified.withLock { $0.remember(check.authorization, name: name, generation: known.generation, now: now) }
            return count(.signedIn(Caller(name: name)), as: "verified")
        } catch {
            services.log.error(.internalFault, "a password could not be checked", [.reason: .string(error.description)])
            return count(.overloaded, as: "overloaded")
        }
    }

    private func remembered(_ authorization: String, among users: KnownUsers) -> Caller? {
        let now = services.now()
        return verified.withLock { $0.name(of: authorization, generation: users.generation, now: now) }.map { Caller(name: $0) }
    }

    private func count(_ outcome: Outcome, as label: String) -> Outcome {
        services.metrics.signIns.series([label]).increment()
        return outcome
    }
}
