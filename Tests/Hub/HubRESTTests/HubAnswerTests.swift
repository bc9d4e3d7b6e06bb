import Delivery
import HTTP1
import HubREST
import PushModel
import TestSupport
import Testing

struct HubAnswerTests {
    private static let now: Int64 = 1_795_176_000_000

    private func read(_ answer: Answer) -> (HubAnswer, id: String?, tracking: String?, detail: String?) {
        let reply = HubAnswer(answer, now: Self.now)
        return (
            reply, reply.notificationID.map { answer.string($0) }, reply.trackingID.map { answer.string($0) },
            reply.detail.map { answer.string($0) }
        )
    }

    private func error(_ detail: String) -> String { "<Error><Code>400</Code><Detail>\(detail)</Detail></Error>" }

    private static let longest = String(repeating: "x", count: 256)

    /// Standard tier hubs name the notification, others do not (page HubProtocol, "Answers").
    @Test(
        arguments: [
            (
                "https://c.servicebus.windows.net/newshub/messages/4995f507-20200723042844-586152-24?api-version=2020-06",
                "4995f507-20200723042844-586152-24", true
            ),
            ("https://c/newshub/messages/$batch/77-1?api-version=2017-04&direct", "77-1", true),
            ("https://c/newshub/messages/%24batch/77-1", "77-1", true), ("/newshub/messages/%25batch/77-1", nil, false),
            ("/newshub/messages/8-2", "8-2", true), ("/newshub/Messages/8-2", "8-2", true),
            ("https://c/h/messages/a?b=/c/d", "a", true), ("", nil, true), ("/messages/a&sig=s3cret", nil, true),
            ("/messages/" + longest, longest, true), ("/messages/" + longest + "x", nil, false),
            ("https://c/newshub/messages/", nil, false), ("9", nil, false), ("?a", nil, false), ("messages/9", nil, false),
            ("https://login.example.org/sign-in", nil, false), ("/newshub/messages/a/b", nil, false),
            ("/newshub/allmessages/9", nil, false), ("/newshub/batch/9?/messages/9", nil, false),
        ] as [(String, String?, Bool)])
    func theNotificationsIDIsTheLastSegmentOfLocation(location: String, id: String?, isHubs: Bool) throws {
        let said = try answer(201, fields: "Location: \(location)\r\nTrackingId: t-1\r\n")
        let reply = HubAnswer(said, toSend: true, now: Self.now)
        #expect(reply.notificationID.map { said.string($0) } == id)
        #expect(reply.detail == nil)
        #expect(reply.result == .answered(status: 201, hasRetryAfter: false, detail: isHubs ? .none : .notTheHub))
    }

    private static let location = "Location: https://c/newshub/messages/8-2?api-version=2020-06\r\n"
    private static let page = "<html><body>Sign in</body></html>"

    /// Page HubProtocol, "Answers": what real hubs of each tier and time wrote, what they never wrote, and whether it is a send's success.
    @Test(
        arguments: [
            // 2018 and later, Standard tier.
            (201, "Content-Type: application/xml; charset=utf-8\r\nServer: Microsoft-HTTPAPI/2.0\r\n" + location, "", true),
            (201, "TrackingId: 1b2c\r\nx-ms-correlation-request-id: 1b2c\r\n" + location, "", true), (201, location, "", true),
            // Below it, and test sends, whose body is the outcome.
            (201, "Content-Type: application/xml; charset=utf-8\r\n", "", true), (201, "TrackingId: 1b2c\r\n", "", true),
            (201, "", "", true), (201, "Content-Type: text/html\r\n", "", true),
            (201, "Content-Type: application/xml\r\n", "<NotificationOutcome/>", true),
            (201, "TrackingId: 1b2c\r\n", "<NotificationOutcome/>", true),
            // The documented 200.
            (200, location, "", true), (200, "TrackingId: 1b2c\r\n", "", true),
            (200, "Content-Type: application/xml; charset=utf-8\r\n", "", true),
            // Other servers.
            (200, "Content-Type: text/html; charset=utf-8\r\n", page, false), (201, "Content-Type: TEXT/HTML\r\n", page, false),
            (201, "Content-Type: application/xhtml+xml\r\n", "<?xml version=\"1.0\"?>" + page, false),
            (200, "", page, false), (200, "TrackingId: 1b2c\r\n", "\u{FEFF}\r\n <!DOCTYPE html><title>x</title>", false),
            (201, "TrackingId: 1b2c\r\n" + location, page, false), (200, "x-ms-request-id: 1b2c\r\n", page, false),
            (200, "", "", false), (200, "Content-Type: text/plain\r\n", "", false), (200, "", "OK", false),
            (201, "Content-Type: application/json\r\n", "{\"id\":5}", false), (201, "", "x", false),
            (201, "Location: /orders/5\r\n", "", false),
        ] as [(Int, String, String, Bool)])
    func aSendsSuccessIsTheHubs(status: Int, fields: String, body: String, isHubs: Bool) throws {
        let reply = HubAnswer(try answer(status, fields: fields, body: body), toSend: true, now: Self.now)
        let verdict = CallVerdict(of: reply.result)
        #expect(verdict.outcome == (isHubs ? .success : .ambiguous))
        #expect(verdict.code == (isHubs ? nil : .responseInvalid))
        #expect(isHubs || reply.notificationID == nil)
        // What is no send is the hub's unless it is a page.
        let other = HubAnswer(try answer(status, fields: fields, body: body), now: Self.now)
        let isPage = body.contains("<html") || body.contains("<!DOCTYPE")
        #expect((other.hint == .notTheHub) == isPage)
    }

