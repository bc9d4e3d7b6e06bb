import Basics
import HTTPServing

/// The cookie of a session (RFC 6265bis). No script may read it, and no other site's page makes a browser send it.
enum SessionCookie {
    /// Hexadecimal digits of a secret, which has 256 bits.
    static let digitCount = 64

    /// The name. With `__Host-` a browser takes it over TLS alone, and from this host alone (section 4.1.3.2).
    static func name(isSecure: Bool) -> String { isSecure ? "__Host-pushfan" : "pushfan" }

    /// The value of `Set-Cookie` that gives a secret, or removes the cookie for nil.
    static func text(_ secret: String?, isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=\(secret ?? ""); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
            + (secret == nil ? "; Max-Age=0" : "")
    }

    /// The secret that a call brings, or nil for none, for something else, or for two.
    static func secret(in headers: HTTPFields, isSecure: Bool) -> String? {
        let name = name(isSecure: isSecure)
        var found: [Substring] = []
        for field in headers.all where field.name.equalsIgnoringCase("Cookie") {
            for pair in field.value.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0] == name { found.append(parts[1]) }
            }
        }
        guard found.count == 1, found[0].utf8.count == digitCount, found[0].utf8.allSatisfy(\.isHexadecimalDigit) else {
            return nil
        }
        return String(found[0])
    }
}
