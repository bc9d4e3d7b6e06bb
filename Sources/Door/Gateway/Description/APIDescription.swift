internal import GatewayAPI
internal import HTTPServing
internal import Page
internal import PublishAPI
public import PushModel

/// The description of the gateway's API for machines (OpenAPI 3.1), made of `APIOperation`'s rows.
public enum APIDescription {
    /// The description.
    public static var document: JSONTree {
        let rows = APIOperation.described.map { ($0, $0.row) }
        let problems = rows.flatMap { $0.1.allProblems }
        var names: [String] = []
        for problem in problems where !names.contains(problem.name) { names.append(problem.name) }
        let responses = names.compactMap { name in problems.first { $0.name == name }.map { (name, $0.response) } }
        return [
            "openapi": .text(APIOperation.openAPIVersion),
            "info": ["title": "pushfan gateway", "version": "1", "description": "Page Gateway has it for people."],
            "servers": [["url": "/"]], "paths": paths(rows),
            "components": [
                "responses": .members(responses),
                "securitySchemes": [
                    "user": ["type": "http", "scheme": "basic"], "key": ["type": "http", "scheme": "bearer"],
                    "session": [
                        "type": "apiKey", "in": "cookie", "name": .text(SessionCookie.secureName),
                        "description": "A session of the web page in place of a key, for calls that come from the page.",
                    ],
                ],
            ],
        ]
    }

    private static func paths(_ rows: [(operation: APIOperation, row: APIOperation.Row)]) -> JSONTree {
        var paths: [String] = []
        for row in rows where !paths.contains(row.row.path) { paths.append(row.row.path) }
        return .members(
            paths.map { path in
                let members = rows.filter { $0.row.path == path }.map {
                    ($0.row.method.lowercased(), $0.row.described(as: $0.operation.name))
                }
                return (path, .members(members))
            })
    }

    /// The answer to `GET /v1/openapi.json`: 304 for whoever has it already.
    static func answer(to headers: HTTPFields) -> APIAnswer {
        var answer = APIAnswer(
            status: 200, headers: ["ETag": tag, "Cache-Control": "no-cache", "Content-Type": "application/json; charset=utf-8"],
            body: bytes)
        answer.upkeep = .shared
        if !headers.wants(tag) { (answer.status, answer.body) = (304, []) }
        return answer
    }

    /// The document and a line end, once for all answers.
    private static let bytes = document.json + [UInt8(ascii: "\n")]

    private static let tag = EntityTag.of(bytes)
}

extension APIOperation.Row {
    fileprivate func described(as name: String) -> JSONTree {
        var members: [(String, JSONTree)] = [("operationId", .text(name)), ("summary", .text(summary))]
        members.append(("security", security))
        if !parameters.isEmpty { members.append(("parameters", .array(parameters.map(\.described)))) }
        if let body { members.append(("requestBody", ["required": .bool(body.isRequired), "content": body.described])) }
        let good = answers.map { answer in
            let content = answer.content.map { ["content": $0.described] } ?? [:] as JSONTree
            return (String(answer.status), (["description": .text(answer.summary)] as JSONTree).adding(content))
        }
        let bad = allProblems.map { problem in
            (String(problem.status), ["$ref": .text("#/components/responses/\(problem.name)")] as JSONTree)
        }
        members.append(("responses", .members(good + bad)))
        return .members(members)
    }
}

extension APIOperation.Row {
    private var security: JSONTree {
        switch access {
        case .anyone: []
        case .user: [["user": []]]
        case .device: [["key": []], ["user": []]]
        case .key: [["key": []], ["session": []]]
        }
    }
}

extension APIOperation.Parameter {
    fileprivate var described: JSONTree {
        [
            "name": .text(name), "in": .text(place.rawValue), "required": .bool(place == .path || name == "If-Match"),
            "description": .text(summary),
            "schema": schema, "example": isFlag ? .bool(example == "true") : .text(example),
        ]
    }
}

extension APIOperation.Content {
    fileprivate var described: JSONTree { [mediaType: ["schema": schema, "example": example]] }
}

extension APIOperation.Problem {
    /// Names the answer among the components: the status and its codes.
    var name: String { ([String(status)] + codes.map(\.rawValue) + (hasResultCodes ? ["results"] : [])).joined(separator: ".") }

    /// All codes that it can have.
    var words: [String] {
        let own = codes.map(\.rawValue)
        return own + (hasResultCodes ? ErrorCode.allCases.map(\.rawValue).filter { !own.contains($0) } : [])
    }

    fileprivate var response: JSONTree {
        var headers: [(String, JSONTree)] = []
        if status == 401 { headers.append(("WWW-Authenticate", ["schema": JSONSchema.text()])) }
        if status == 429 || status == 503 { headers.append(("Retry-After", ["schema": JSONSchema.count])) }
        let text = codes.map(\.rawValue) + (hasResultCodes ? ["a code of results"] : [])
        let content: JSONTree = ["application/problem+json": ["schema": schema]]
        return (["description": .text(text.joined(separator: ", "))] as JSONTree)
            .adding(headers.isEmpty ? [:] : ["headers": .members(headers)]).adding(["content": content])
    }

    /// RFC 9457, with what this API adds.
    var schema: JSONTree {
        let fault = JSONSchema.object(
            [("pointer", JSONSchema.text()), ("code", JSONSchema.text()), ("detail", JSONSchema.text())],
            required: ["pointer", "code", "detail"], isOpen: true)
        return JSONSchema.object(
            [
                ("type", JSONSchema.text()), ("title", JSONSchema.text()), ("status", ["const": .number(Int64(status))]),
                ("detail", JSONSchema.text()), ("code", JSONSchema.words(words)),
                ("retry", JSONSchema.words(APIProblem.Retry.allCases.map(\.rawValue))), ("request_id", JSONSchema.text()),
                ("first", JSONSchema.text()), ("errors", JSONSchema.list(of: fault)),
            ], required: ["title", "status", "detail", "code", "retry"], isOpen: true)
    }
}
