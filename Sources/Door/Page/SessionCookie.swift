import Basics
import HTTPServing

/// The cookie of a session (RFC 6265bis). No script may read it, and no other site's page makes a browser send it.
package enum SessionCookie {
    /// Hexadecimal digits of a secret, which has 256 bits.
    static let digitCount = 64

    /// The name over TLS, which alone a browser takes `__Host-` from (section 4.1.3.2).
    package static let secureName = "__Host-pushfan"

    /// The name for a scheme and the call's `Host`. In clear text it has the port: browsers give a cookie to every port of a host, and
    /// several gateways may be on one.
    package static func name(at host: String?, isSecure: Bool) -> String {
        guard !isSecure else { return secureName }
        let parts = (host ?? "").byteParts(between: ":")
        let port = parts.count > 1 ? parts[parts.count - 1] : ""
        return "pushfan-\((1...5).contains(port.utf8.count) && port.utf8.allSatisfy(\.isDigit) ? port : "80")"
    }

    /// The value of `Set-Cookie` that gives a secret to the caller of a `Host`, or removes the cookie for nil.
    static func text(_ secret: String?, at host: String?, isSecure: Bool) -> String {
        "\(name(at: host, isSecure: isSecure))=\(secret ?? ""); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
            + (secret == nil ? "; Max-Age=0" : "")
    }

    /// The secret that a call brings, or nil for none, for something else, or for two.
    static func secret(in headers: HTTPFields, isSecure: Bool) -> String? {
        let name = name(at: headers.single("Host"), isSecure: isSecure)
        var found: [Substring] = []
        for pair in (headers.list("Cookie", separator: "; ") ?? "").byteParts(between: ";") {
            let parts = Substring(pair.utf8.drop { $0 == UInt8(ascii: " ") }).byteParts(between: "=", atMost: 1)
            if parts.count == 2, parts[0] == name { found.append(parts[1]) }
        }
        guard found.count == 1, found[0].utf8.count == digitCount, found[0].utf8.allSatisfy(\.isHexadecimalDigit) else {
            return nil
        }
        return String(found[0])
    }
}
