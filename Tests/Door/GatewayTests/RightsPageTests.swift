@testable import PublishAPI
@testable import GatewayAPI
import Delivery
import EventLoop
import Foundation
import HTTPServing
import Kafka
import Keys
import Publishing
import PushModel
import TestSupport
import Testing

@testable import Replays

/// The table of rights on page Gateway, row by row, at a gateway that serves.
///
/// A route that is added is an operation, or the compiler stops. An operation without a row fails here.
@Suite(.tags(.waits, .threads), .serialized) struct RightsPageTests {
    private struct Row {
        let effect: String
        let routes: [(method: String, path: String)]
        /// Of each set a key needs one. Nil where no key is asked for.
        let scopes: [Set<Scope>]?
        /// The answer where no key is asked for, in words.
        let access: String
        /// The limits of a key with a tenant.
        let tenant: String
    }

    private struct Call {
        var method: String
        var path: String
        var fields = ["Content-Type: application/json"]
        var body = ""
    }

    private static func rows() throws -> [Row] {
        try GeneratedPage("Gateway").rows(of: "rights").map { cells in
            try #require(cells.count == 4)
            let routes = quoted(cells[1]).map { text in
                let words = text.split(separator: " ").map(String.init)
                return (method: words[0], path: words[1])
            }
            let groups = cells[2].replacing(",", with: "").components(separatedBy: " and ")
            let scopes = try groups.map { group in Set(try quoted(group).map { try #require(Scope(rawValue: $0)) }) }
            let isKey = !cells[2].hasPrefix("none: ")
            return Row(
                effect: cells[0], routes: routes, scopes: isKey ? scopes : nil, access: isKey ? "" : cells[2], tenant: cells[3])
        }
    }

    /// The texts between backticks.
    private static func quoted(_ cell: String) -> [String] {
        cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    // MARK: What is sent

    private static let users = #""audience":{"users":["a"]},"message":{"title":"x"}"#
    private static let everyone = #""audience":{"broadcast":true},"message":{"title":"x"}"#

    /// The members of a request with an effect, and the source that it names. Nil for another effect. A foreign one names what is of others.
    private static func publication(_ effect: String, isForeign: Bool) -> (members: String, source: String?)? {
        switch effect {
        case "publish": (users, nil)
        case "name a tenant": (#""tenant":"\#(isForeign ? "bank" : "shop")",\#(users)"#, nil)
        case "name a source": (users, isForeign ? "/other" : "/shop")
        case "name a hub": (#""hub":"\#(isForeign ? "elsewhere" : "demo")",\#(users)"#, nil)
        case "broadcast": (everyone, nil)
        case "reach who lacks a tag": (#""audience":{"tag_expression":"!a || b"},"message":{"title":"x"}"#, nil)
        default: nil
        }
    }

    /// The members of a plan with an effect, beside its reason.
    private static func plan(_ effect: String, isForeign: Bool) -> String? {
        let letter = #""source":"deadletter","places":["push.deadletter.v1:0:0"],"value":"#
        return switch effect {
        case "plan a replay": #""filter":"request:none""#
        case "plan another hub": #""filter":"request:none","set":["hub=\#(isForeign ? "elsewhere" : "demo")"]"#
        case "plan other content": #""filter":"request:none","set":["message.title=y"]"#
        case "give dead letters back": #""source":"deadletter","codes":["none"]"#
        case "mend a dead letter": "\(letter){\(users)}"
        case "mend it into a broadcast": "\(letter){\(everyone)}"
        default: nil
        }
    }

    /// The calls that have an effect by a route: of those that bring a request one for each form.
    private static func calls(_ effect: String, _ route: (method: String, path: String), isForeign: Bool) -> [Call] {
        let replay = route.method == "DELETE" ? "0a1b2c3e" : "0a1b2c3d"
        let id = route.path.hasPrefix("/v1/replays") ? replay : route.path.hasPrefix("/v1/holds") ? hold.id : "of-bank"
        let path = route.path.replacing("{id}", with: id).replacing("{tag}", with: "a").replacing("{user}", with: "a")
        var call = Call(method: route.method, path: path)
        if let (members, source) = publication(effect, isForeign: isForeign) {
            return forms(of: call, members: members, source: source)
        }
        switch (call.method, route.path) {
        case ("PUT", "/v1/installations/{id}"): call.body = #"{"platform":"apns","handle":"c0ffee00"}"#
        case ("PATCH", _):
            call = Call(
                method: "PATCH", path: path, fields: ["Content-Type: application/json-patch+json"],
                body: #"[{"op":"add","path":"/tags/a"}]"#)
        default: break
        }
        // A stream has no end.
        if call.path.hasSuffix("/events") { call.method = "HEAD" }
        if ["read the payload", "read dead letters"].contains(effect) { call.path += "?payload=true" }
        if call.path.hasSuffix(":search") { call.body = "{}" }
        if ["hold and limit", "cancel by filter"].contains(effect) {
            call.body = #"{"scope":{"tenant":"\#(isForeign ? "bank" : "shop")"},"reason":"x"}"#
        }
        if let plan = plan(effect, isForeign: isForeign) { call.body = #"{"reason":"x",\#(plan)}"# }
        return [call]
    }

    private static func forms(of call: Call, members: String, source: String?) -> [Call] {
        let json = "{" + (source.map { #""source":"\#($0)","# } ?? "") + members + "}"
        let event = #"{"specversion":"1.0","type":"t","id":"e-1","source":"\#(source ?? "/shop")","data":{\#(members)}}"#
        func form(_ type: String, _ body: String, _ fields: [String] = []) -> Call {
            Call(method: call.method, path: call.path, fields: ["Content-Type: \(type)"] + fields, body: body)
        }
        if call.path.hasSuffix(":batch") {
            return [form("application/json", #"{"requests":[\#(json)]}"#), form("application/x-ndjson", json + "\n" + json)]
        }
        let binary = ["ce-specversion: 1.0", "ce-type: t", "ce-id: e-2", "ce-source: \(source ?? "/shop")"]
        let single = [
            form("application/json", json), form("application/cloudevents+json", event),
            form("application/json", "{\(members)}", binary),
        ]
        let isTrial = call.path.hasSuffix(":explain")
        return single + (isTrial ? [] : [form("application/cloudevents-batch+json", "[\(event)]")])
    }

    // MARK: Keys

    /// A key that says its scopes and its tenant. All are of one source.
    private static func key(_ scopes: Set<Scope>, tenant: String?) -> String {
        let mask = Scope.allCases.enumerated().reduce(0) { $0 | (scopes.contains($1.element) ? 1 << $1.offset : 0) }
        let letter = tenant.map { String($0.prefix(1)) } ?? "f"
        let digits = (mask < 16 ? "0" : "") + String(mask, radix: 16)
        return "Authorization: Bearer pf_key\(digits)\(letter)00_" + String(repeating: "x", count: 43)
    }

    private static let checkKey: KeyCheck = { authorization, _ in
        guard let id = PresentedKey(authorization: authorization)?.id, id.hasPrefix("key"),
            let mask = Int(id.dropFirst(3).prefix(2), radix: 16)
        else { return .refused }
        let tenants = ["s": "shop", "b": "bank"]
        let scopes = Scope.allCases.enumerated().filter { mask & 1 << $0.offset != 0 }.map(\.element)
        return .signedIn(
            Publisher(keyID: id, tenant: tenants[String(id.dropFirst(5).prefix(1))], source: "/shop", scopes: Set(scopes)))
    }

    /// The smallest sets of scopes that have one of each.
    private static func least(_ groups: [Set<Scope>]) -> [Set<Scope>] {
        groups.reduce([[]]) { sets, group in sets.flatMap { set in group.map { set.union([$0]) } } }
    }

    private static func ask(_ gateway: ServedGateway, _ call: Call, by key: String?) throws -> (status: Int, text: String) {
        let client = try RawClient(port: gateway.port)
        client.send(request(call.method, call.path, call.fields + (key.map { [$0] } ?? []), body: call.body))
        let answer = client.answer(toHEAD: call.method == "HEAD")
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// A hold of the tenant bank, which a key without a tenant may release.
    private static let hold = {
        var scope = OrderScope()
        scope.tenant = "bank"
        return OrderRecord(
            id: "h-of-bank", kind: .hold, scope: scope, reason: "x", author: "key k1",
            since: Timestamp(milliseconds: WallClock.millisecondsSince1970()))
    }()

    /// A gateway with a request, a plan and a hold of the tenant bank.
    private static func stage(_ folder: TemporaryFolder) throws -> ServedGateway {
        let gateway = try ServedGateway({ $0.stateFolder = folder.path("state") }, checkKey: checkKey)
        let (cluster, topics) = (try #require(gateway.cluster), gateway.configuration.topics)
        for topic in [topics.deadLetters, topics.replays, topics.history, topics.status] {
            try? cluster.createTopic(topic, partitions: 1)
        }
        // One of them is deleted.
        for id in ["0a1b2c3d", "0a1b2c3e"] {
            var header = ReplayPlanHeader(
                jobID: id, createdAt: Timestamp(milliseconds: 1_764_000_000_000), filter: "", actor: "bank")
            header.tenant = "bank"
            try Data(header.json + [0x0A]).write(to: URL(fileURLWithPath: folder.path("state/replay-\(id).ndjson")))
        }
        let published = Call(method: "POST", path: "/v1/requests", body: #"{"id":"of-bank",\#(users)}"#)
        #expect(try ask(gateway, published, by: key([.publish], tenant: "bank")).status == 202)
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        let control = try #require(try producer.warmUp(topics: [topics.control], timeout: farDeadline).first)
        try hold.write(with: producer, to: control)
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
        let (reader, list) = (key([.operate], tenant: nil), Call(method: "GET", path: "/v1/holds"))
        #expect(eventually { (try? ask(gateway, list, by: reader).text.contains(hold.id)) == true })
        return gateway
    }

    // MARK: Tests

    @Test func eachRouteHasARow() throws {
        let routes = Set(APIOperation.allCases.map { "\($0.row.method) \($0.row.path)" })
        let listed = Set(try Self.rows().flatMap { row in row.routes.map { "\($0.method) \($0.path)" } })
        #expect(routes.subtracting(listed).isEmpty, "routes without a row on page Gateway")
        #expect(listed.subtracting(routes).isEmpty, "rows of no route")
    }

    @Test func aKeyNeedsTheScopesOfTheRow() throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.stage(folder)
        defer { gateway.stop() }
        for row in try Self.rows() {
            guard let groups = row.scopes else { continue }
            for call in row.routes.flatMap({ Self.calls(row.effect, $0, isForeign: false) }) {
                let words: Comment = "\(row.effect): \(call.method) \(call.path) \(call.fields) \(call.body)"
                #expect(try Self.ask(gateway, call, by: nil).status == 401, words)
                for group in groups {
                    let key = Self.key(Set(Scope.allCases).subtracting(group), tenant: nil)
                    let answer = try Self.ask(gateway, call, by: key)
                    #expect(answer.status == 403 && (call.method == "HEAD" || answer.text.contains("forbidden_scope")), words)
                }
                for scopes in Self.least(groups) {
                    let answer = try Self.ask(gateway, call, by: Self.key(scopes, tenant: nil))
                    #expect(![0, 400, 401, 403, 404].contains(answer.status), "\(words) \(scopes) \(answer)")
                }
            }
        }
    }

    @Test func aTenantIsAWallInEachRow() throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.stage(folder)
        defer { gateway.stop() }
        let (shop, free) = (Self.key(Set(Scope.allCases), tenant: "shop"), Self.key(Set(Scope.allCases), tenant: nil))
        for row in try Self.rows() where row.scopes != nil {
            let (status, code) = (Int(row.tenant.prefix(3)), Self.quoted(row.tenant).first ?? "")
            for call in row.routes.flatMap({ Self.calls(row.effect, $0, isForeign: true) }) {
                let answer = try Self.ask(gateway, call, by: shop)
                let words: Comment = "\(row.effect): \(call.method) \(call.path) \(call.fields) \(call.body) \(answer)"
                if let status {
                    #expect(
                        answer.status == status && (call.method == "HEAD" || code.isEmpty || answer.text.contains(code)), words)
                } else {
                    #expect(![0, 400, 401, 403, 404].contains(answer.status) && !answer.text.contains("bank"), words)
                }
                // The wall is none for a key without a tenant.
                let other = try Self.ask(gateway, call, by: free).status
                #expect(row.tenant.contains("any key") ? other == 403 : ![0, 400, 401, 403, 404].contains(other), words)
            }
            guard row.tenant.contains("for another") && !row.tenant.contains("another's") else { continue }
            for call in row.routes.flatMap({ Self.calls(row.effect, $0, isForeign: false) }) {
                #expect(![0, 400, 401, 403, 404].contains(try Self.ask(gateway, call, by: shop).status), "\(row.effect) \(call)")
            }
        }
        let list = Call(method: "GET", path: "/v1/replays")
        #expect(
            try Self.ask(gateway, list, by: free).text.contains("0a1b2c3d"), "else that a tenant does not see it says nothing")
    }

    @Test func whereNoKeyIsAskedForTheRowSaysWhoMayCall() throws {
        let gateway = try ServedGateway(hasKafka: false)
        defer { gateway.stop() }
        for row in try Self.rows() where row.scopes == nil {
            // The page is not served here. SessionRouteTests has it.
            for route in row.routes where !route.path.hasPrefix("/ui") {
                let call = Call(method: route.method, path: route.path.replacing("{id}", with: "a"))
                let status = try Self.ask(gateway, call, by: nil).status
                #expect(status == (row.access.contains("anybody") ? 200 : 401), "\(call)")
            }
        }
    }
}
