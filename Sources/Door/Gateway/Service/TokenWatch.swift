import Basics
import Dispatch
import EventLoop
import GatewayAPI
import Observability
import UserTokens

/// Checks the tokens of users, and tells health and metrics how the keys are that it does so with.
final class TokenWatch: Sendable {
    private let verifier: TokenVerifier
    private let check: HealthCheck
    private let now: @Sendable () -> MonotonicTime

    /// Makes the watch of a gateway that takes tokens, or returns nil for another.
    static func make(_ configuration: GatewayConfiguration, services: GatewayServices) throws(GatewayFailure) -> TokenWatch? {
        guard let tokens = configuration.tokens else { return nil }
        do {
            return TokenWatch(try TokenVerifier(tokens, log: services.log, now: services.now), services: services)
        } catch {
            throw .configuration("gateway.jwt: \(error)")
        }
    }

    private init(_ verifier: TokenVerifier, services: GatewayServices) {
        self.verifier = verifier
        now = services.now
        check = services.health.check("tokens", for: .ready, until: "no key of gateway.jwt was read yet")
        services.metrics.readTokenKeys { [weak self] in self?.age }
    }

    /// Says who the bearer of a token is.
    var checkToken: @Sendable (String?) -> TokenVerifier.Outcome { { [verifier] in verifier.check($0) } }

    /// Reads keys from now on.
    func start() {
        verifier.start()
        updateCheck()
    }

    /// Reads no more keys.
    func stop() { verifier.stop() }

    /// Nanoseconds since the keys could be read last. 0 while they can.
    private var age: Int64 {
        guard case .stale(let since) = verifier.state else { return 0 }
        return max(0, now().nanoseconds(since: since))
    }

    /// Sets the check every second, as long as there is a gateway. Stale keys count, so they make nothing unready.
    private func updateCheck() {
        switch verifier.state {
        case .waiting: break
        case .healthy:
            check.pass()
            check.degrade(nil)
        case .stale:
            check.pass()
            check.degrade("the keys of gateway.jwt could not be read for \(age / 1_000_000_000) s; those from before count")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.updateCheck() }
    }
}
