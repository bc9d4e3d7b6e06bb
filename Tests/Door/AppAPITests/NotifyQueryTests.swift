@testable import GatewayAPI
@testable import AppAPI
import HTTPServing
import PushModel
import Testing

struct NotifyQueryTests {
    private func read(_ query: String, isAlwaysSecure: Bool = false) throws(APIProblem) -> NotifyQuery {
        let request = HTTPServerRequest(method: "POST", target: "/api/notifications?\(query)")
        return try NotifyQuery(request.percentDecodedQuery, isAlwaysSecure: isAlwaysSecure)
    }

    @Test(
        arguments: [
            ("", nil, nil, false), ("pns=apns&to_tag=bob", .apple, "bob", false), ("PNS=APNS&To_Tag=Bob", .apple, "Bob", false),
            ("pns=gcm&to_tag=bob", .fcmv1, "bob", false), ("pns=fcm&to_tag=bob", .fcmv1, "bob", false),
            ("pns=fcmV1&to_tag=bob", .fcmv1, "bob", false), ("pns=apple&to_tag=bob", .apple, "bob", false),
            ("pns=wns&to_tag=bob", .windows, "bob", false),
            // A plus is a plus, and only %xx is decoded.
            ("pns=wns&to_tag=bob+x@example.org", .windows, "bob+x@example.org", false),
            ("pns=wns&to_tag=a%20b%2Bc", .windows, "a b+c", false),
            ("pns=wns&to_tag=%ED%95%9C", .windows, "한", false), ("pns=wns&to_tag=bob&x=1&y", .windows, "bob", false),
            ("secure=true", nil, nil, true), ("Secure=TRUE&to_tag=bob", nil, "bob", true), ("secure=false", nil, nil, false),
            ("pns=&to_tag=", nil, nil, false), ("pns=wns&to_tag=a=b", .windows, "a=b", false),
        ] as [(String, Platform?, String?, Bool)])
    func queriesAreRead(_ query: String, platform: Platform?, recipient: String?, isSecure: Bool) throws {
        let read = try read(query)
        #expect(read.platform == platform && read.recipient == recipient && read.isSecure == isSecure)
    }

    @Test func everyPushCanBeSecure() throws {
        #expect(try read("", isAlwaysSecure: true).isSecure)
        #expect(try read("to_tag=bob", isAlwaysSecure: true).recipient == "bob")
    }

    @Test(arguments: [
        "pns=apns", "to_tag=bob", "pns=apns&to_tag=", "pns=mpns&to_tag=bob", "pns=foo&to_tag=bob", "pns=browser&to_tag=bob",
        "pns=apns&to_tag=%20bob", "pns=apns&to_tag=a%0Ab", "pns=apns&to_tag=a%00", "secure=yes", "pns=apns&pns=wns&to_tag=bob",
        "secure=true&secure=true",
        // What somebody types as the recipient does not name another one.
        "pns=apns&to_tag=bob&to_tag=carol", "pns=apns&secure=true",
    ])
    func whatCannotBeMeantIs400(_ query: String) throws {
        let problem = try #require(throws: APIProblem.self) { try read(query) }
        #expect(problem.status == 400)
    }

    @Test func aNameThatNobodyHasIs400() throws {
        let name = String(repeating: "n", count: 256)
        let problem = try #require(throws: APIProblem.self) { try read("pns=apns&to_tag=\(name)") }
        #expect(problem.status == 400)
        #expect(try read("pns=apns&to_tag=\(name.dropLast())").recipient?.count == 255)
    }

    @Test func aBodyIsOneJSONString() throws {
        let json = "application/json"
        #expect(try NotifyBody.text(Array(#""Hi \"Bob\" \u00e9""#.utf8), contentType: json) == #"Hi "Bob" é"#)
        #expect(try NotifyBody.text(Array(" \"\" ".utf8), contentType: "application/json; charset=utf-8") == "")
        #expect(try NotifyBody.text([], contentType: nil) == nil)
    }

    /// The apps put quotes around a text and escape nothing.
    @Test(arguments: [#""He said "Hi"""#, #""a\q""#, "\"a\nb\"", "Hi", "null", "1", "{}", #"["Hi"]"#, "\"a"])
    func whatIsNoStringIs400AndNotGuessed(_ body: String) throws {
        let problem = try #require(throws: APIProblem.self) {
            try NotifyBody.text(Array(body.utf8), contentType: "application/json")
        }
        #expect(problem.status == 400)
    }

    @Test func aBodyOfAnotherTypeOrSizeIsRefused() throws {
        let large = [UInt8](repeating: 0x20, count: NotifyBody.maximumByteCount + 1)
        let tooLarge = try #require(throws: APIProblem.self) { try NotifyBody.text(large, contentType: nil) }
        let otherType = try #require(throws: APIProblem.self) { try NotifyBody.text([0x31], contentType: "text/plain") }
        #expect(tooLarge.status == 413 && otherType.status == 415)
    }
}
