extension TokenVerifier {
    /// The tokens that count, and the place of the keys that sign them.
    public struct Configuration: Sendable {
        /// The place of the issuer's public keys, a set as RFC 7517 has it.
        public enum Source: Sendable, Equatable {
            /// A file, which is read again when it changes.
            case file(String)
            /// An `https` address, or an `http` address of this machine. It is asked without any secret, and does not lead elsewhere.
            case url(String)
        }

        /// The issuer that tokens must name.
        public var issuer: String
        /// The audiences, of which a token must name one. At least one.
        public var audiences: [String]
        /// The place of the keys.
        public var source: Source
        /// The PEM file of the authorities that vouch for the address instead of the system's.
        public var authorityFile: String?
        /// The time by which the issuer's clock may differ, at most a day. Default 60 s.
        public var clockSkew = Duration.seconds(60)
        /// The claim with the user's name. Default `sub`.
        public var userClaim = "sub"
        /// The claim with the scopes. Default none: users may do all that users may.
        public var scopesClaim: String?
        /// The time between two reads of the address, at least 1 s. Default 10 min.
        public var refresh = Duration.seconds(600)
        /// The variables in which to look for a proxy to the address. Default none.
        public var environment: [String: String] = [:]

        /// Settings with all others at their defaults.
        ///
        /// - Parameters:
        ///   - issuer: See `issuer`.
        ///   - audiences: See `audiences`.
        ///   - source: See `source`.
        public init(issuer: String, audiences: [String], source: Source) {
            (self.issuer, self.audiences, self.source) = (issuer, audiences, source)
        }
    }

    /// The reason for which tokens cannot be verified with some settings.
    public enum Problem: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is no issuer, or no audience, or an empty one.
        case expectations
        /// The file with the keys, and the end of a sentence about it.
        case file(path: String, reason: String)
        /// The address of the keys is none that is asked.
        case address
        /// The address cannot be asked with these settings.
        case connection(reason: String)
        /// The system has no descriptor left.
        case system(reason: String)

        /// One sentence for people.
        public var description: String {
            switch self {
            case .expectations: "tokens need an issuer and at least one audience"
            case .file(let path, let reason): "'\(path)' \(reason)"
            case .address: "keys come from an https address without a password in it, or from an http address of this machine"
            case .connection(let reason): "the address of the keys cannot be asked: \(reason)"
            case .system(let reason): reason
            }
        }
    }
}
