import DoorStage
@testable import OperatorAPI
@testable import AppAPI
@testable import PublishAPI
@testable import GatewayAPI
import HTTPServing
import Keys
import ResultQuery
import TestSupport
import Testing

/// The rows of all operations, at a table of routes and at a gateway that serves.
@Suite(.tags(.waits, .threads), .serialized) struct RouteTableTests {
    private static let values = ["{id}": "0a1b2c3d", "{name}": "main.js", "{user}": "alice", "{tag}": "World"]

    private static func path(_ operation: APIOperation) -> String {
        values.reduce(operation.row.path) { $0.replacing($1.key, with: $1.value) }
    }

    @Test(arguments: APIOperation.allCases) func aRowIsReachedAtItsOwnPath(operation: APIOperation) {
        let (row, path) = (operation.row, Self.path(operation))
        let parameters = row.path.split(separator: "/").compactMap { piece in
            piece.firstIndex(of: "{").flatMap { start in piece.lastIndex(of: "}").map { String(piece[start...$0]) } }
        }.compactMap { Self.values[$0] }
        if case .route(let route) = Route.match(row.method, path: path[...]) {
            #expect(route.operation == operation && route.parameters == parameters)
        } else {
            Issue.record("\(path) leads nowhere")
        }
        let methods = APIOperation.allCases.map(\.row).filter { $0.path == row.path }.map(\.method)
        let allowed = methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
        #expect(Route.match("NONE", path: path[...]) == .otherMethods(allowed))
        #expect(Set(methods).count == methods.count, "one row for a method of a path")
        let head = Route.match("HEAD", path: path[...])
        #expect(methods.contains("GET") ? head == Route.match("GET", path: path[...]) : head == .otherMethods(allowed))
    }

    @Test(arguments: APIOperation.allCases) func aRowOfKeysNamesAScopeAndBelongsToARoomOfBackEnds(operation: APIOperation) {
        switch (operation, operation.row.access) {
        case (.publish, .key(let scopes, _)), (.lookup, .key(let scopes, _)), (.feed, .key(let scopes, _)),
            (.operate, .key(let scopes, _)), (.device, .key(let scopes, _)):
            #expect(!scopes.isEmpty && operation.row.path.hasPrefix("/v1/"))
        case (.app, .user): #expect(operation.row.path.hasPrefix("/api/"))
        case (.device, .device): #expect(operation.row.path.hasPrefix("/v1/installations/"))
        case (.open, .anyone), (.page, .anyone): break
        default: Issue.record("\(operation.name) has an access that its room does not ask for")
        }
    }

    @Test func pageGatewayHasTheRoutes() throws {
        let page = try GeneratedPage("Gateway")
        #expect(page.parts(of: "routes") == ["all"])
        let rows = APIOperation.allCases.map(\.row).map { ["`\($0.method) \($0.path)`", Self.words(for: $0.access), $0.summary] }
        let difference = try page.difference("routes") { _ in GeneratedPage.table(["Route", "Who", "What it does"], rows) }
        #expect(difference == nil)
    }

    private static func words(for access: APIOperation.Access) -> String {
        switch access {
        case .anyone: "anybody"
        case .user: "a user"
        case .device: "`register`, or a user"
        case .key(let scopes, let isOfAllTenants):
            scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ") + (isOfAllTenants ? ", without a tenant" : "")
        }
    }

    // MARK: Queries

    /// The part of a call that a query cannot be read before: its method and path, and a body where one must be there.
    private static func ask(_ gateway: ServedGateway, _ operation: APIOperation, query: String) throws -> (Int, String) {
        let row = operation.row
        // A stream has no end.
        let method = row.path.hasSuffix("/events") ? "HEAD" : row.method
        let client = try RawClient(port: gateway.port)
        let body = row.body == nil ? "" : "{}"
        client.send(
            request(
                method, path(operation) + query,
                ["Content-Type: application/json", "Authorization: Bearer \(ServedGateway.key)"], body: body))
        let answer = client.answer(toHEAD: method == "HEAD")
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private static let every: KeyCheck = { _, _ in
        .signedIn(Publisher(keyID: "k1", tenant: nil, source: "/shop", scopes: Set(Scope.allCases)))
    }

    @Test func everyRouteOfV1RefusesAnUnknownAndARepeatedMember() throws {
        let folder = try TemporaryFolder()
        let gateway = try ServedGateway({ $0.stateFolder = folder.path("state") }, checkKey: Self.every)
        defer { gateway.stop() }
        for operation in APIOperation.allCases where operation.row.path.hasPrefix("/v1/") {
            let isHead = operation.row.path.hasSuffix("/events")
            let unknown = try Self.ask(gateway, operation, query: "?lief=true")
            #expect(unknown.0 == 400 && (isHead || unknown.1.contains("query")), "\(operation.name) \(unknown)")
            for name in operation.row.queryNames {
                let twice = try Self.ask(gateway, operation, query: "?\(name)=1&\(name)=1")
                #expect(twice.0 == 400 && (isHead || twice.1.contains("\(name) more than once")), "\(operation.name) \(twice)")
            }
        }
    }

    @Test(arguments: APIOperation.allCases.filter { $0.row.path.hasPrefix("/v1/") })
    func anEmptyMemberIsYesForAFlagAndElseNotThere(operation: APIOperation) throws {
        let row = operation.row
        for parameter in row.parameters where parameter.place == .query {
            for text in ["\(parameter.name)", "\(parameter.name)="] {
                let query = try row.query(of: HTTPServerRequest(method: row.method, target: "\(Self.path(operation))?\(text)"))
                #expect(query == (parameter.isFlag ? [parameter.name: ""] : [:]))
                if parameter.isFlag { #expect(try query.isTrue(parameter.name)) }
            }
        }
    }

    @Test func aFlagIsReadAlikeByLookUpsAndLists() throws {
        for (text, isYes) in [("payload", true), ("payload=", true), ("payload=true", true), ("payload=false", false)] {
            let request = HTTPServerRequest(method: "GET", target: "/v1/requests/a?\(text)")
            #expect(try LookupQuery(request, of: .showRequest).wantsPayload == isYes)
            let letters = call(.listDeadLetters, scopes: [.read], target: "/v1/deadletters?\(text)")
            #expect(try letters.query().isTrue("payload") == isYes)
        }
    }

    /// In a query a plus is a blank, as forms write one.
    @Test(arguments: [("%2B01:00", "+01:00"), ("+01:00", "+01:00"), ("Etc/GMT+5", "Etc/GMT+5")])
    func aZoneMayHaveItsPlusUnescaped(text: String, name: String) throws {
        let lookup = HTTPServerRequest(method: "GET", target: "/v1/requests/a?zone=\(text)")
        #expect(try LookupQuery(lookup, of: .showRequest).zone.name == name)
        #expect(try call(.listRequests, scopes: [.read], target: "/v1/requests?zone=\(text)").query()["zone"] == name)
    }
}
