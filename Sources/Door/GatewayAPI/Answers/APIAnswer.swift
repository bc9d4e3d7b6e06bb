package import HTTPServing
import PushModel

/// What the gateway answers to one call of its API.
package struct APIAnswer: Sendable, Equatable {
    /// The status, 200 to 599.
    package var status: Int
    /// The header fields; length, date and connection are the server's own.
    package var headers: HTTPFields
    /// The body.
    package var body: [UInt8]

    /// The way in which the body's bytes count as long as they are not taken.
    package var upkeep = HTTPServerResponse.Upkeep.counted
    /// The code of the problem that it tells of; nil where it tells of none.
    var code: String?

    /// An answer of these parts.
    package init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer with a JSON object and a line end behind it, so that a shell's prompt has a line of its own.
    package init(
        status: Int, json: [UInt8], as mediaType: String = "application/json; charset=utf-8", headers: HTTPFields = [:]
    ) {
        self.init(status: status, headers: headers, body: json + [UInt8(ascii: "\n")])
        self.headers.append("Content-Type", value: mediaType)
    }

    /// 200 without a body: it is done.
    package static let done = APIAnswer(status: 200)

    /// 200 with the id of a registration as a JSON string, quotes and nothing around them: the tutorials' apps cut the first and
    /// the last character of the body.
    package static func registration(_ id: String) -> APIAnswer {
        var body = ByteWriter()
        body.append(json: id)
        return APIAnswer(status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: body.bytes)
    }

    /// 200 with the text of a secure push, as the tutorial's apps read it. No cache may keep it.
    package static func payload(_ text: String) -> APIAnswer {
        var body = ByteWriter()
        body.append("{\"Payload\":", json: text)
        body.append("}")
        return APIAnswer(
            status: 200, headers: ["Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store"],
            body: body.bytes)
    }

    /// The answer with the page of its problem below the address `docs` as `type` (RFC 9457, section 3.1.1), or unchanged without
    /// either.
    package func documented(at docs: String?) -> APIAnswer {
        guard let docs, let code, body.first == UInt8(ascii: "{") else { return self }
        var json = ByteWriter(capacity: body.count + docs.utf8.count + code.utf8.count + 16)
        json.append("{\"type\":", json: docs + code)
        json.append(",")
        json.append(body.span.extracting(1..<body.count))
        var answer = self
        answer.body = json.bytes
        return answer
    }

    /// The answer as the server sends it.
    package var response: HTTPServerResponse {
        var response = HTTPServerResponse(status: status, headers: headers, body: body)
        response.upkeep = upkeep
        return response
    }
}
