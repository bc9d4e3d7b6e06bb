import Crypto
import Dispatch
import EventLoop
import Foundation
import Observability
import Synchronization
import Users

/// Tells who a client is from name and password (RFC 7617).
///
/// A password takes a processor for some 50 ms. So one thread checks them, a right one is remembered for 60 s, and no more than 64 may
/// wait. Any thread may ask, and none waits.
final class SignIn: Sendable {
    /// What came of it.
    enum Outcome: Sendable, Equatable {
        /// A user has signed in.
        case signedIn(Caller)
        /// There are no credentials, or they are wrong.
        case refused
        /// Too many wait; the credentials were not looked at.
        case overloaded
    }

    /// A password that waits to be checked.
    private struct Check: Sendable {
        let authorization: String
        let credentials: BasicCredentials
        let then: @Sendable (Outcome) -> Void
    }

    private let users: UsersSource?
    private let allowsDemo: Bool
    private let services: GatewayServices
    /// Nothing else is locked while one of these two is held.
    private let verified: Mutex<VerifiedCredentials>
    private let admission = Mutex(CheckAdmission())
    private let checks = BoundedQueue<Check>(limit: CheckAdmission.limit)
    private let ended = DispatchSemaphore(value: 0)

    /// Makes one whose thread does not run yet; passwords wait until it does.
    ///
    /// - Parameters:
    ///   - users: Who may sign in; nil for no one.
    ///   - allowsDemo: Whether everybody may whose password is the name.
    ///   - services: Log, metrics and clock.
    /// - Throws: `CryptoError.openSSL` when there is no entropy.
    init(_ users: UsersSource?, allowsDemo: Bool, _ services: GatewayServices) throws(CryptoError) {
        self.users = users
        self.allowsDemo = allowsDemo
        self.services = services
        verified = Mutex(VerifiedCredentials(key: try randomBytes(32)))
    }

    /// Starts the thread that checks passwords; it holds `self` until ``stop()``.
    func start() {
        let thread = Thread { [self] in
            while let check = checks.take() {
                let result = outcome(of: check)
                admission.withLock { $0.leave() }
                check.then(result)
            }
            ended.signal()
        }
        thread.name = "pushfan-sign-in"
        thread.start()
    }

    /// Ends the thread, and waits up to 1 s for the check that is running; those that wait hear nothing any more.
    func stop() {
        checks.close()
        _ = ended.wait(timeout: .now() + .seconds(1))
    }

    /// Looks at the value of an `Authorization` header.
    ///
    /// - Parameters:
    ///   - authorization: The value; nil when there is none.
    ///   - then: Gets what came of it, once: before this returns where no password has to be checked, else on the thread that checks.
    func check(_ authorization: String?, then: @escaping @Sendable (Outcome) -> Void) {
        guard let authorization, let credentials = BasicCredentials(authorization: authorization) else {
            return then(count(.refused, "refused"))
        }
        if allowsDemo, credentials.areOfDemonstration {
            return then(count(.signedIn(Caller(name: credentials.name)), "demonstration"))
        }
        guard let users else { return then(count(.refused, "refused")) }
        if let caller = remembered(authorization, users.users(now: services.now())) {
            return then(count(.signedIn(caller), "remembered"))
        }
        guard admission.withLock({ $0.enter() }) else { return then(count(.overloaded, "overloaded")) }
        guard checks.put(Check(authorization: authorization, credentials: credentials, then: then)) else {
            admission.withLock { $0.leave() }
            return then(count(.overloaded, "overloaded"))
        }
    }

    /// Checks a password, unless the same header was verified while it waited.
    private func outcome(of check: Check) -> Outcome {
        guard let users else { return count(.refused, "refused") }
        let known = users.users(now: services.now())
        if let caller = remembered(check.authorization, known) { return count(.signedIn(caller), "remembered") }
        do throws(CryptoError) {
            guard let name = try known.name(for: check.credentials) else { return count(.refused, "refused") }
            let now = services.now()
            verified.withLock { $0.remember(check.authorization, name: name, generation: known.generation, now: now) }
            return count(.signedIn(Caller(name: name)), "verified")
        } catch {
            services.log.error(.internalFault, "a password could not be checked", [.reason: .string(error.description)])
            return count(.overloaded, "overloaded")
        }
    }

    private func remembered(_ authorization: String, _ users: KnownUsers) -> Caller? {
        let now = services.now()
        return verified.withLock { $0.name(of: authorization, generation: users.generation, now: now) }.map { Caller(name: $0) }
    }

    private func count(_ outcome: Outcome, _ label: String) -> Outcome {
        services.metrics.signIns.series([label]).increment()
        return outcome
    }
}
