@testable import PublishAPI
@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
@testable import AppAPI
import HTTPServing
import Keys
import PushModel
import TestSupport
import Testing

@testable import Gateway

/// The description of the API for machines (OpenAPI).
@Suite struct APIDescriptionTests {
    /// The path with an example in place of its parameter.
    private static func path(of row: APIOperation.Row) -> String {
        row.parameters.filter { $0.place == .path }.reduce(row.path) { $0.replacing("{\($1.name)}", with: $1.example) }
    }

    @Test(arguments: APIOperation.described) func eachOperationIsARoute(operation: APIOperation) {
        let row = operation.row
        guard case .route(let route) = Route.match(row.method, path: Self.path(of: row)[...]) else {
            Issue.record("\(row.method) \(row.path) leads nowhere")
            return
        }
        #expect(route.operation == operation)
        #expect(route.takesBody == (row.body != nil))
        #expect(row.path.contains("{") == row.parameters.contains { $0.place == .path })
    }

    @Test(arguments: APIOperation.allCases.filter { $0.row.method == "GET" }) func headLeadsWhereGetDoes(operation: APIOperation)
    {
        let path = Self.path(of: operation.row)[...]
        #expect(Route.match("HEAD", path: path) == Route.match("GET", path: path))
        guard case .otherMethods(let methods) = Route.match("NONE", path: path) else { return }
        #expect(methods.contains("HEAD"))
    }

    @Test(arguments: APIOperation.allCases) func eachMethodOfAPathIsDescribed(operation: APIOperation) {
        guard case .otherMethods(let methods) = Route.match("NONE", path: Self.path(of: operation.row)[...]) else {
            Issue.record("\(operation.row.path) has no methods")
            return
        }
        let described = APIOperation.allCases.map(\.row).filter { $0.path == operation.row.path }.map(\.method)
        #expect(Set(methods).subtracting(["HEAD"]) == Set(described))
    }

    /// But for those of routes and methods that there are not.
    @Test func eachCodeIsAnAnswerOfSomeOperation() {
        let described = Set(APIOperation.described.flatMap(\.row.allProblems).flatMap(\.codes))
        let others = Set(APIProblem.Code.allCases).subtracting(described).map(\.rawValue)
        #expect(Set(others).subtracting(["method_not_allowed", "not_acceptable"]).isEmpty, "\(others)")
    }

