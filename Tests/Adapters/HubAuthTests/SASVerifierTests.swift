import HubAuth
import Testing

struct SASVerifierTests {
    static let verifier = SASVerifier(policies: [
        SASPolicy(name: "Other", keys: [SecretKey("other")], rights: .all),
        SASPolicy(name: Vector.policy, keys: [SecretKey("old"), Vector.key], rights: .all),
        SASPolicy(name: "Listener", keys: [Vector.key], rights: .listen),
        SASPolicy(name: "policy one+", keys: [Vector.key], rights: .send),
    ])

    private func verdict(
        _ header: String?, host: String = "127.0.0.1:8800", path: String = "/newshub/messages", anyOf rights: SASRights = .send,
        now: Int64 = Vector.expiry - 1, by verifier: SASVerifier = verifier
    ) -> SASRefusal? {
        do throws(SASRefusal) {
            try verifier.verify(authorization: header, host: host, path: path, anyOf: rights, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyClientsTokenIsAccepted() throws {
        for header in try Vector.clients() {
            #expect(verdict(header) == nil)
            #expect(verdict(header, path: "/newshub/messages?api-version=2020-06&direct") == nil)
            #expect(verdict(header, path: "/NewsHub/Messages/") == nil)
            #expect(verdict(header, path: "/newshub/messages/$batch") == nil)
        }
    }

    @Test func thePolicyThatSignedIsReturned() throws {
        let header = try Vector.signed("http://h/newshub/", policy: "Listener")
        let policy = try Self.verifier.verify(
            authorization: header, host: "h", path: "/newshub/installations/1", anyOf: [.listen, .manage], now: 0)
        #expect(policy.name == "Listener")
    }

    @Test(arguments: [["sig", "se", "skn", "sr"], ["se", "sig", "skn", "sr"], ["skn", "sr", "unknown", "se", "sig"]])
    func pairsMayStandInAnyOrder(_ order: [String]) throws {
        for header in try Vector.clients() {
            let pairs = try #require(header.split(separator: " ").dropFirst().first).split(separator: "&")
            let sorted = order.map { name in pairs.first { $0.hasPrefix(name + "=") } ?? "unknown=1" }
            #expect(verdict("sharedaccesssignature  " + sorted.joined(separator: "&")) == nil)
        }
    }

    @Test func policyNamesMayBeEncodedOrNot() throws {
        let header = try Vector.signed("http://h/newshub/", policy: "policy one+")
        #expect(header.hasSuffix("skn=policy+one%2b"))
        #expect(verdict(header) == nil)
        #expect(verdict(header.replacing("skn=policy+one%2b", with: "skn=policy%20one%2B")) == nil)
        #expect(verdict(header.replacing("skn=policy+one%2b", with: "skn=policy one+")) == nil)
    }

    @Test(arguments: [nil, "", "SharedAccessSignature", "Bearer abc", "Basic sr=a&sig=b&se=1&skn=c"])
    func aMissingTokenIsSaidToBeMissing(_ header: String?) {
        #expect(verdict(header) == .missingToken)
    }

    @Test(arguments: [
        "sr=a", "sig=b&se=1&skn=c", "sr=a&se=1&skn=c", "sr=a&sig=b&skn=c", "sr=a&sig=b&se=1", "sr=&sig=b&se=1&skn=c",
        "sr=a&sr=a&sig=b&se=1&skn=c", "sr=a&sig=b&se=1&skn=c&x", "sr=%zz&sig=b&se=1&skn=c", "sr=a&sig=%4&se=1&skn=c",
        "SR=a&sig=b&se=1&skn=c",
        "&&&", "=&=", "sr=a&sig=%&se=1&skn=c",
    ])
    func brokenTokensAreMalformed(_ pairs: String) {
        #expect(verdict("SharedAccessSignature " + pairs) == .malformedToken)
    }

    @Test func namesSignaturesAndTimesAreChecked() throws {
        let header = try Vector.clients()[0]
        #expect(verdict(header.replacing("skn=Default", with: "skn=default")) == .unknownPolicy)
        #expect(verdict(header.replacing("skn=DefaultFullSharedAccessSignature", with: "skn=%ff")) == .unknownPolicy)
        #expect(verdict(header.replacing("newshub", with: "newshuc")) == .invalidSignature)
        #expect(verdict(header.replacing("se=1767225600", with: "se=1767225601")) == .invalidSignature)
        #expect(verdict(header.replacing("sig=z", with: "sig=y")) == .invalidSignature)
        #expect(verdict(header.replacing("%3a", with: "%3A")) == .invalidSignature)
        #expect(verdict(header.replacing("%2b", with: "+")) == .invalidSignature)
        #expect(verdict(try Vector.signed("http://h/newshub/", key: SecretKey("wrong"))) == .invalidSignature)
        #expect(verdict(try Vector.signed("http://h/newshub/", key: SecretKey("old"))) == nil)
        #expect(verdict(header, now: Vector.expiry) == .expiredToken)
        #expect(verdict(try Vector.signed("http://h/newshub/", expiry: -5)) == .expiredToken)
        #expect(verdict(try Vector.signed("http://h/newshub/", expiry: 64_000_000_000), now: 3_000_000_000) == nil)
    }

    @Test func theAllowedClockSkewExtendsALife() throws {
        let policy = SASPolicy(name: Vector.policy, keys: [Vector.key], rights: .all)
        let verifier = SASVerifier(policies: [policy], allowedClockSkew: 60)
        let header = try Vector.clients()[0]
        #expect(verdict(header, now: Vector.expiry + 59, by: verifier) == nil)
        #expect(verdict(header, now: Vector.expiry + 60, by: verifier) == .expiredToken)
    }

    @Test(arguments: [
        ("http://h/newshub/messages", "/newshub/messages", true), ("http://h/newshub", "/newshub", true), ("http://h", "/", true),
        ("sb://h/newshub/", "/newshub/x", true), ("h/newshub", "/newshub/x", true), ("http://h:9/newshub///", "/newshub/x", true),
        ("http://h/newshub?api-version=1#f", "/newshub/x", true), ("http://h/news", "/newshub/x", false),
        ("http://h/newshub/m", "/newshub/messages", false), ("http://h/newshub/messages", "/newshub", false),
        ("http://h/newshub/messages", "/other/messages", false), ("http:///newshub", "/newshub", false), ("?", "/newshub", false),
        ("http://h/a%2fb", "/a/b", false), ("http://h/a%2fb", "/a%2Fb", true),
        // An SDK signs the path as it writes it, or decoded, or encoded once more.
        ("http://h/hub/messages/$batch", "/hub/messages/%24batch", true),
        ("http://h/hub/messages/%24BATCH", "/hub/messages/$batch", true),
        ("http://h/hub/tags/jos%c3%a9/registrations/", "/hub/tags/jos%C3%A9/registrations", true),
        ("http://h/hub/%", "/hub/%", true),
        ("http://h/hub/%2564", "/hub/d", false),
    ])
    func theAudienceMustBeTheResourceOrAboveIt(_ resource: String, path: String, isCovered: Bool) throws {
        #expect(verdict(try Vector.signed(resource), path: path) == (isCovered ? nil : .invalidAudience))
    }

    @Test func hostsAreComparedOnRequestOnlyAndWithoutPort() throws {
        let policy = SASPolicy(name: Vector.policy, keys: [Vector.key], rights: .all)
        let verifier = SASVerifier(policies: [policy], comparesHost: true)
        let header = try Vector.signed("http://H.example:1/newshub/")
        #expect(verdict(header, host: "h.Example:8800", by: verifier) == nil)
        #expect(verdict(header, host: "i.example", by: verifier) == .invalidAudience)
        #expect(verdict(try Vector.signed("http://[::1]:80/newshub/"), host: "[::1]", by: verifier) == nil)
    }

    @Test func rightsAreThePolicys() throws {
        let header = try Vector.signed("http://h/newshub/", policy: "Listener")
        #expect(verdict(header, anyOf: .listen) == nil)
        #expect(verdict(header, anyOf: [.listen, .manage]) == nil)
        #expect(verdict(header, anyOf: .send) == .claimMissing(anyOf: .send))
        #expect(verdict(header, anyOf: .manage) == .claimMissing(anyOf: .manage))
    }

    @Test func answersAreTheRecordedOnes() {
        #expect(SASRefusal.invalidSignature.detail == "InvalidSignature: The token has an invalid signature.")
        #expect(SASRefusal.claimMissing(anyOf: .manage).detail == "Manage claim is required for this operation.")
        #expect(SASRefusal.claimMissing(anyOf: .manage).status == 401)
        #expect(SASRefusal.claimMissing(anyOf: .send).detail == nil)
        #expect(SASRefusal.claimMissing(anyOf: [.listen, .manage]).status == 403)
        for refusal in [SASRefusal.missingToken, .malformedToken, .unknownPolicy, .expiredToken, .invalidAudience] {
            #expect(refusal.status == 401)
            #expect(refusal.detail?.hasSuffix(".") == true)
        }
    }

    @Test func rightsAreReadByName() {
        #expect(SASRights(names: "Listen,send,MANAGE") == .all)
        #expect(SASRights(names: "Send") == .send)
        for wrong in ["", ",", "Send,", "Send, Listen", "Write"] { #expect(SASRights(names: wrong) == nil) }
    }
}
