import Dispatch
import EventLoop
import GatewayAPI
import Observability
import UserTokens

/// Checks the tokens of users, and tells health and metrics how the keys are that it does so with.
final class TokenWatch: Sendable {
    private let verifier: TokenVerifier
    private let check: HealthCheck

    /// Makes the watch of a gateway that takes tokens, or returns nil for another. A file of keys that cannot be used is a failure.
    static func make(_ configuration: GatewayConfiguration, services: GatewayServices) throws(GatewayFailure) -> TokenWatch? {
        guard let tokens = configuration.tokens else { return nil }
        do throws(TokenVerifier.Problem) {
            return TokenWatch(try TokenVerifier(tokens, log: services.log, now: services.now), services: services)
        } catch {
            switch error {
            case .file: throw .configuration("gateway.jwt.keys_file: \(error)")
            case .address, .connection: throw .configuration("gateway.jwt.keys_url: \(error)")
            case .expectations: throw .configuration("gateway.jwt: \(error)")
            case .system(let reason): throw .system(reason)
            }
        }
    }

    private init(_ verifier: TokenVerifier, services: GatewayServices) {
        self.verifier = verifier
        check = services.health.check("tokens", for: .ready, until: "no key of gateway.jwt was read yet")
        services.metrics.readTokenKeys { [weak self] in self?.age }
        updateCheck()
    }

    /// Says who the bearer of a token is.
    var checkToken: @Sendable (String?) -> TokenVerifier.Outcome { { [verifier] in verifier.check($0) } }

    /// Reads keys from now on.
    func start() { verifier.start() }

    /// Reads no more keys.
    func stop() { verifier.stop() }

    /// Nanoseconds since when the keys could not be read. 0 while they can.
    private var age: Int64 {
        guard case .stale(let since) = verifier.state else { return 0 }
        return max(0, WallClock.millisecondsSince1970() - since) * 1_000_000
    }

    /// Sets the check every second, as long as there is a gateway. Stale keys count, so they make nothing unready, and nor do keys that the
    /// issuer has withdrawn.
    private func updateCheck() {
        if verifier.keyCount > 0 { check.pass() }
        let age = age / 1_000_000_000
        if age > 0 {
            check.degrade("the keys of gateway.jwt could not be read for \(age) s; those from before count")
        } else {
            check.degrade(verifier.keyCount > 0 ? nil : "the issuer lists no key that gateway.jwt can use, so no token counts")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.updateCheck() }
    }
}
