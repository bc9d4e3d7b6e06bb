@testable import PublishAPI
@testable import GatewayAPI
import Delivery
import HTTPServing
import HubREST
import Keys
import PushModel
import Testing

/// What a key may have written, on each path that writes.
@Suite struct PublishRightsTests {
    private static let content = #""message":{"title":"x"}"#
    private static let users = #""audience":{"users":["a"]}"#
    private static let hubs = HubRoutes(
        hubs: [("eu", 0), ("us", 1), ("crowd-1", 2), ("crowd-2", 3)], spreads: [("crowd", ["crowd-1", "crowd-2"])],
        tenants: ["shop": "us", "mass": "crowd", "lost": "gone"], defaultName: "eu")

    private static func rights(
        _ tenant: String?, scopes: Set<Scope> = [.publish, .replay], hubs: HubRoutes = Self.hubs
    ) -> PublishRights {
        PublishRights(publisher: Publisher(keyID: "k", tenant: tenant, source: "/s", scopes: scopes), hubs: hubs)
    }

    /// The code of the refusal on each path: alone, as an event, by the change of a replay's hub, and in place of a dead letter.
    private static func codes(of members: String, by rights: PublishRights) -> [String?] {
        let json = "{\(members)}"
        let event = #"{"specversion":"1.0","type":"t","source":"/s","id":"e","data":\#(json)}"#
        return [
            code { () throws(APIProblem) in try publish(json, type: "application/json", by: rights) },
            code { () throws(APIProblem) in try publish(event, type: "application/cloudevents+json", by: rights) },
            code { () throws(APIProblem) in _ = try rights.check(edits: [], replacement: Array(json.utf8)) },
        ]
    }

    private static func publish(_ body: String, type: String, by rights: PublishRights) throws(APIProblem) {
        let headers: HTTPFields = ["Content-Type": type]
        guard case .single(let form) = PublishKind(.publish, headers: headers) else { throw .noRequestMediaType }
        let submission = Submission(body: Array(body.utf8), form: form, headers: headers, key: nil)
        var buffers = Publication.Buffers(hubs: rights.hubs)
        let now = Timestamp(milliseconds: 1_795_262_400_000)
        _ = try Publication(submission, by: rights.publisher, at: now, buffers: &buffers, newID: { "made" })
    }

