internal import GatewayAPI
internal import HTTPServing
internal import Page
internal import PublishAPI
public import PushModel

/// The description of the gateway's API for machines (OpenAPI 3.1), made of `APIOperation`'s rows.
public enum APIDescription {
    /// The description.
    public static let document: JSONTree = {
        let rows = APIOperation.described.map { ($0, $0.row) }
        var problems: [String: APIOperation.Problem] = [:]
        for problem in rows.flatMap({ $0.1.allProblems }) { problems[problem.name] = problem }
        var schemas: [String: JSONTree] = [:]
        for (name, schema) in namedSchemas { schemas[name] = schema.definition }
        return [
            "openapi": .text(APIOperation.openAPIVersion),
            "info": ["title": "pushfan gateway", "version": "1", "description": "Page Gateway has it for people."],
            "servers": [["url": "/"]], "paths": paths(rows),
            "components": [
                "schemas": .members(schemas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
                "responses": .members(problems.sorted { $0.key < $1.key }.map { ($0.key, $0.value.response) }),
                "headers": .members(APIOperation.AnswerHeader.allCases.map { ($0.rawValue, $0.described) }),
                "securitySchemes": [
                    "user": ["type": "http", "scheme": "basic"], "key": ["type": "http", "scheme": "bearer"],
                    "token": [
                        "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                        "description": "A user's token of another issuer, where the gateway takes them.",
                    ],
                    "session": [
                        "type": "apiKey", "in": "cookie", "name": .text(SessionCookie.secureName),
                        "description": "A session of the web page in place of a key, for calls that come from the page.",
                    ],
                ],
            ],
        ]
    }()

    /// All schemas with names that the rows have.
    static var namedSchemas: [(name: String, schema: JSONTree)] {
        let rows = APIOperation.described.map(\.row)
        let contents = rows.flatMap { [$0.body].compactMap { $0 } + $0.answers.compactMap(\.content) }.flatMap(\.forms)
        return (contents.map(\.schema) + rows.flatMap(\.parameters).map(\.schema) + [APIOperation.Problem.schema])
            .flatMap(\.namedSchemas)
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
        let group = label.split(separator: ".")[0]
        var members: [(String, JSONTree)] = [
            ("operationId", .text(name)), ("tags", [.text(String(group))]), ("summary", .text(summary)),
        ]
        members.append(("security", security))
        if !parameters.isEmpty { members.append(("parameters", .array(parameters.map(\.described)))) }
        if let body { members.append(("requestBody", ["required": .bool(body.isRequired), "content": body.described])) }
        let good = answers.map { answer in
            let content = answer.content.map { ["content": $0.described] } ?? [:] as JSONTree
            let head = (["description": .text(answer.summary)] as JSONTree).adding(answer.headers.described)
            return (String(answer.status), head.adding(content))
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
        case .user: [["user": []], ["token": []]]
        case .device: [["key": []], ["session": []], ["user": []], ["token": []]]
        case .key: [["key": []], ["session": []]]
        }
    }
}

extension APIOperation.Parameter {
    fileprivate var described: JSONTree {
        let isNeeded = place == .path || name == "If-Match"
        return (["name": .text(name), "in": .text(place.rawValue)] as JSONTree).adding(isNeeded ? ["required": true] : [:])
            .adding([
                "description": .text(summary), "schema": schema.referring,
                "example": isFlag ? .bool(example == "true") : .text(example),
            ])
    }
}

extension APIOperation.Content {
    /// It, and the same in other media types.
    var forms: [APIOperation.Content] { [self] + alternatives }

    fileprivate var described: JSONTree {
        .members(
            forms.map { form in
                let schema: JSONTree = form.schema == [:] ? [:] : ["schema": form.schema.referring]
                return (form.mediaType, schema.adding(["example": form.example]))
            })
    }
}

extension [APIOperation.AnswerHeader] {
    /// The member for them, if there are any.
    fileprivate var described: JSONTree {
        isEmpty ? [:] : ["headers": .members(map { ($0.rawValue, ["$ref": .text("#/components/headers/\($0.rawValue)")]) })]
    }
}

extension APIOperation.AnswerHeader {
    fileprivate var described: JSONTree { ["description": .text(summary), "schema": schema] }
}

extension APIOperation.Problem {
    /// The codes that an answer of their status always has.
    private static let usual: [APIProblem.Code] = [
        .invalidRequest, .unauthorized, .bodyTooLarge, .unsupportedMediaType, .tooManySignIns, .headerTooLarge, .internal,
        .overloaded, .stopping,
    ]

    /// Names the answer among the components: the status and the codes that not every such answer has.
    var name: String {
        let others = codes.filter { !Self.usual.contains($0) }.map(\.rawValue)
        return ([String(status)] + others + (hasResultCodes ? ["results"] : [])).joined(separator: ".")
    }

    /// All codes that it can have.
    var words: [String] {
        let own = codes.map(\.rawValue)
        return own + (hasResultCodes ? ErrorCode.allCases.map(\.rawValue).filter { !own.contains($0) } : [])
    }

    /// The header fields that such an answer can have.
    var headers: [APIOperation.AnswerHeader] {
        switch status {
        case 401: [.challenge]
        case 409, 429, 503: [.retryAfter]
        case 504: [.retryAfter, .location]
        default: []
        }
    }

    fileprivate var response: JSONTree {
        let text = codes.map(\.rawValue) + (hasResultCodes ? ["a code of results"] : [])
        return (["description": .text(text.joined(separator: ", "))] as JSONTree).adding(headers.described)
            .adding(["content": ["application/problem+json": ["schema": Self.schema.referring]]])
    }
}
