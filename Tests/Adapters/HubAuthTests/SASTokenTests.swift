import Basics
import Crypto
import HubAuth
import TestSupport
import Testing

/// The vectors of the protocol reference; V1 to V5 are five clients' spellings of tokens for one hub.
enum Vector {
    static let key = SecretKey("bXkta2V5LWlzLW5vdC1kZWNvZGVkLWZyb20tYmFzZTY0ISE=")
    static let expiry: Int64 = 1_767_225_600
    static let policy = "DefaultFullSharedAccessSignature"
    static let host = "contoso-push.servicebus.windows.net"

    /// Java's `URLEncoder`: upper-case digits in the signature; the URI is lower-cased once more after encoding.
    static let java = SASToken.Style(
        resource: PercentEncoding(leaving: ".-*_", writesSpaceAsPlus: true, hexCase: .lower),
        signature: PercentEncoding(leaving: ".-*_", writesSpaceAsPlus: true, hexCase: .upper))
    /// JavaScript's `encodeURIComponent`.
    static let javaScript = SASToken.Style(
        resource: PercentEncoding(leaving: "-_.!~*'()", writesSpaceAsPlus: false, hexCase: .upper),
        signature: PercentEncoding(leaving: "-_.!~*'()", writesSpaceAsPlus: false, hexCase: .upper))
    /// Go's `QueryEscape`.
    static let go = SASToken.Style(
        resource: PercentEncoding(leaving: "-_.~", writesSpaceAsPlus: true, hexCase: .upper),
        signature: PercentEncoding(leaving: "-_.~", writesSpaceAsPlus: true, hexCase: .upper))
    /// Python's `quote`, which leaves `/` in the signature.
    static let python = SASToken.Style(
        resource: PercentEncoding(leaving: "-_.~", writesSpaceAsPlus: false, hexCase: .lower),
        signature: PercentEncoding(leaving: "-_.~/", writesSpaceAsPlus: false, hexCase: .upper))

    static func signed(
        _ resource: String, _ style: SASToken.Style = .dotNet, policy: String = policy, key: SecretKey = key,
        expiry: Int64 = expiry
    ) throws -> String {
        let token = try SASToken.sign(resource: resource, policy: policy, key: key, expiry: expiry, style: style)
        return String(decoding: token.headerValue, as: UTF8.self)
    }

    /// V1 … V5.
    static func clients() throws -> [String] {
        [
            try signed("http://\(host)/newshub/messages/"),
            try signed("https://Contoso-Push.servicebus.windows.net/NewsHub/messages?api-version=2020-06", java),
            try signed("https://\(host)/", javaScript),
            try signed("https://\(host)", go),
            try signed("https://\(host)/newshub", python),
        ]
    }
}