    private static func code(_ body: () throws(APIProblem) -> Void) -> String? {
        do throws(APIProblem) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    /// Devices are not divided by tenants, so that a tenant has those of a hub only where nobody else's requests go there.
    @Test(
        arguments: [("shop", true), ("mass", true), ("lost", false), ("other", false), ("default", false), ("part", false)]
            as [(String, Bool)])
    func aHubIsATenantsOwn(tenant: String, isOwn: Bool) {
        let hubs = HubRoutes(
            hubs: [("eu", 0), ("us", 1), ("crowd-1", 2), ("crowd-2", 3), ("asia", 4), ("asia-2", 5)],
            spreads: [("crowd", ["crowd-1", "crowd-2"]), ("east", ["asia", "asia-2"])],
            tenants: ["shop": "us", "mass": "crowd", "lost": "gone", "default": "eu", "part": "asia", "whole": "east"],
            defaultName: "eu")
        #expect(hubs.isOwn(of: TenantID(tenant)) == isOwn)
    }

    /// A key's tenant, the hub that it names, and whether it may.
    static let named: [(tenant: String?, hub: String, isAllowed: Bool)] = [
        ("shop", "us", true), ("shop", "eu", false), ("shop", "crowd", false), ("shop", "crowd-1", false),
        ("shop", "asia", false),
        ("mass", "crowd", true), ("mass", "crowd-1", true), ("mass", "us", false), ("other", "eu", true), ("other", "us", false),
        ("lost", "gone", false), ("lost", "eu", false), (nil, "us", true), (nil, "asia", true),
    ]

    @Test(arguments: named) func aTenantNamesOnlyAHubThatItsRequestsReachAnyway(
        tenant: String?, hub: String, isAllowed: Bool
    ) throws {
        let rights = Self.rights(tenant)
        let expected: String? = isAllowed ? nil : "forbidden_tenant"
        let codes = Self.codes(of: #""hub":"\#(hub)",\#(Self.users),\#(Self.content)"#, by: rights)
        #expect(codes == [expected, expected, expected])
        let edited = Self.code { () throws(APIProblem) in _ = try rights.check(edits: ["hub=\(hub)"], replacement: nil) }
        #expect(edited == expected)
        #expect(throws: Never.self) { try rights.check(edits: ["hub=null", "priority=high"], replacement: nil) }
    }

    @Test func whereNoHubIsKnownATenantNamesNone() {
        let hubs = HubRoutes(hubs: [], defaultName: nil)
        for (tenant, code) in [("shop", "forbidden_tenant"), (nil, nil)] as [(String?, String?)] {
            let codes = Self.codes(
                of: #""hub":"us",\#(Self.users),\#(Self.content)"#, by: Self.rights(tenant, hubs: hubs))
            #expect(codes == [code, code, code])
        }
    }

    /// Audiences, and whether they need the scope of broadcasts.
    @Test(arguments: [
        (#"{"broadcast":true}"#, true), (#"{"tag_expression":"!nobody"}"#, true), (#"{"tag_expression":"!a || b"}"#, true),
        (#"{"tag_expression":"!(a && b)"}"#, true), (#"{"tag_expression":"!a && !b"}"#, true),
        (#"{"tag_expression":"a && !b"}"#, false), (#"{"tag_expression":"a || b"}"#, false), (#"{"categories":["a"]}"#, false),
        (#"{"users":["a"]}"#, false), (#"{"installations":["a"]}"#, false),
    ])
    func whatReachesWhoeverLacksATagIsABroadcast(audience: String, isBroadcast: Bool) {
        let members = #""audience":\#(audience),\#(Self.content)"#
        let expected: String? = isBroadcast ? "forbidden_scope" : nil
        for tenant in ["shop", nil] {
            #expect(Self.codes(of: members, by: Self.rights(tenant)) == [expected, expected, expected])
            let all: Set<Scope> = [.publish, .broadcast]
            #expect(Self.codes(of: members, by: Self.rights(tenant, scopes: all)) == [nil, nil, nil])
        }
    }

    /// Changes, and the scopes beside that of replays without which they are refused.
    @Test(
        arguments: [
            ([], []), (["hub=us", "priority=high", "options.max_attempts=8", "labels.a=b", "collapse_key=c"], []),
            (["message.title=x"], [.publish, .broadcast]), (["template.a=x"], [.publish, .broadcast]),
            ([#"payloads={"apple":{}}"#], [.publish, .broadcast]), (["message=null"], [.publish, .broadcast]),
        ] as [([String], Set<Scope>)])
    func otherContentNeedsWhatPublishingItNeeds(edits: [String], needed: Set<Scope>) {
        for lacking in Scope.allCases {
            let rights = Self.rights(nil, scopes: Set(Scope.allCases).subtracting([lacking]))
            let code = Self.code { () throws(APIProblem) in _ = try rights.check(edits: edits, replacement: nil) }
            #expect(code == (needed.contains(lacking) ? "forbidden_scope" : nil))
        }
    }

    @Test func whatStandsInPlaceOfADeadLetterIsAPublication() throws {
        func check(_ json: String, scopes: Set<Scope> = [.publish, .replay]) throws(APIProblem) -> String? {
            try Self.rights(nil, scopes: scopes).check(edits: [], replacement: Array(json.utf8))
        }
        let plain = "{\(Self.users),\(Self.content)}"
        #expect(throws: APIProblem.forbiddenScope(.publish)) { try check(plain, scopes: [.read, .replay]) }
        #expect(try check(plain) == nil)
        #expect(try check(#"{"source":"/s",\#(plain.dropFirst())"#) == nil)
        #expect(try check(#"{"source":"/bank",\#(plain.dropFirst())"#) == "/bank", "it must be the letter's")
        // What pushfan alone says of a request would hide others in it.
        for member in [#""replay":{}"#, #""parent":{}"#, #""remaining":[]"#, #""data":{"audience":{"broadcast":true}}"#] {
            let problem = try #require(throws: APIProblem.self) { try check("{\(member),\(plain.dropFirst())") }
            #expect(problem.status == 422)
        }
        // The request counts as its changes leave it.
        let rights = Self.rights(nil, scopes: Set(Scope.allCases))
        #expect(throws: Never.self) {
            try rights.check(edits: ["message.title=y"], replacement: Array("{\(Self.users)}".utf8))
        }
    }
}
