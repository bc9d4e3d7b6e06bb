@testable import Page
@testable import GatewayAPI
import HTTPServing
import Testing

/// The rules by which a call with a cookie is the page's own, and the cookie itself.
@Suite struct CallOriginTests {
    private static func headers(_ fields: [String]) -> HTTPFields {
        var headers = HTTPFields()
        for field in fields {
            let parts = field.split(separator: ":", maxSplits: 1)
            headers.append(String(parts[0]), value: String(parts[1].dropFirst()))
        }
        return headers
    }

    /// The fields beside `Host: h:1`, and whether reading, writing in clear text, and writing over TLS are the page's own.
    static let calls: [(fields: [String], reads: Bool, writes: Bool, writesSecurely: Bool)] = [
        (["Sec-Fetch-Site: same-origin"], true, true, true), (["Sec-Fetch-Site: none"], true, false, false),
        (["Sec-Fetch-Site: same-site"], false, false, false), (["Sec-Fetch-Site: cross-site"], false, false, false),
        (["Sec-Fetch-Site: x"], false, false, false), (["Sec-Fetch-Site: SAME-ORIGIN"], false, false, false),
        (["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-origin"], false, false, false),
        (["Sec-Fetch-Site: cross-site", "Origin: http://h:1"], false, false, false),
        (["Sec-Fetch-Site: same-origin", "Origin: null"], true, true, true),
        ([], true, false, false), (["Origin: http://h:1"], true, true, false), (["Origin: https://h:1"], true, false, true),
        (["Origin: HTTP://H:1"], true, true, false), (["Origin: http://h"], true, false, false),
        (["Origin: http://h:12"], true, false, false), (["Origin: http://h:1/"], true, false, false),
        (["Origin: null"], true, false, false), (["Origin: http://h:1", "Origin: http://h:1"], true, false, false),
        (["Origin: http://h:1", "Host: g"], true, false, false),
    ]

    @Test(arguments: calls)
    func onlyThePageMayUseItsCookie(_ row: (fields: [String], reads: Bool, writes: Bool, writesSecurely: Bool)) {
        let headers = Self.headers(["Host: h:1"] + row.fields)
        func isForeign(_ method: String, isSecure: Bool) -> Bool {
            CallOrigin.isForeign(HTTPServerRequest(method: method, target: "/x", headers: headers), isSecure: isSecure)
        }
        for method in ["GET", "HEAD"] { #expect(isForeign(method, isSecure: false) == !row.reads) }
        for method in ["POST", "PUT", "PATCH", "DELETE", "x"] {
            #expect(isForeign(method, isSecure: false) == !row.writes)
            #expect(isForeign(method, isSecure: true) == !row.writesSecurely)
        }
    }

    /// `Origin`, `Host`, and whether they are the same in clear text and over TLS.
    static let authorities: [(origin: String, host: String, plain: Bool, secure: Bool)] = [
        ("http://h", "h:80", true, false), ("http://h:80", "h", true, false), ("http://H:80", "h:80", true, false),
        ("https://h", "h:443", false, true), ("https://h:443", "H", false, true), ("https://h", "h", false, true),
        ("http://h:443", "h", false, false), ("https://h:80", "h", false, false), ("http://h", "h:443", false, false),
        ("http://h", "h:8080", false, false), ("http://h:180", "h:1", false, false), ("http://h", "h:", true, false),
        ("http://[::1]", "[::1]:80", true, false), ("https://[::1]:443", "[::1]", false, true),
        ("http://[::1]:8080", "[::1]:8080", true, false), ("http://[::1]", "[::2]", false, false), ("http://", "", false, false),
        ("https://h", "http://h", false, false), ("http://\u{212A}", "k", false, false),
    ]

    @Test(arguments: authorities) func thePortOfASchemeNeedNotBeSaid(origin: String, host: String, plain: Bool, secure: Bool) {
        let call = HTTPServerRequest(method: "POST", target: "/x", headers: ["Origin": origin, "Host": host])
        #expect(CallOrigin.isForeign(call, isSecure: false) == !plain)
        #expect(CallOrigin.isForeign(call, isSecure: true) == !secure)
    }

    @Test func withoutAHostNothingIsWritten() {
        let call = HTTPServerRequest(method: "POST", target: "/x", headers: ["Origin": "http://"])
        #expect(CallOrigin.isForeign(call, isSecure: false))
    }

    @Test func theCookieIsForTheGatewayAlone() {
        #expect(
            SessionCookie.text("a", at: "h:1", isSecure: true) == "__Host-pushfan=a; Path=/; HttpOnly; SameSite=Strict; Secure")
        #expect(SessionCookie.text("a", at: "h:1", isSecure: false) == "pushfan-1=a; Path=/; HttpOnly; SameSite=Strict")
        #expect(SessionCookie.text(nil, at: "h:1", isSecure: true).hasSuffix("; Secure; Max-Age=0"))
        #expect(SessionCookie.text(nil, at: "h:1", isSecure: false).hasPrefix("pushfan-1=; ") == true)
    }

