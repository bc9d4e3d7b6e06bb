import JobSupport
import KafkaCare
import Observability
import Settings
import UserTokens

/// Reads the keys with which a gateway checks the tokens of users, as the gateway does.
enum TokenProbe {
    /// The finding, or none where no tokens are taken.
    static func findings(_ settings: Settings, timeout: Duration) -> [Finding] {
        let setting = "gateway.jwt." + (settings.gateway.tokens.keysURL == nil ? "keys_file" : "keys_url")
        do throws(SettingsError) {
            guard let configuration = try settings.tokenConfiguration() else { return [] }
            return [TokenFindings.of(outcome(configuration, timeout: timeout), at: setting)]
        } catch {
            let reason = error.problems.map(\.description).joined(separator: "; ")
            return [TokenFindings.of(.unusable(reason), at: "gateway.jwt")]
        }
    }

    /// A file is read at once, and an address within the time.
    private static func outcome(_ configuration: TokenVerifier.Configuration, timeout: Duration) -> TokenFindings.Outcome {
        let verifier: TokenVerifier
        do throws(TokenVerifier.Problem) {
            verifier = try TokenVerifier(configuration, log: .silent)
        } catch {
            return .unusable(error.description)
        }
        guard case .url = configuration.source else { return .read(verifier.keyCount) }
        verifier.start()
        defer { verifier.stop() }
        let end = ContinuousClock.now + timeout
        while ContinuousClock.now < end, !Interruption.isRequested {
            if verifier.state == .healthy { return .read(verifier.keyCount) }
            Pause.sleep(.milliseconds(20))
        }
        return .silent
    }
}
