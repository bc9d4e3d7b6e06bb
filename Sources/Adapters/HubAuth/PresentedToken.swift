import Basics
import Crypto

/// The parts of a token that a client sent. `sr` and `se` stay as they were received, since the signature covers them so.
struct PresentedToken {
    private let scope: ArraySlice<UInt8>
    private let expiry: ArraySlice<UInt8>
    private let signature: [UInt8]
    private let audience: [UInt8]
    /// Decoded and raw: some clients encode the name and some do not.
    private let policyNames: [[UInt8]]

    /// Takes a header's value apart. Throws `SASRefusal.missingToken`, as when there is none, or `.malformedToken`.
    init(parsing header: String?) throws(SASRefusal) {
        guard let header, let (scheme, rest) = Array(header.utf8)[...].trimmed.split(atFirst: 0x20),
            scheme.lowercased.elementsEqual("sharedaccesssignature".utf8)
        else { throw .missingToken }
        var parts: [String: ArraySlice<UInt8>] = [:]
        for pair in rest.trimmed.split(separator: UInt8(ascii: "&")) {
            guard let (name, value) = pair.split(atFirst: UInt8(ascii: "=")), !value.isEmpty,
                parts.updateValue(value, forKey: name.text) == nil
            else { throw .malformedToken }
        }
        guard let scope = parts["sr"], let expiry = parts["se"], let name = parts["skn"],
            let signature = parts["sig"].flatMap(Self.decoded), let audience = Self.decoded(scope)
        else { throw .malformedToken }
        self.scope = scope
        self.expiry = expiry
        self.signature = signature
        self.audience = audience
        policyNames = [Self.decoded(name), Array(name)].compactMap(\.self)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? { PercentEncoding.decode(text, plusIsBlank: true) }

    /// Seconds since 1970, or nil when `se` is not a decimal number of 64 bits.
    var expirySeconds: Int64? { expiry.allSatisfy(\.isDigit) ? Int64(expiry.text) : nil }

    /// True if the token names this policy.
    func isIssued(by policy: String) -> Bool {
        policyNames.contains { $0.elementsEqual(policy.utf8) }
    }

    /// True if this key made the signature. One that cannot be computed fits nothing.
    func isSigned(with key: SecretKey) -> Bool {
        guard let expected = try? SASToken.signature(scope: scope, expiry: expiry, key: key) else { return false }
        return constantTimeEqual(expected, signature)
    }

    /// True if the audience is the requested resource or lies above it at a `/`. A `host` of nil accepts any.
    func covers(host: String?, path: String) -> Bool {
        var granted = audience.lowercased.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let colon = granted.firstIndex(of: UInt8(ascii: ":")), granted[colon...].starts(with: "://".utf8) {
            granted = granted[(colon + 3)...]
        }
        let grantedHost = Self.withoutPort(granted.prefix { $0 != UInt8(ascii: "/") })
        var grantedPath = granted.drop { $0 != UInt8(ascii: "/") }
        while grantedPath.last == UInt8(ascii: "/") { grantedPath.removeLast() }
        let isGrantedHost = host.map { Self.withoutPort($0.utf8.lowercased[...]) == grantedHost } ?? !grantedHost.isEmpty
        return isGrantedHost
            && Self.segments(path.utf8.prefix { $0 != UInt8(ascii: "?") }).starts(with: Self.segments(grantedPath))
    }

    /// The segments of a path, each decoded by itself: `%24batch` and `$batch` are the same resource (RFC 3986, 6.2.2.2).
    private static func segments(_ path: some Sequence<UInt8>) -> [[UInt8]] {
        Array(path).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            (PercentEncoding.decode(segment, plusIsBlank: false) ?? Array(segment)).lowercased
        }
    }

    private static func withoutPort(_ authority: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority[colon...].dropFirst().allSatisfy(\.isDigit)
        else { return authority }
        return authority[..<colon]
    }
}