@Suite(.tags(.c)) struct SASTokenTests {
    @Test func theFiveClientsSpellingsAreReproduced() throws {
        let scope = "contoso-push.servicebus.windows.net"
        let expected = [
            ("http%3a%2f%2f\(scope)%2fnewshub%2fmessages%2f", "zGZoZ6JXuWmfiJMo0FuKqu%2brxV0WP0KWRaiogw6oBAM%3d"),
            (
                "https%3a%2f%2f\(scope)%2fnewshub%2fmessages%3fapi-version%3d2020-06",
                "QptvP90220AO0s224pvoIMGPmTE8F7oTeXkvjVpzrWA%3D"
            ),
            ("https%3A%2F%2F\(scope)%2F", "uy9cG41zuMVuDI69HT8A2FwYs6MSI3epfrETvfW35HY%3D"),
            ("https%3A%2F%2F\(scope)", "sRvODXAkOqocwf6vyADguh8d9Q5E53Xnb%2BBpj5hdV5Q%3D"),
            ("https%3a%2f%2f\(scope)%2fnewshub", "scB8TS5i4WB8SmB%2BWmsYQRrc8Rtw732xEVDRZ6K61E8%3D"),
        ]
        let headers = expected.map { "SharedAccessSignature sr=\($0)&sig=\($1)&se=1767225600&skn=\(Vector.policy)" }
        #expect(try Vector.clients() == headers)
    }

    @Test func anEscapedPathIsEscapedAgainAndAPolicyNameIsEncoded() throws {
        let header = try Vector.signed(
            "http://\(Vector.host)/newshub/tags/username:jos%c3%a9/registrations/", policy: "policy one")
        let scope = "http%3a%2f%2f\(Vector.host)%2fnewshub%2ftags%2fusername%3ajos%25c3%25a9%2fregistrations%2f"
        let signature = "NUrvfZvsyj5ugEBpkvid2cxabyl73IQ0uhZZqVtshJ4%3d"
        #expect(header == "SharedAccessSignature sr=\(scope)&sig=\(signature)&se=1767225600&skn=policy+one")
    }

    @Test(arguments: [
        (
            "http://127.0.0.1:8765/newshub", "localkey", "http%3a%2f%2f127.0.0.1%3a8765%2fnewshub",
            "TIDWI%2boNDPy72L3RI8hkq%2fdBUqOcuNgNQwv75fC5z4k%3d"
        ),
        (
            "http://127.0.0.1/newshub/", "пароль-ключ", "http%3a%2f%2f127.0.0.1%2fnewshub%2f",
            "GZXhSl4nK%2fuevOEkJEJmhHRsPzwz%2b629Cy2HFtOMqhc%3d"
        ),
    ])
    func portsAndKeysBeyondASCIIAreSigned(_ resource: String, key: String, scope: String, signature: String) throws {
        let header = try Vector.signed(resource, policy: "RootManage", key: SecretKey(key), expiry: 1_700_000_000)
        #expect(header == "SharedAccessSignature sr=\(scope)&sig=\(signature)&se=1700000000&skn=RootManage")
    }

    @Test func theGoAndJavaScriptSuitesVectorsAreReproduced() throws {
        let header = try Vector.signed(
            "https://testhub-ns.servicebus.windows.net", Vector.go, policy: "p", key: SecretKey("testAccessKey"), expiry: 123)
        let scope = "https%3A%2F%2Ftesthub-ns.servicebus.windows.net"
        let signature = "cy3Y21BlsAw8slr5TnmSM3pilYBC8T7k3oNqOUKvE2g%3D"
        #expect(header == "SharedAccessSignature sr=\(scope)&sig=\(signature)&se=123&skn=p")

        let code = Base64.encode(try HMACSHA256.code(of: Array("mydata".utf8), key: Array("mysecretkey".utf8)))
        let encoder = PercentEncoding(leaving: "-_.!~*'()", writesSpaceAsPlus: false, hexCase: .upper)
        #expect(
            String(decoding: encoder.encode(code), as: UTF8.self) == "u0JTQtSbhCo8r7%2BYr%2FRNiJOs7%2FVwDireHAXovvLBbXo%3D")
    }

    @Test(arguments: [
        "6ch5Sh19xcxMTfwwqnTc3+LLSk+6fQTVGhqLgXUy58U=", "YSZK9e/6XBVn6AzWZNtS4fOhm7XC/gTd2gWWQH5B+Hc=",
        "UwOdaXaUQHmeYDmMXKXXd0oqEa5ULBp/RfdXpF05P08=", "fHFC48bfx8EiEYkVmzYhPBPOQy0C8/OT8v2jrPGtFd4=",
        "uOEkzIzT9LjzLn+GdEzVCROSFkecm+R91iIjefb47MI=",
    ])
    func theClassicMistakesAreNotMade(_ wrong: String) throws {
        let header = try Vector.signed("http://\(Vector.host)/newshub/messages/")
        let encoded = String(decoding: PercentEncoding.dotNet.encode(wrong.utf8), as: UTF8.self)
        #expect(!header.contains(encoded))
        // The wrong signature would be refused, too.
        let forged = header.replacing("zGZoZ6JXuWmfiJMo0FuKqu%2brxV0WP0KWRaiogw6oBAM%3d", with: encoded)
        #expect(forged != header)
        let policy = SASPolicy(name: Vector.policy, keys: [Vector.key], rights: .all)
        #expect(throws: SASRefusal.invalidSignature) {
            try SASVerifier(policies: [policy]).verify(
                authorization: forged, host: Vector.host, path: "/newshub/messages", anyOf: .send, now: 0)
        }
    }

    @Test func nothingThatIsPrintedShowsTheSignature() throws {
        let token = try SASToken.sign(resource: "http://h/hub/", policy: "p", key: SecretKey("CANARY"), expiry: 9)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains("SharedAccessSignature"))
            #expect(!text.contains("sig="))
        }
    }
}