    /// A front's page is one under any status, and changes no verdict but that of a success.
    @Test(arguments: [200, 302, 401, 403, 404, 413, 502]) func aPageIsSeenUnderAnyStatus(_ status: Int) throws {
        let page = HubAnswer(try answer(status, fields: "Content-Type: text/html\r\n", body: Self.page), now: Self.now)
        let plain = HubAnswer(try answer(status), now: Self.now)
        #expect(page.isPage && !plain.isPage)
        #expect(status < 300 || page.result == plain.result)
    }

    /// Whether a hub that names notifications can have written it.
    @Test(arguments: [
        (201, "", true), (201, "Location:\r\n", true), (201, "TrackingId: 1b2c\r\n", false), (201, location, false),
        (201, "Content-Type: application/xml\r\n", false), (503, "", false),
    ])
    func aSuccessWithNothingOfAHubsIsUnmarked(status: Int, fields: String, isUnmarked: Bool) throws {
        #expect(HubAnswer(try answer(status, fields: fields), toSend: true, now: Self.now).isUnmarked == isUnmarked)
    }

    @Test func aSuccessWithoutLocationHasNoID() throws {
        let (reply, id, tracking, _) = read(try answer(201))
        #expect(id == nil && tracking == nil)
        #expect(CallVerdict(of: reply.result).outcome == .success)
    }

    @Test func theLocationOfARedirectOrAnErrorIsNoNotification() throws {
        for status in [302, 307, 401, 503] {
            #expect(read(try answer(status, fields: "Location: https://login.example.org/sign-in\r\n")).id == nil)
        }
    }

    /// Bodies as they were recorded (page HubProtocol, "Error bodies").
    @Test(
        arguments: [
            (
                "Installation not found.TrackingId:1b2c-22_G3,TimeStamp:11/7/2018 12:18:37 AM", "Installation not found",
                "1b2c-22_G3"
            ),
            (
                "InvalidSignature: The token has an invalid signature..TrackingId:9-8,TimeStamp:1/1/2019 1:00:00 PM",
                "InvalidSignature: The token has an invalid signature", "9-8"
            ),
            (".TrackingId:9-8,TimeStamp:1/1/2019", nil, "9-8"), ("No id at all.", "No id at all.", nil), ("", nil, nil),
            ("Broken.TrackingId:77", "Broken", "77"), ("Broken.TrackingId:", "Broken", nil),
            ("Broken.TrackingId:,TimeStamp:1", "Broken", nil),
        ] as [(String, String?, String?)])
    func detailAndTrackingIDAreTakenFromTheErrorBody(body: String, detail: String?, tracking: String?) throws {
        let reply = read(try answer(404, body: error(body)))
        #expect(reply.detail == detail)
        #expect(reply.tracking == tracking)
    }

