/// Findings about the keys with which a gateway checks the tokens of users.
package enum TokenFindings {
    /// The outcome of reading the keys.
    package enum Outcome: Sendable, Equatable {
        /// So many can be used.
        case read(Int)
        /// None came in time.
        case silent
        /// They cannot be read, or the settings are wrong, for this reason.
        case unusable(String)
    }

    /// Judges keys that were read from the place that `setting` names.
    package static func of(_ outcome: Outcome, at setting: String) -> Finding {
        let check = "tokens"
        return switch outcome {
        case .read(let count) where count > 0:
            .ok(check, of: setting, text: "the issuer's keys can be read, and \(count) can check tokens")
        case .read:
            .failure(
                check, of: setting, text: "the issuer's set has no key that can check tokens",
                mend: "give the address or a file of the issuer's set of RSA or P-256 keys", cause: .configuration)
        case .silent:
            .failure(
                check, of: setting, text: "no keys came in time, so no token signs in",
                mend: "look at the address from here, for example with curl -v, and at gateway.jwt.ca_file", cause: .unreachable)
        case .unusable(let reason):
            .failure(check, of: setting, text: reason, mend: "correct the settings of gateway.jwt", cause: .configuration)
        }
    }
}
