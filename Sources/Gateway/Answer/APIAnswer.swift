public import HTTPServing
internal import PushModel

/// What the gateway answers to one call of its API.
public struct APIAnswer: Sendable, Equatable {
    /// The status, 200 to 599.
    public var status: Int
    /// The header fields; length, date and connection are the server's own.
    public var headers: HTTPFields
    /// The body.
    public var body: [UInt8]

    /// An answer of these parts.
    public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// 200 without a body: it is done.
    public static let done = APIAnswer(status: 200)

    /// 200 with the id of a registration as a JSON string, quotes and nothing around them: the tutorials' apps cut the first and the last
    /// character of the body.
    ///
    /// - Parameter id: The id.
    /// - Returns: The answer.
    public static func registration(_ id: String) -> APIAnswer {
        var body = ByteWriter()
        body.append(json: id)
        return APIAnswer(status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: body.bytes)
    }

    /// 200 with the text of a secure push, as the tutorial's apps read it. No cache may keep it.
    ///
    /// - Parameter text: The text.
    /// - Returns: The answer.
    public static func payload(_ text: String) -> APIAnswer {
        var body = ByteWriter()
        body.append("{\"Payload\":")
        body.append(json: text)
        body.append("}")
        return APIAnswer(
            status: 200, headers: ["Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store"],
            body: body.bytes)
    }

    /// The answer as the server sends it.
    public var response: HTTPServerResponse {
        HTTPServerResponse(status: status, headers: headers, body: body)
    }
}
