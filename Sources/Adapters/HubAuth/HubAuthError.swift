public import Crypto

/// The reason that a connection string, a hub's name or a signing setting was refused. No case carries a secret.
public enum HubAuthError: Error, Equatable, Sendable {
    /// A field that every connection string needs.
    public enum Field: String, Sendable, CaseIterable {
        /// The address at which the namespace answers.
        case endpoint = "Endpoint"
        /// The policy.
        case keyName = "SharedAccessKeyName"
        /// The policy's key.
        case key = "SharedAccessKey"
    }

    /// The fault of the `Endpoint` field, in words.
    public enum EndpointProblem: String, Sendable, CaseIterable {
        /// No `scheme://` at the start, or another scheme.
        case scheme = "it must begin with sb://, https:// or http://"
        /// `http` to a host that is not this machine.
        case plainHTTP = "http:// is accepted for localhost, 127.0.0.0/8 and [::1] only; use sb:// or https://"
        /// A user name or password before the host.
        case userInfo = "a user name or password (something before @) is not allowed"
        /// A `?`.
        case query = "a query (something after ?) is not allowed"
        /// A `#`.
        case fragment = "a fragment (something after #) is not allowed"
        /// A control character, a space, a backslash or anything beyond ASCII.
        case character = "it holds a character that is not allowed in a URL"
        /// Nothing between `://` and the next `/` or `:`.
        case noHost = "the host is missing"
        /// Not a DNS name, an IPv4 address or an IPv6 address in brackets.
        case host = "the host is neither a DNS name nor an IP address (IPv6 needs brackets)"
        /// Not a number in 1…65535.
        case port = "the port must be a number from 1 to 65535"
        /// An empty, `.` or `..` segment.
        case path = "the path holds an empty segment or a segment of dots"
    }

    /// A part between two semicolons has no `=`. `part` counts from 1.
    case noEqualsSign(part: Int)
    /// A field is absent.
    case missing(Field)
    /// A field is there without a value.
    case empty(Field)
    /// A field is given more than once.
    case duplicate(Field)
    /// A field's value holds a control character.
    case controlCharacter(Field)
    /// A field's value is longer than `limit` bytes.
    case tooLong(Field, limit: Int)
    /// The endpoint cannot be used.
    case endpoint(EndpointProblem)
    /// A hub's name breaks the naming rules.
    case hubName
    /// A token's life lies outside 5 min … 24 h.
    case tokenLifetime(seconds: Int64)
    /// Signing failed.
    case signing(CryptoError)
}

extension HubAuthError: CustomStringConvertible {
    /// One plain sentence that names the field and never shows its value.
    public var description: String {
        switch self {
        case .noEqualsSign(let part):
            "part \(part) of the connection string has no '='; it is Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…"
        case .missing(let field): "the connection string has no \(field.rawValue)"
        case .empty(let field): "\(field.rawValue) in the connection string is empty"
        case .duplicate(let field): "\(field.rawValue) is in the connection string more than once"
        case .controlCharacter(let field): "\(field.rawValue) in the connection string holds a control character"
        case .tooLong(let field, let limit): "\(field.rawValue) in the connection string is longer than \(limit) bytes"
        case .endpoint(let problem): "Endpoint in the connection string cannot be used: \(problem.rawValue)"
        case .hubName:
            "a hub's name is 1 to 260 letters, digits, '.', '-' and '_'; it begins and ends with a letter or a digit"
        case .tokenLifetime(let seconds): "a token's life of \(seconds) s is outside of 300 s to 86400 s"
        case .signing(let error): "signing a token failed: \(error)"
        }
    }
}
