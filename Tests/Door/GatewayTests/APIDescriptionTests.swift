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
        for content in contents { #expect(SchemaCheck.violations(of: content.example.json, by: content.schema).isEmpty) }
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
        let fitting = described.filter { $0.status == problem.status && $0.words.contains(problem.code) }
        #expect(!fitting.isEmpty)
        for form in fitting { #expect(SchemaCheck.violations(of: problem.json, by: form.schema, isClosed: true).isEmpty) }
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