    @Test(arguments: APIOperation.allCases) func aCodeComesWithAStatusOfItsOwn(operation: APIOperation) {
        for problem in operation.row.allProblems {
            for code in problem.codes { #expect(code.statuses.contains(problem.status), "\(code) with \(problem.status)") }
        }
    }

    @Test(arguments: APIOperation.allCases) func exampleBodiesFitTheirSchemas(operation: APIOperation) {
        let row = operation.row
        let contents = [row.body].compactMap { $0 } + row.answers.compactMap(\.content)
        for content in contents.flatMap(\.forms) {
            #expect(SchemaCheck.violations(of: content.example.json, by: content.schema).isEmpty, "\(content.mediaType)")
        }
    }

    @Test(arguments: APIOperation.Publish.allCases) func theGatewayTakesEachMediaType(operation: APIOperation.Publish) throws {
        let body = try #require(operation.row.body)
        for form in body.forms { #expect(PublishKind(operation, headers: ["Content-Type": form.mediaType]) != nil) }
    }

    @Test(arguments: APIOperation.described) func theGatewayTakesExampleBodies(operation: APIOperation) throws {
        guard let body = operation.row.body else { return }
        let people = try People()
        switch operation {
        case .app(.putRegistration):
            let read = try RegisterBody(
                reading: body.example.json, contentType: body.mediaType, of: people.alice, by: people.rules)
            #expect(read.platform == .apple && read.tags == ["World"])
        case .app(.notify):
            #expect(try NotifyBody.text(body.example.json, contentType: body.mediaType) == "Lunch?")
        case .publish(.publishBatch): #expect(try Batch(body.example.json, form: .list).items.count == 1)
        case .publish:
            var request = PushRequest()
            let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
            let reader = RequestReader(.strict)
            let read = reader.read(body.example.json.span, headers: RecordHeaders(), origin: origin, into: &request)
            #expect(read == .request)
        case .lookup(.cancelRequest):
            let call = HTTPServerRequest(
                method: "POST", target: "/v1/requests/a:cancel", headers: ["Content-Type": body.mediaType],
                body: body.example.json)
            #expect(try RequestCancelling.reason(in: call) == "wrong audience")
        case .operate(.planReplay):
            let order = try PlanOrder(
                call(.planReplay, scopes: [.replay], body: String(decoding: body.example.json, as: UTF8.self)), at: 0)
            #expect(order.reason == "the hub was down")
        case .operate(.runReplay):
            let order = try RunOrder(HTTPServerRequest(method: "POST", target: "/x", body: body.example.json))
            #expect(order == RunOrder(reason: "the hub was down", rate: 200, count: 4711))
        case .operate(.searchRequests), .operate(.searchFailures):
            let text = String(decoding: body.example.json, as: UTF8.self)
            let query = try call(.searchRequests, scopes: [.read], body: text).query()
            #expect(query["filter"]?.contains("since:1h") == true)
        case .operate(.giveHold), .operate(.cancelScope), .operate(.releaseHold):
            let asked = call(.giveHold, scopes: [.operate], body: String(decoding: body.example.json, as: UTF8.self))
            let now = Timestamp(milliseconds: 1_764_000_000_000)
            switch operation {
            case .operate(.giveHold): #expect(try OrderRecord(holdOf: asked, at: now).scope.text == "tenant:acme")
            case .operate(.cancelScope): #expect(try !OrderRecord.cancellation(of: asked, at: now).isTrial)
            default: #expect(try BodyReader(asked.request, members: ["reason"]).has("reason"))
            }
        case .operate(.pauseReplay), .operate(.resumeReplay), .operate(.stopReplay):
            let request = HTTPServerRequest(method: "POST", target: "/x", body: body.example.json)
            try BodyReader(request, members: []).check()
        // Its room reads them.
        case .device(.putInstallation), .device(.changeInstallation): break
        default:
            Issue.record("no test reads this body")
        }
    }

    @Test func theGatewayTakesExampleParameters() throws {
        let items = APIOperation.App.notify.row.parameters.map { "\($0.name)=\($0.example)" }.joined(separator: "&")
        let call = HTTPServerRequest(method: "POST", target: "/api/notifications?\(items)")
        let query = try NotifyQuery(call.percentDecodedQuery)
        #expect(query.platform == .apple && query.recipient == "alice" && query.isSecure)
    }

    @Test(arguments: APIOperation.allCases) func theGatewayTakesExampleQueries(operation: APIOperation) throws {
        let row = operation.row
        guard case .operate(let operation) = operation else { return }
        let names = row.parameters.filter { $0.place == .query }
        let query = names.map { "\($0.name)=\($0.example.replacing(" ", with: "+"))" }.joined(separator: "&")
        let asked = call(operation, scopes: [.read, .replay], target: "/x?\(query)")
        #expect(try operation.row.query(of: asked.request).count == names.count)
        if let filter = names.first(where: { $0.name == "filter" }) { _ = try CallerFilter(filter.example, at: 0, tenant: nil) }
    }

    /// The answer to a body with a member that the call does not have, or of another type.
    @Test(
        arguments: [
            .publish(.publish), .publish(.publishBatch), .publish(.explain), .lookup(.cancelRequest), .operate(.planReplay),
            .operate(.runReplay), .operate(.pauseReplay), .operate(.resumeReplay), .operate(.stopReplay), .operate(.giveHold),
            .operate(.releaseHold), .operate(.cancelScope),
        ] as [APIOperation])
    func theFaultsOfABodyAreDescribed(operation: APIOperation) {
        let problem = operation.row.allProblems.first { $0.status == 422 }
        #expect(problem?.codes.contains(.invalidRequest) == true)
    }

    /// RFC 9457 as the gateway writes it.
    @Test(arguments: [
        APIProblem.unauthorized, .notFound, .overloaded(after: 1000),
        .invalid([RequestFault(.schemaInvalid, at: "/a", message: "A fault.")]),
        .perhapsWritten("r-1"), .failed, APIProblem(502, code: ErrorCode.hubForbidden, detail: "A sentence.", retry: .never),
    ])
    func aProblemFitsTheSchemaOfItsStatus(problem: APIProblem) {
        let described = APIOperation.described.flatMap(\.row.allProblems)
        #expect(described.contains { $0.status == problem.status && $0.words.contains(problem.code) })
        #expect(SchemaCheck.violations(of: problem.json, by: APIOperation.Problem.schema, isClosed: true).isEmpty)
    }

    /// The header fields that a problem has because of what it is.
    @Test(arguments: [
        APIProblem.unauthorized, .overloaded(after: 1000), .conflictInFlight, .perhapsWritten("r-1"), .resultsAway,
    ])
    func theHeaderFieldsOfAProblemAreDescribed(problem: APIProblem) throws {
        let form = try #require(
            APIOperation.described.flatMap(\.row.allProblems).first {
                $0.status == problem.status && $0.words.contains(problem.code)
            })
        let names = APIAnswer(problem).headers.all.map(\.name).filter { $0 != "Content-Type" }
        #expect(!names.isEmpty && Set(names).isSubset(of: form.headers.map(\.rawValue)), "\(names)")
    }

    @Test func aNameIsThatOfOneSchema() {
        for (name, schemas) in Dictionary(grouping: APIDescription.namedSchemas, by: \.name) {
            let first = schemas.first?.schema.definition
            #expect(schemas.allSatisfy { $0.schema.definition == first }, "\(name)")
        }
        let withMembers = APIDescription.namedSchemas.filter { $0.schema["properties"] != nil }
        let names = Dictionary(grouping: withMembers) { $0.schema.definition.json }.values
        for same in names { #expect(Set(same.map(\.name)).count == 1, "\(same.map(\.name))") }
    }

    /// Programs that generate types invent a name for one that has none, and make two of one that stands twice.
    @Test(arguments: ["paths", "components"]) func eachSchemaWithMembersHasAName(part: String) throws {
        let document = APIDescription.document
        let named = try #require(document["components"]?["schemas"]?.memberValues)
        let found = try #require(document[part]).nested.filter { $0["type"] == "object" && $0["properties"] != nil }
        #expect(found.allSatisfy(named.contains))
        #expect(part == "paths" ? found.isEmpty : found.count <= named.count)
    }

    @Test func eachReferenceLeadsSomewhere() throws {
        let document = APIDescription.document
        var count = 0
        for case .text(let place)? in document.nested.map({ $0["$ref"] }) {
            let steps = place.split(separator: "/").dropFirst()
            #expect(steps.reduce(document as JSONTree?) { $0?[String($1)] } != nil, "\(place)")
            count += 1
        }
        #expect(count > 100)
    }

    @Test func theNameOfAProblemIsThatOfOneAnswer() {
        let named = Dictionary(grouping: APIOperation.described.flatMap(\.row.allProblems), by: \.name)
        for (name, problems) in named { #expect(problems.allSatisfy { $0 == problems[0] }, "\(name)") }
    }

    @Test func itHas200KBAtMost() { #expect(APIDescription.document.json.count <= 200_000) }

    /// The others of the API write nothing.
    @Test func theContentOfAnAnswerIsDescribed() {
        let silent = APIOperation.described.filter { operation in
            operation.row.answers.contains { [200, 201, 202].contains($0.status) && $0.content == nil }
        }
        #expect(silent == [.app(.putRegistration), .app(.deleteRegistration)])
    }

    @Test func itIsServedToAnybodyOnceAsLongAsItIsTheSame() throws {
        let gateway = try TestGateway(demo: true)
        let first = try gateway.ask(request("GET", "/v1/openapi.json"))
        #expect(first.status == 200 && first.body == APIDescription.document.json + [UInt8(ascii: "\n")])
        #expect(first.head.contains("Content-Type: application/json; charset=utf-8\r\n"))
        let line = try #require(first.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
        let tag = line.dropFirst("ETag: ".count)
        let second = try gateway.ask(request("GET", "/v1/openapi.json", ["If-None-Match: W/\"x\", \(tag)"]))
        #expect(second.status == 304 && second.body.isEmpty)
        #expect(try gateway.ask(request("GET", "/v1/openapi.json", ["If-None-Match: \"x\""])).status == 200)
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"openapi\",status=\"304\"} 1\n") })
    }
}

extension JSONTree {
    fileprivate var memberValues: [JSONTree]? {
        if case .object(let members) = self { members.map(\.value) } else { nil }
    }

    /// It, and all inside.
    fileprivate var nested: [JSONTree] {
        switch self {
        case .array(let elements): [self] + elements.flatMap(\.nested)
        case .object(let members): [self] + members.flatMap(\.value.nested)
        case .text, .number, .bool, .null: [self]
        }
    }
}
