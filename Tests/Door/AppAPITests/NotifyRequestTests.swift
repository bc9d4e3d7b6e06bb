import DoorStage
@testable import AppAPI
import FanOut
import Payloads
import PushModel
import TestSupport
import Testing

struct NotifyRequestTests {
    private static let noon = Timestamp(milliseconds: 1_795_176_000_000)

    private func request(
        _ text: NotificationText, to recipient: String = "bob", from sender: String = "alice", on platform: Platform? = nil,
        tracksOutcome: Bool = false
    ) throws -> NotifyRequest {
        let users = try People().users
        return NotifyRequest(
            id: "0190-1", to: users.tag(of: recipient), from: users.tag(of: sender), text: text, on: platform,
            createdAt: Self.noon,
            timeToLive: 3_600_000, tracksOutcome: tracksOutcome)
    }

    /// Reads the record as strictly as a publisher would.
    private func read(_ request: NotifyRequest) throws -> PushRequest {
        var read = PushRequest()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Self.noon)
        let reading = RequestReader(.strict).read(request.json.span, headers: RecordHeaders(), origin: origin, into: &read)
        try #require(reading == .request, "\(reading)")
        return read
    }

    /// The body that the worker would send.
    private func body(_ text: NotificationText, on platform: Platform) throws -> (body: String, headers: String) {
        var formatter = PayloadFormatter()
        var rendered = RenderedPayload()
        try formatter.format(read(request(text, on: platform)), for: platform, now: Self.noon, into: &rendered)
        return (rendered.body.text, rendered.headers.text)
    }

    private static let message = NotificationText.message(from: "alice", text: "Hi")
    private static let opening = #"<toast><visual><binding template="ToastText01"><text id="1">"#
    private static let closing = "</text></binding></visual></toast>"

    private static func toast(_ text: String) -> String { opening + text + closing }

    @Test(
        arguments: [
            (message, .apple, #"{"aps":{"alert":"From alice: Hi"}}"#),
            (message, .fcmv1, #"{"message":{"data":{"message":"From alice: Hi"}}}"#),
            (message, .windows, toast("From alice: Hi")), (.own("Hi"), .apple, #"{"aps":{"alert":"Hi"}}"#),
            (.own("Hi"), .fcmv1, #"{"message":{"data":{"message":"Hi"}}}"#), (.own("Hi"), .windows, toast("Hi")),
            (.greeting(user: "alice"), .apple, #"{"aps":{"alert":"Hello"}}"#),
            (.greeting(user: "alice"), .fcmv1, #"{"message":{"data":{"msg":"Hello"}}}"#),
            (.greeting(user: "alice"), .windows, toast("Hello, alice")),
            (.secure(id: "s-1"), .apple, #"{"aps":{"content-available":1},"secureId":"s-1"}"#),
            (.secure(id: "s-1"), .fcmv1, #"{"message":{"data":{"secureId":"s-1"}}}"#), (.secure(id: "s-1"), .windows, "s-1"),
        ] as [(NotificationText, Platform, String)])
    func devicesGetTheTutorialsTexts(_ text: NotificationText, platform: Platform, expected: String) throws {
        #expect(try body(text, on: platform).body == expected)
    }

    @Test func aSecurePushShowsNothing() throws {
        let apple = try body(.secure(id: "s-1"), on: .apple).headers
        #expect(apple.contains("apns-push-type: background\r\n") && apple.contains("apns-priority: 5\r\n"))
        #expect(try body(.secure(id: "s-1"), on: .windows).headers.contains("X-WNS-Type: wns/raw\r\n"))
        #expect(try body(Self.message, on: .windows).headers.contains("X-WNS-Type: wns/toast\r\n"))
    }

    @Test func noTextLeavesItsPlace() throws {
        let text = #"<&'"> \ "},"badge":9,"# + "\n\t\u{0}👋"
        let bodies = try NotificationText.platforms.map { try body(.message(from: #"a"<b"#, text: text), on: $0).body }
        for json in bodies[0...1] {
            var document = JSONDocument()
            try document.read(Array(json.utf8).span)
            #expect(document.childCount(of: document.root) == 1)
            #expect(json.contains(#"\"badge\":9"#))
        }
        let beginning = Self.opening + "From a&quot;&lt;b: &lt;&amp;&apos;&quot;&gt; \\ "
        #expect(bodies[2].hasPrefix(beginning) && bodies[2].hasSuffix(Self.closing))
    }

    @Test(arguments: 0..<100) func everyTextComesThroughUnchanged(seed: Int) throws {
        var random = SeededRandom(seed)
        let letters = Array("ab<>&\"'\\/{}[]:, \n\r\t\u{1}é한👋\u{2028}")
        let text = String((0..<random.below(60)).map { _ in letters[random.below(letters.count)] })
        var document = JSONDocument()
        try document.read(Array(body(.own(text), on: .apple).body.utf8).span)
        let aps = try #require(document.member("aps", of: document.root))
        let alert = try #require(document.member("alert", of: aps))
        #expect(document.string(document.text(of: alert)) == text)
    }

    @Test func theRecordSaysWhoSendsToWhomAndHowLong() throws {
        let read = try read(request(Self.message, on: .apple, tracksOutcome: true))
        #expect(read.document.string(read.id) == "0190-1" && read.createdAt == Self.noon)
        #expect(read.expiresAt == Self.noon.adding(seconds: 3600) && read.options.trackOutcome == true)
        let labels = try #require(read.labels)
        let sender = try #require(read.document.member("from", of: labels))
        #expect(read.document.string(read.document.text(of: sender)) == "alice")
        #expect(FanOutPlanner().platforms(of: read) == PlatformSet(.apple))
        #expect(try self.read(request(Self.message)).options.trackOutcome == nil)
    }

    /// An array of tags would be OR at the hub: whoever is tagged `from:alice` would get it, too.
    @Test func theTagOfTheRecipientAloneIsAddressed() throws {
        for name in ["bob", "é", String(repeating: "n", count: 200)] {
            var plan = FanOutPlan()
            try FanOutPlanner().plan(read(request(Self.message, to: name, on: .windows)), into: &plan)
            let call = try #require(plan.calls.first)
            guard plan.calls.count == 1, call.platform == .windows, case .tags(let tags) = call.target else {
                Issue.record("another call")
                continue
            }
            let span = plan.span(tags)
            let expected = try People().users.tag(of: name).text
            #expect(String(decoding: span.indices.map { span[$0] }, as: UTF8.self) == expected)
        }
    }

    @Test func withoutAPlatformAllOfThemAreAddressed() throws {
        let all: PlatformSet = [PlatformSet(.apple), PlatformSet(.fcmv1), PlatformSet(.windows)]
        let read = try read(request(.greeting(user: "alice")))
        #expect(FanOutPlanner().platforms(of: read) == all)
    }

    @Test func aLabelHoldsSixtyFourCharacters() throws {
        let read = try read(request(Self.message, from: String(repeating: "é", count: 100)))
        let labels = try #require(read.labels)
        let sender = try #require(read.document.member("from", of: labels))
        #expect(read.document.text(of: sender).count == 64)
    }
}
