public import Basics
import Crypto

/// A shared-access-signature token: the value of an `Authorization` header for a hub.
///
/// `SharedAccessSignature sr={encoded URI}&sig={encoded signature}&se={expiry}&skn={policy}`, where the signature is the
/// base64 of an HMAC-SHA256 over `sr` as it is written there, a line feed, and `se`.
public struct SASToken: Sendable {
    /// A client's spelling of the two parts that clients spell differently.
    public struct Style: Sendable {
        let resource: PercentEncoding
        let signature: PercentEncoding

        /// Describes a client's spelling.
        ///
        /// - Parameters:
        ///   - resource: Encoder of the lower-cased URI.
        ///   - signature: Encoder of the signature and of the policy's name.
        public init(resource: PercentEncoding, signature: PercentEncoding) {
            self.resource = resource
            self.signature = signature
        }

        /// The .NET SDK's spelling, which this project sends.
        public static let dotNet = Style(resource: .dotNet, signature: .dotNet)
    }

    /// The header's value, ASCII, which is a secret until it expires.
    public let headerValue: [UInt8]
    /// The time when it stops being valid: seconds since 1970, UTC.
    public let expiry: Int64
    /// The number of the token in its cache, counted from 1, or 0 for a token made outside of a cache.
    public internal(set) var serial: UInt64 = 0

    /// Signs a token.
    ///
    /// - Parameters:
    ///   - resource: The URI that the token is for, or a prefix of it; lower-cased here.
    ///   - policy: The policy's name.
    ///   - key: One of the policy's keys.
    ///   - expiry: Seconds since 1970, UTC.
    ///   - style: The client's spelling. Default .NET's.
    /// - Returns: The token.
    /// - Throws: `HubAuthError.signing`.
    public static func sign(
        resource: String, policy: String, key: SecretKey, expiry: Int64, style: Style = .dotNet
    ) throws(HubAuthError) -> SASToken {
        let scope = style.resource.encode(resource.utf8.lowercased)
        let signature = try signature(scope: scope[...], expiry: Array(String(expiry).utf8)[...], key: key)
        var header = Array("SharedAccessSignature sr=".utf8)
        header += scope
        header += "&sig=".utf8
        header += style.signature.encode(signature)
        header += "&se=\(expiry)&skn=".utf8
        header += style.signature.encode(policy.utf8)
        return SASToken(headerValue: header, expiry: expiry)
    }

    /// The base64 signature of `sr` and `se` as they stand in a header, not yet percent-encoded.
    static func signature(
        scope: ArraySlice<UInt8>, expiry: ArraySlice<UInt8>, key: SecretKey
    ) throws(HubAuthError) -> [UInt8] {
        do {
            return Base64.encode(try HMACSHA256.code(of: scope + [0x0A] + expiry, key: key.bytes))
        } catch {
            throw .signing(error)
        }
    }
}

extension SASToken: Concealed {
    /// The expiry, never the signature.
    public var description: String { "SASToken(expires: \(expiry))" }
}

extension PercentEncoding {
    /// The encoder of .NET's `HttpUtility.UrlEncode`, which the .NET SDK uses throughout.
    public static let dotNet = PercentEncoding(leaving: "-_.!*()", writesSpaceAsPlus: true, hexCase: .lower)
}
