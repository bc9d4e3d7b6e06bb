import Crypto
import TestSupport
import Testing

@testable import Users

@Suite(.tags(.c)) struct BasicCredentialsTests {
    /// Whether a header has this name and this password.
    private func fits(_ authorization: String, _ name: String, _ password: String) throws -> Bool {
        let credentials = try #require(BasicCredentials(authorization: authorization))
        var file = UsersFile()
        try file.set(name, hash: hashed(password))
        return try credentials.name == name && file.users[0].hash.matches(Array(password.utf8))
            && KnownUsers(file).name(for: credentials) == name
    }

    /// The first two are the examples of RFC 7617, section 2 and 2.1.
    @Test(arguments: [
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"), ("Basic dGVzdDoxMjPCow==", "test", "123£"),
        ("basic dGVzdDoxMjPCow==", "test", "123£"), ("BASIC   dGVzdDoxMjPCow== ", "test", "123£"),
        ("Basic YWxpY2U6YTpiOg==", "alice", "a:b:"),
    ])
    func headersAreRead(authorization: String, name: String, password: String) throws {
        #expect(try fits(authorization, name, password))
    }

    @Test(arguments: ["bob+x@example.org", "지은", "a b", String(repeating: "n", count: 255)])
    func everyLegalNameIsRead(name: String) throws {
        for password in ["p", "ü", ":", "::", " p ", String(repeating: "p", count: 1024)] {
            #expect(try fits(header(name, password), name, password))
        }
    }

    @Test func anEmptyPasswordIsReadAndNobodys() throws {
        let credentials = try #require(BasicCredentials(authorization: "Basic YWxpY2U6"))
        #expect(credentials.name == "alice")
        var file = UsersFile()
        try file.set("alice", hash: hashed("secret"))
        #expect(try KnownUsers(file).name(for: credentials) == nil)
    }

    /// Among them: no colon, control characters in name and password, a password and a name that are not UTF-8.
    @Test(
        arguments: [
            nil, "", "Basic", "Basic ", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "BasicQWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZR==",
            "Basic QWxhZGRpbjpv cGVuIHNlc2FtZQ==", "Basic ====", "Basic YWxpY2U=", "Basic YWwBaWNlOng=", "Basic YWxpY2U6eH8=",
            "Basic YWxpY2U6/w==", "Basic 6Tp4", "Basic alice:x", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==,Basic eDp4",
        ] as [String?])
    func whatIsNoHeaderOfItsKindIsRefused(authorization: String?) {
        #expect(BasicCredentials(authorization: authorization) == nil)
    }

    @Test func whatIsTooLongIsRefused() {
        let long = String(repeating: "x", count: 256)
        #expect(BasicCredentials(authorization: header(long, "p")) == nil)
        #expect(BasicCredentials(authorization: header("alice", String(repeating: "x", count: 1025))) == nil)
        #expect(BasicCredentials(authorization: header("alice", String(repeating: "x", count: 1_000_000))) == nil)
        #expect(BasicCredentials(authorization: "Basic " + String(repeating: " ", count: 5000) + "eDp4") == nil)
    }

    @Test(
        arguments: [
            (Array("x".utf8), true), (Array("a:b ü".utf8), true), ([UInt8](repeating: 0x78, count: 1024), true), ([], false),
            ([UInt8](repeating: 0x78, count: 1025), false), ([0xFF], false), ([0x78, 0x0A, 0x78], false), ([0x7F], false),
        ] as [([UInt8], Bool)])
    func passwordsThatNoHeaderCanHaveAreRefused(_ password: [UInt8], isLegal: Bool) {
        #expect(BasicCredentials.isLegalPassword(password) == isLegal)
    }

    @Test(
        arguments: [
            ("alice", "alice", true), ("Zoë", "Zoë", true), ("Zo\u{EB}", "Zoe\u{308}", false), ("alice", "Alice", false),
            ("alice", "", false), ("", "", false), (" a", " a", false), ("a\u{85}", "a\u{85}", false),
        ] as [(String, String, Bool)])
    func demonstrationsAskForALegalNameTwice(name: String, password: String, isOne: Bool) throws {
        #expect(try credentials(name, password).areOfDemonstration == isOne)
    }

    @Test func noPasswordIsShown() throws {
        let credentials = try credentials("alice", "hunter2")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("hunter2")) }
    }

    @Test func theChallengeNamesRealmAndCharset() {
        #expect(BasicCredentials.challenge == #"Basic realm="pushfan", charset="UTF-8""#)
    }

    @Test func onlyNameAndPasswordOfOneUserFit() throws {
        var file = UsersFile()
        try file.set("alice", hash: hashed("one"))
        try file.set("bob", hash: hashed("two"))
        let users = try KnownUsers(file)
        #expect(try users.name(for: credentials("alice", "one")) == "alice")
        let wrong = [("alice", "two"), ("Alice", "one"), ("bob", "one"), ("carol", "one"), ("", "one"), ("alice", "")]
        for (name, password) in wrong {
            #expect(try users.name(for: credentials(name, password)) == nil)
        }
        #expect(try KnownUsers(UsersFile()).name(for: credentials("alice", "one")) == nil)
    }

    @Test func somebodyUnknownCostsWhatAWrongPasswordCosts() throws {
        var file = UsersFile()
        #expect(try KnownUsers(file).costOfNobody == .standard)
        try file.set("alice", hash: hashed("one"))
        #expect(try KnownUsers(file).costOfNobody == cheap)
    }
}