    @Test func theHeadersTrackingIDComesFirst() throws {
        #expect(
            read(try answer(404, fields: "TrackingId: from-head\r\n", body: error("x.TrackingId:9,T:1"))).tracking == "from-head")
        #expect(read(try answer(404, fields: "TrackingId:\r\n", body: error("x.TrackingId:9,T:1"))).tracking == "9")
    }

    @Test(arguments: [
        "", "<html><body><h1>502 Bad Gateway</h1></body></html>", "{\"error\":{\"code\":\"x\",\"message\":\"tags quota\"}}",
        "<Error><Code>400</Code><Detail>half",
        "<Error><Code>400</Code><Detail", "</Detail><Detail>", "<Detail></Detail>", "\u{0}\u{1}\u{FFFD}", "<Error/>",
    ])
    func anyOtherBodyLeavesTheDetailOpen(body: String) throws {
        for status in [400, 403, 500, 502] {
            let reply = read(try answer(status, body: body))
            #expect(reply.0.status == status)
            #expect(reply.detail == nil)
            #expect(reply.tracking == nil)
            #expect(reply.0.hint == .none)
        }
    }

    @Test func aBodyThatEndsWithTheConnectionIsReadAsFarAsItCame() throws {
        let whole = try answer("HTTP/1.1 400 Bad\r\n\r\n\(error("Bad tag."))")
        #expect(read(whole).detail == "Bad tag.")
        #expect(read(try answer("HTTP/1.1 400 Bad\r\n\r\n<Error><Detail>Bad t")).detail == nil)
    }

    @Test(arguments: [
        ("SharedAccessSignature sr=http%3a%2f%2fc&amp;sig=abc%3d&amp;se=1", "7"), ("token SIG=abc is bad", "7"),
        ("sharedaccesskey=abc", "7"),
        ("fine", "sig=abc"),
    ])
    func nothingOfATokenIsKept(detail: String, tracking: String) throws {
        let reply = read(try answer(401, body: error("\(detail).TrackingId:\(tracking),TimeStamp:1")))
        for text in [reply.detail, reply.tracking, reply.id] { #expect(text?.contains("abc") != true) }
        let head = read(try answer(201, fields: "TrackingId: sig=abc\r\nLocation: /messages/1&sig=abc\r\n"))
        #expect(head.tracking == nil && head.id == nil)
    }

    @Test(
        arguments: [
            ("An invalid tag(s) 'a b' was supplied. Valid tag characters are alphanumeric, _, @, -, ., : and #.", .tags),
            ("Tags are wrong", .tags), ("the header ServiceBusNotification-Tags", .tags), ("TAG", .tags),
            ("Quota exceeded for tag", .quota), ("The namespace's quota is used up", .quota),
            ("The stage is at 12 percentage points of advantage", .none), ("heritage, tag too", .tags),
            ("The body is no JSON", .none),
        ] as [(String, CallResult.DetailHint)])
    func theDetailsSubjectIsFound(detail: String, hint: CallResult.DetailHint) throws {
        let reply = read(try answer(400, body: error(detail)))
        #expect(reply.0.hint == hint)
        #expect(reply.0.result == .answered(status: 400, hasRetryAfter: false, detail: hint))
        // The words in the tracking part say nothing.
        #expect(read(try answer(400, body: error("x.TrackingId:tag,quota"))).0.hint == .none)
    }

    @Test(
        arguments: [
            ("10", 10_000), ("0", 0), ("-3", 0), ("1.5", 1500), ("99999", RetryAfter.maximum),
            ("Fri, 20 Nov 2026 12:00:30 GMT", 30_000),
            ("Fri Nov 20 12:00:30 2026", 30_000), ("Friday, 20-Nov-26 12:00:30 GMT", 30_000),
            ("Thu, 19 Nov 2026 12:00:30 GMT", 0),
            ("soon", nil), ("", nil),
        ] as [(String, Int64?)])
    func retryAfterIsReadFromEveryAnswer(value: String, wait: Int64?) throws {
        for status in [201, 403, 429, 503] {
            let reply = HubAnswer(try answer(status, fields: "retry-after: \(value)\r\n"), now: Self.now)
            #expect(reply.retryAfter == wait)
            #expect(reply.result == .answered(status: status, hasRetryAfter: wait != nil, detail: .none))
        }
    }

    @Test(arguments: 0..<30)
    func whatIsQuotedOfABodyLiesInItAndShowsNoSignature(seed: Int) throws {
        var random = SeededRandom(seed)
        let pieces = [
            "<Detail>", "</Detail>", "TrackingId:", ",", ".", "tag", "sig=", "<", "é", "\u{0}", "quota", "<detail>", "x",
        ]
        for _ in 0..<200 {
            let body = (0..<random.below(14)).map { _ in pieces[random.below(pieces.count)] }.joined()
            let whole = try answer(400, body: body)
            let reply = read(whole)
            for range in [reply.0.detail, reply.0.trackingID] {
                guard let range else { continue }
                #expect(
                    !range.isEmpty && whole.bodyRange.contains(range.lowerBound) && range.upperBound <= whole.bodyRange.upperBound
                )
                #expect(!whole.string(range).contains("sig="))
            }
        }
    }
}
