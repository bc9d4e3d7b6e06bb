import FanOut
import HTTP1
import HubAuth
import HubREST
import Payloads
import PushModel
import Testing

/// A hub client with what is needed to let it write calls.
struct Calling {
    static let key = "c2VjcmV0LWtleS1vZi10aGUtdGVzdHMtMDEyMzQ1Njc="
    static let now: Int64 = 1_795_176_000

    var client: HubClient
    var planner = FanOutPlanner()
    var formatter = PayloadFormatter()
    var request = PushRequest()
    var plan = FanOutPlan()

    init(endpoint: String = "sb://contoso.servicebus.windows.net/", secondary: String? = nil, apiVersion: String? = nil) throws {
        let string = "Endpoint=\(endpoint);SharedAccessKeyName=Send;SharedAccessKey=\(Self.key)"
        let connection = try ConnectionString(parsing: string)
        var configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("newshub"), credential: connection.credential)
        if let apiVersion { configuration.apiVersion = apiVersion }
        if let secondary {
            configuration.secondaryCredential = SASCredential(policy: "Send", key: SecretKey(secondary))
        }
        client = try HubClient(configuration, userAgent: "pushfan/test")
        var planning = FanOutPlanner.Configuration()
        planning.defaultPlatforms = PlatformSet(.apple)
        planner = FanOutPlanner(planning)
    }

    /// The token that stands in a call that is signed at `now`.
    static func token(now: Int64 = now, key: String = key) throws -> String {
        let token = try SASToken.sign(
            resource: "http://contoso.servicebus.windows.net/newshub/", policy: "Send", key: SecretKey(key), expiry: now + 3600)
        return String(decoding: token.headerValue, as: UTF8.self)
    }

    /// Reads a record; false when it is no valid request.
    mutating func read(_ record: [UInt8]) -> Bool {
        let origin = RecordOrigin(
            topic: "t", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: Self.now * 1000))
        return RequestReader().read(record.span, headers: RecordHeaders(), origin: origin, into: &request) == .request
    }

    /// Plans what was read and writes every call.
    mutating func write() throws -> [[UInt8]] {
        try planner.plan(request, into: &plan)
        var calls: [[UInt8]] = []
        for call in plan.calls {
            var payload = RenderedPayload()
            let moment = Timestamp(milliseconds: Self.now * 1000)
            if let platform = call.platform {
                try formatter.format(request, for: platform, now: moment, into: &payload)
            } else {
                try formatter.formatTemplate(request, now: moment, into: &payload)
            }
            calls.append(try write(call, payload).bytes)
        }
        return calls
    }

    mutating func write(
        _ call: FanOutPlan.Call, _ payload: RenderedPayload, now: Int64 = now
    ) throws -> (serial: UInt64, bytes: [UInt8]) {
        var writer = ByteWriter()
        writer.append("what was here before")
        let serial = try client.write(call, of: plan, for: request, with: payload, now: now, into: &writer)
        return (serial, writer.bytes)
    }

    /// The calls of a record with these members beside the content.
    mutating func calls(_ members: String, content: String = #""message":{"title":"Hi"}"#) throws -> [[UInt8]] {
        try #require(read(Array(#"{"id":"r-1","collapse_key":"c",\#(members),\#(content)}"#.utf8)), "\(members)")
        return try write()
    }

    /// The tags of a planned call, or nil.
    func tags(of call: FanOutPlan.Call) -> String? {
        guard case .tags(let tags) = call.target else { return nil }
        let span = plan.span(tags)
        return String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
    }
}

/// A payload of the given bytes.
func payload(_ body: String, headers: String = "", _ type: ContentType = .jsonUTF8) -> RenderedPayload {
    var payload = RenderedPayload()
    payload.body.append(body)
    payload.headers.append(headers)
    payload.contentType = type
    return payload
}

/// An answer as the connection would have read it.
func answer(_ text: String) throws -> Answer {
    var parser = AnswerParser()
    if try !parser.feed(Array(text.utf8).span) { try parser.connectionClosed() }
    return parser.answer
}

/// An answer with a body of a given length.
func answer(_ status: Int, fields: String = "", body: String = "") throws -> Answer {
    try answer("HTTP/1.1 \(status) Word\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
}
