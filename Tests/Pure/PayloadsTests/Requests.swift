import Payloads
import PushModel
import Testing

/// 2026-11-20T12:00:00Z, the moment of every rendering here.
let noon = Timestamp(milliseconds: 1_795_176_000_000)

/// Reads a request as the worker does; a fault fails the test.
func request(_ json: String) throws -> PushRequest {
    var request = PushRequest()
    let origin = RecordOrigin(topic: "push.requests.v1", partition: 3, offset: 42, timestamp: noon)
    let reading = RequestReader().read(Array(json.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
    try #require(reading == .request, "\(json)")
    return request
}

/// A request to everybody with the given members.
func broadcast(_ members: String) throws -> PushRequest {
    try request("{\"id\":\"r-1\",\"audience\":{\"broadcast\":true},\(members)}")
}

/// Content that the request reader would have refused, to see that the formatter does not rely on it.
func unread(_ json: String) throws -> PushRequest {
    var request = PushRequest()
    try request.document.read(Array(json.utf8).span)
    let root = request.document.root
    request.id = request.document.add([UInt8(ascii: "r")].span)
    if let message = request.document.member("message", of: root) {
        request.message = PushRequest.Message()
        request.message?.data = request.document.member("data", of: message)
    }
    if let key = request.document.member("collapse_key", of: root) { request.collapseKey = request.document.text(of: key) }
    request.payloads = request.document.member("payloads", of: root)
    request.template = request.document.member("template", of: root)
    return request
}

/// Formats for one platform with a fresh formatter.
func rendered(
    _ request: PushRequest, _ platform: Platform, _ configuration: PayloadFormatter.Configuration = .init()
) throws(PayloadError) -> RenderedPayload {
    var formatter = PayloadFormatter(configuration: configuration)
    var payload = RenderedPayload()
    try formatter.format(request, for: platform, now: noon, into: &payload)
    return payload
}

/// Formats the template properties.
func renderedTemplate(_ request: PushRequest) throws(PayloadError) -> RenderedPayload {
    var payload = RenderedPayload()
    try PayloadFormatter().formatTemplate(request, now: noon, into: &payload)
    return payload
}

/// The error that `body` ends in; none is a failure of the test.
func payloadError(_ body: () throws -> RenderedPayload) throws -> PayloadError {
    try #require(throws: PayloadError.self) { _ = try body() }
}

extension RenderedPayload {
    /// The header lines as names and values, in order; a line of another shape fails the test.
    func headerLines() throws -> [(name: String, value: String)] {
        let lines = headers.text.split(separator: "\r\n", omittingEmptySubsequences: false)
        try #require(lines.last == "" || headers.count == 0)
        return try lines.dropLast().map { line in
            let colon = try #require(line.firstIndex(of: ":"))
            try #require(line[line.index(after: colon)...].hasPrefix(" "))
            try #require(line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 })
            return (String(line[..<colon]), String(line[line.index(colon, offsetBy: 2)...]))
        }
    }

    /// The value of the only header `name`, or nil.
    func header(_ name: String) throws -> String? {
        let values = try headerLines().filter { $0.name.lowercased() == name.lowercased() }
        try #require(values.count <= 1)
        return values.first?.value
    }
}

/// Random numbers that are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