    private static let secret = String(repeating: "0a", count: 32)

    static let cookies: [(fields: [String], isSecure: Bool, isFound: Bool)] = [
        (["pushfan-1=\(secret)"], false, true), (["a=b; pushfan-1=\(secret);c=d"], false, true),
        (["a=b", "pushfan-1=\(secret)"], false, true),
        // A mark in front of a semicolon is one character with it.
        (["a=\u{600}; pushfan-1=\(secret)"], false, true),
        (["__Host-pushfan=\(secret)"], true, true), (["__Host-pushfan=\(secret)"], false, false),
        (["pushfan-1=\(secret)"], true, false),
        (["pushfan-1=\(secret); pushfan-1=\(secret)"], false, false),
        (["pushfan-1=\(secret)", "pushfan-1=\(secret)"], false, false),
        (["pushfan-1=\(secret)0"], false, false), (["pushfan-1="], false, false), (["pushfan-2=\(secret)"], false, false),
        (["pushfan-1"], false, false),
        ([";;=; ="], false, false),
        (["pushfan-1=\(secret.dropLast())z"], false, false), (["Pushfan=\(secret)"], false, false), ([], false, false),
    ]

    @Test(arguments: cookies) func theSecretIsReadFromOneCookie(fields: [String], isSecure: Bool, isFound: Bool) {
        let headers = Self.headers(["Host: h:1"] + fields.map { "cookie: \($0)" })
        #expect(SessionCookie.secret(in: headers, isSecure: isSecure) == (isFound ? Self.secret : nil))
    }

    /// The peer, whether it came over TLS, the forwarded scheme, and whether the scheme is `https`. 127.0.0.1 and 10.0.0.1 are trusted.
    static let schemes: [(peer: String, isSecure: Bool, forwarded: String?, isHTTPS: Bool)] = [
        ("127.0.0.1:5", false, nil, false), ("127.0.0.1:5", true, nil, true), ("127.0.0.1:5", false, "https", true),
        ("127.0.0.1:5", false, "HTTPS", true), ("127.0.0.1:5", false, "https, http", true), ("127.0.0.1:5", false, "http", false),
        ("127.0.0.1:5", false, "", false), ("127.0.0.2:5", false, "https", false), ("[::1]:5", false, "https", false),
        ("[::ffff:127.0.0.1]:5", false, "https", true), ("10.0.0.1:5", false, nil, true), ("10.0.0.1:5", false, "http", true),
        ("203.0.113.1:5", false, nil, true), ("", false, nil, true),
    ]

    @Test(arguments: schemes)
    func inClearTextOnlyThisMachineCalls(peer: String, isSecure: Bool, forwarded: String?, isHTTPS: Bool) throws {
        let headers: HTTPFields = forwarded.map { ["X-Forwarded-Proto": $0] } ?? [:]
        let call = HTTPServerRequest(method: "GET", target: "/", headers: headers, remoteAddress: peer, isSecure: isSecure)
        #expect(try TrustedProxies(["127.0.0.1", "10.0.0.1"]).hasSecureScheme(call) == isHTTPS)
    }
}
