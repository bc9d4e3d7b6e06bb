import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

struct HostileInputTests {
    private static let methods = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "BREW", ""]
    private static let words = [
        "newshub", "messages", "$batch", "%24batch", "schedulednotifications", "registrations", "registrationids", "tags",
        "installations",
        "devices", "calls", "faults", "rung", "1-2-3", "i1", "%00", "%", "..", "", "é", "%FF", "a%2Fb", "feedbackcontainer",
        "4995f50796f046d6a61aa7580af3c9c7-1", "telemetry", "blobs", "errors", "feedback",
    ]
    private static let queries = [
        "api-version=2020-06", "direct", "test", "$filter=ChannelUri eq '", "$filter=x", "$top=-1", "continuationtoken=%253D",
        "&&=", "%",
        "$filter=Endpoint+eq+'a'+and+", "after=x", "limit=-1", "handle=", "tag=", "se=2027-01-01T00:00:00Z", "sig=%00",
    ]
    private static let names = [
        "ServiceBusNotification-Format", "ServiceBusNotification-Tags", "ServiceBusNotification-DeviceHandle", "Content-Type",
        "If-Match",
        "ServiceBusNotification-ScheduleTime", "apns-collapse-id", "Host", "",
    ]
    private static let values = [
        "apple", "template", "windows", "fcmv1", "((((((", "a||b", "!", "$UserId:{", "multipart/mixed; boundary=",
        "multipart/mixed; boundary=b",
        "2026-01-01T00:00:01", "9999-99-99T99:99:99", "*", "\u{0}", "é", String(repeating: "(", count: 5000), "",
    ]
    private static let pieces = [
        "{", "}", "[", "]", "\"", ":", ",", "null", "1e999", "\\u", "installationId", "pushChannel", "platform", "apns",
        "templates", "body",
        "$(a)", "--b", "\r\n", "\n", "Content-Disposition: x; name=devices", "<entry>", "<AppleRegistrationDescription>",
        "<![CDATA[", "]]>",
        "&#x110000;", "<!DOCTYPE a>", "op", "path", "/tags/~", "/", "value", "status=500", "hang", "count=1", "state=", "hidden",
        ",", "refuse=", "apple.", "=1", "/1s",
    ]
    /// Every status that the emulator ever gives; a reset is none.
    private static let known: Set<Int> = [200, 201, 204, 400, 401, 403, 404, 405, 412, 413, 429, 500]

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func whateverIsSentIsAnswered(_ seed: UInt64) throws {
        let hub = try TestHub()
        try hub.register("i1", "apns", tags: ["a"], templates: ["t": #"{"a":"$(a)"}"#])
        let token = try hub.token()
        var random = HubIdentifiers(seed: seed)
        func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: list.indices, using: &random)] }
        func some<Element>(_ list: [Element], _ most: Int) -> [Element] {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in pick(list) }
        }
        for round in 0..<3000 {
            let isForHub = Int.random(in: 0..<8, using: &random) > 0
            let path = (isForHub ? ["newshub"] : []) + some(Self.words, 4)
            var headers = HTTPFields()
            if Int.random(in: 0..<10, using: &random) > 0 { headers.append("Authorization", value: token) }
            for name in some(Self.names, 4) { headers.append(name, value: pick(Self.values)) }
            var body = Array(some(Self.pieces, 12).joined().utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) where !body.isEmpty {
                body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let query = ["api-version=2020-06"].filter { _ in Int.random(in: 0..<6, using: &random) > 0 } + some(Self.queries, 3)
            let target = "/" + path.joined(separator: "/") + "?" + query.joined(separator: "&")
            let response = hub.hub.handle(
                HTTPServerRequest(method: pick(Self.methods), target: target, headers: headers, body: body))
            #expect(Self.known.contains(response.status), "\(target): \(response.status)")
            hub.hub.arm([])
            if round % 50 == 0 { hub.hub.script([]) }
        }
        #expect(try hub.send("apple", to: "nobody").status == 201)
    }

    @Test(arguments: [
        ("POST", "/newshub", 404), ("GET", "/newshub/messages", 405), ("POST", "/NewsHub/Messages/", 400), ("GET", "/", 404),
        ("POST", "/other/messages", 404), ("GET", "/newshub/messages/x", 400), ("OPTIONS", "/devices", 405),
        ("PUT", "/newshub/registrations/not-an-id", 400),
    ])
    func everyPathHasItsStatus(_ method: String, _ path: String, _ status: Int) throws {
        let response = try TestHub().call(method, path)
        #expect(response.status == status)
        if status == 405 { #expect(response.headers["Allow"] != nil) }
        if path.hasPrefix("/other") { #expect(response.detail == "No service is hosted at the specified address") }
    }
}
