@testable import PublishAPI
@testable import GatewayAPI
import HTTPServing
import Intake
import Keys
import Publishing
import PushModel
import Testing

/// What a call of `POST /v1/requests` becomes, or all that is wrong with it; without HTTP and Kafka.
@Suite struct PublicationTests {
    static let shop = Publisher(
        keyID: "k1", tenant: "shop", source: "/shop", scopes: [.publish, .broadcast])
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let content = #""audience":{"users":["a"]},"message":{"title":"x"}"#
    private static let type: (String, String) = ("Content-Type", "application/json")
    private static let eventType: (String, String) = ("Content-Type", "application/cloudevents+json; charset=utf-8")

    private func publish(
        _ body: String, _ fields: [(String, String)] = [type], by publisher: Publisher = shop, at index: Int? = nil
    ) throws(APIProblem) -> Publication {
        var headers = HTTPFields()
        for (name, value) in fields { headers.append(name, value: value) }
        guard case .single(let form) = PublishKind(.publish, headers: headers) else { throw .noRequestMediaType }
        let submission = Submission(
            body: Array(body.utf8), form: form, headers: headers, key: try IdempotencyKey.read(headers), index: index)
        var buffers = Publication.Buffers()
        return try Publication(submission, by: publisher, at: Self.now, buffers: &buffers, newID: { "made" })
    }

    private func problem(
        _ body: String, _ fields: [(String, String)] = [type], by publisher: Publisher = shop
    ) -> APIProblem? {
        do throws(APIProblem) {
            _ = try publish(body, fields, by: publisher)
            return nil
        } catch {
            return error
        }
    }

    private func text(_ publication: Publication) -> String { String(decoding: publication.outgoing.json, as: UTF8.self) }

    // MARK: What is published

    @Test func theKeySaysTenantAndSourceAndTheGatewayTheID() throws {
        let publication = try publish("{\(Self.content)}")
        #expect(text(publication) == #"{"id":"made","tenant":"shop",\#(Self.content)}"#)
        let request = publication.outgoing
        #expect(request.id == "made" && request.recordKey == "made" && request.source == "/shop")
        #expect(request.headers.isEmpty && !request.isEvent && publication.expiresAt == nil)
    }

    /// Otherwise the name would stand twice once the gateway has said it.
    @Test(arguments: [true, false]) func whatIsNullIsSaidByTheGateway(isEvent: Bool) throws {
        let nulls = #"{"id":null,"tenant":null,"source":null,\#(Self.content),"payloads":null,"labels":{"a":null}}"#
        let event = #"{"specversion":"1.0","type":"t","id":"made","source":"/shop","time":null,"data":\#(nulls)}"#
        let publication = try publish(isEvent ? event : nulls, [isEvent ? Self.eventType : Self.type])
        #expect(text(publication) == #"{"id":"made","tenant":"shop",\#(Self.content),"labels":{}}"#)
    }

    @Test func halfASurrogatePairIsRefusedWithItsPlace() {
        let problem = problem(#"{"audience":{"users":["a"]},"message":{"title":"\ud83d"}}"#)
        #expect(problem?.status == 422 && problem?.faults.map(\.pointer) == ["/message/title"])
    }

    @Test func whatTheRequestSaysAlreadyStays() throws {
        let json = #" {"id":"own","tenant":"shop","source":"/shop","ttl_seconds":60,"priority":"high",\#(Self.content)}"#
        let publication = try publish(json)
        #expect(text(publication) == String(json.dropFirst()))
        #expect(publication.outgoing.id == "own" && publication.outgoing.priority == .high)
        #expect(publication.expiresAt == Self.now.adding(seconds: 60))
    }

    @Test func requestsOfAKeyWithoutTenantNameTheirs() throws {
        let publisher = Publisher(keyID: "k", tenant: nil, source: "/s", scopes: [.publish])
        #expect(text(try publish("{\(Self.content)}", by: publisher)) == #"{"id":"made",\#(Self.content)}"#)
        let json = #"{"id":"own","tenant":"other",\#(Self.content)}"#
        #expect(text(try publish(json, by: publisher)) == json)
    }

    @Test(arguments: ["abc", "\"abc\"", "\"a\\\"b\"", String(repeating: "x", count: 255)])
    func aRepeatedKeyGivesTheSameIDAndRecordKey(value: String) throws {
        let body = "{\(Self.content)}"
        let requests = try (0..<2).map { _ in try publish(body, [Self.type, ("Idempotency-Key", value)]).outgoing }
        let id = try #require(requests[0].id)
        #expect(id.count == 33 && id.hasPrefix("k") && requests[1].id == id && requests[1].recordKey == id)
        for (tenant, source, isSame) in [("shop", "/shop", true), ("shop", "/bank", false), ("other", "/shop", false)] {
            let other = Publisher(keyID: "k2", tenant: tenant, source: source, scopes: [.publish])
            #expect(try (publish(body, [Self.type, ("Idempotency-Key", value)], by: other).outgoing.id == id) == isSame)
        }
        let own = try publish(#"{"id":"own",\#(Self.content)}"#, [Self.type, ("Idempotency-Key", value)])
        #expect(own.outgoing.id == "own")
    }

    @Test func theTenantOfTheRequestCountsForTheIDOfAKey() throws {
        let free = Publisher(keyID: "k2", tenant: nil, source: "/shop", scopes: [.publish])
        func id(_ members: String, by publisher: Publisher) throws -> String? {
            try publish("{\(members)\(Self.content)}", [Self.type, ("Idempotency-Key", "abc")], by: publisher).outgoing.id
        }
        let ids = try ["", #""tenant":"shop","#, #""tenant":"other","#].map { try id($0, by: free) }
        #expect(Set(ids).count == 3)
        let bound = Publisher(keyID: "k1", tenant: "shop", source: "/shop", scopes: [.publish])
        #expect(try id("", by: bound) == ids[1], "a key that is bound to the tenant may take the free one's place")
    }

    @Test func eachRequestOfABatchHasAnIDOfItsOwnFromTheKey() throws {
        func id(_ index: Int?) throws -> String? {
            try publish("{\(Self.content)}", [Self.type, ("Idempotency-Key", "abc")], at: index).outgoing.id
        }
        let ids = try [nil, 0, 1, 10].map { try id($0) }
        #expect(Set(ids).count == 4 && ids.allSatisfy { $0?.count == 33 })
        #expect(try id(1) == ids[2])
        #expect(try publish("{\(Self.content)}", at: 1).outgoing.id == "made")
    }

    @Test func aKeyMeansTheSameWithAndWithoutQuotes() throws {
        let ids = try ["abc", "\"abc\""].map {
            try publish("{\(Self.content)}", [Self.type, ("Idempotency-Key", $0)]).outgoing.id
        }
        // The first 16 bytes of SHA-256("shop\0/shop\0abc").
        #expect(ids[0] == ids[1] && ids[0] == "kae08b196152e389ce8a35c46b8a0a41d")
    }

    @Test func traceContextGoesIntoTheRecord() throws {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let publication = try publish("{\(Self.content)}", [Self.type, ("traceparent", parent), ("tracestate", "a=b")])
        #expect(publication.outgoing.headers.map { "\($0.name)=\($0.value)" } == ["traceparent=\(parent)", "tracestate=a=b"])
        let malformed = try publish("{\(Self.content)}", [Self.type, ("traceparent", "00-1-2-3"), ("tracestate", "a=b")])
        #expect(malformed.outgoing.headers.isEmpty)
    }

    @Test func repeatedStatesAreOneListAndRepeatedParentsNone() throws {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let states = [("tracestate", "a=b"), ("tracestate", "c=d,e=f")]
        let listed = try publish("{\(Self.content)}", [Self.type, ("traceparent", parent)] + states)
        #expect(listed.outgoing.headers.map(\.value) == [parent, "a=b, c=d,e=f"])
        let doubled = try publish("{\(Self.content)}", [Self.type, ("traceparent", parent), ("Traceparent", parent)] + states)
        #expect(doubled.outgoing.headers.isEmpty)
    }

    @Test func aParentOfALaterVersionIsWrittenAsTheKnownOne() throws {
        let ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"
        let publication = try publish("{\(Self.content)}", [Self.type, ("traceparent", "cc-\(ids)-01-what-comes")])
        #expect(publication.outgoing.headers.map(\.value) == ["00-\(ids)-01"])
    }

    // MARK: Events

    private static let attributes = #""specversion":"1.0","type":"t.v1","source":"/shop","id":"e-1""#

    @Test(arguments: [eventType, type]) func aStructuredEventIsWrittenAsTheRequestInIt(field: (String, String)) throws {
        let json = #"{\#(Self.attributes),"time":"2026-11-21T11:00:00Z","data":{\#(Self.content),"ttl_seconds":7200}}"#
        let publication = try publish(json, [field])
        #expect(text(publication) == #"{"id":"e-1","tenant":"shop",\#(Self.content),"ttl_seconds":7200}"#)
        let request = publication.outgoing
        #expect(request.id == "e-1" && request.recordKey == "e-1" && !request.isEvent)
        #expect(request.headers.map { "\($0.name)=\($0.value)" } == ["ce_type=t.v1", "ce_time=2026-11-21T11:00:00Z"])
        #expect(publication.expiresAt == Self.now.adding(seconds: 3600))
    }

    @Test func aBinaryEventIsTheSameFromHeaders() throws {
        let fields = [
            Self.type, ("ce-specversion", "1.0"), ("ce-type", "t.v1"), ("ce-source", "%2Fshop"), ("ce-id", "e-1"),
            ("ce-partitionkey", "o"),
        ]
        let publication = try publish("{\(Self.content)}", fields)
        #expect(text(publication) == #"{"id":"e-1","tenant":"shop",\#(Self.content)}"#)
        #expect(publication.outgoing.recordKey == "o")
        #expect(publication.outgoing.headers.map(\.name) == ["ce_type", "ce_partitionkey"])
    }

    @Test(
        arguments: [
            (#"{"specversion":"2.0","data":{\#(content)}}"#, ["/specversion", "/id", "/source", "/type"]),
            (#"{\#(attributes),"time":"noon","data":{\#(content)}}"#, ["/time"]),
            (#"{"specversion":"1.0","type":"t","source":"/shop","id":"no id","data":{\#(content)}}"#, ["/id"]),
            (
                #"{"specversion":"1.0","type":"t","source":"/shop","data":{"mesage":{}}}"#,
                ["/id", "/data/mesage", "/data/audience", "/data"]
            ),
        ] as [(String, [String])])
    func aBadAttributeIs400(json: String, pointers: [String]) {
        let problem = problem(json, [Self.eventType])
        #expect(problem?.status == 400 && problem?.code == "invalid_request")
        #expect(Set(problem?.faults.map(\.pointer) ?? []) == Set(pointers), "\(String(describing: problem))")
    }

    /// A value of `ce-type` and what it says, or nil for what says nothing (CloudEvents HTTP binding, section 3.1.3.2).
    @Test(
        arguments: [
            ("t.v1", "t.v1"), ("\"t.v1\"", "t.v1"), ("\"a\\\"b\\\\\"", "a\"b\\"), ("a%20b%C3%A9", "a bé"), ("\"a%20b\"", "a b"),
            ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"), ("%2561", "%61"), ("a+b", "a+b"), ("a\"b", "a\"b"),
            ("%EF%BF%BD", "\u{FFFD}"),
            ("é", "é"), ("%FF", nil), ("%C3", nil), ("%ED%A0%80", nil), ("\u{FFFD}", nil), ("%zz", nil), ("%4", nil),
            ("\"a", nil),
            ("\"a\"b", nil), ("\"a\\\"", nil), ("\"", nil),
        ] as [(String, String?)])
    func aHeaderOfAnEventIsUnquotedAndDecoded(field: String, text: String?) throws {
        let fields = [
            Self.type, ("ce-specversion", "1.0"), ("ce-type", field), ("ce-source", "\"/shop\""), ("ce-id", "\"e-1\""),
        ]
        guard let text else {
            let problem = problem("{\(Self.content)}", fields)
            #expect(problem?.status == 400 && problem?.faults.count == 1)
            #expect(
                problem?.faults.first?.message.contains("type must be UTF-8 with percent-encoding, in its header ce-type") == true
            )
            return
        }
        let publication = try publish("{\(Self.content)}", fields)
        #expect(publication.outgoing.id == "e-1" && publication.outgoing.headers.first?.value == text)
    }

    // MARK: What is refused

    static let refused: [(body: String, status: Int, code: String, words: String)] = [
        ("", 400, "not_json", "empty"), ("{\n  \(content),\n}", 400, "not_json", "line 2, column "),
        ("{\"a\":'b'}", 400, "not_json", "line 1, column 6: Names and texts stand in double quotes"),
        ("[]", 422, "invalid_request", "each fault"),
        (#"{\#(content),"hub":7}"#, 422, "invalid_request", "each fault"),
        (#"{\#(content),"expires_at":"2026-11-21T11:59:59Z"}"#, 422, "invalid_request", "each fault"),
        (#"{"tenant":"other",\#(content)}"#, 403, "forbidden_tenant", "another tenant"),
        (#"{"source":"/other",\#(content)}"#, 403, "forbidden_source", "another source"),
        (#"{"replay":{},\#(content)}"#, 422, "invalid_request", "each fault"),
    ]

    @Test(arguments: refused)
    func whatCannotBePublishedIsSaid(row: (body: String, status: Int, code: String, words: String)) {
        let problem = problem(row.body)
        #expect(problem?.status == row.status && problem?.code == row.code, "\(String(describing: problem))")
        #expect(problem?.detail.contains(row.words) == true && problem?.retry == .never, "\(String(describing: problem))")
    }

    @Test func severalRequestsInPlaceOfOneAreToldTheirRoute() {
        let list = problem(" \n[{\(Self.content)}]")
        #expect(list?.status == 422 && list?.faults.first?.message.contains("goes to POST /v1/requests:batch, as {") == true)
        let lines = problem("{\(Self.content)}\n{\(Self.content)}\n")
        #expect(lines?.code == "not_json" && lines?.detail.contains("go to POST /v1/requests:batch, with") == true)
        for other in ["{\(Self.content)}{}", "{\(Self.content)}\n}", "7", "{"] {
            let problem = problem(other)
            #expect(problem != nil && !"\(String(describing: problem))".contains(":batch"), "\(other)")
        }
        #expect(APIProblem.noRequestMediaType.detail.contains("with Content-Type: application/x-ndjson."))
    }

    @Test func allFaultsAreNamedAtOnce() {
        let problem = problem(#"{"audience":{"users":[]},"mesage":{},"ttl_seconds":-1}"#)
        let pointers = problem?.faults.map(\.pointer) ?? []
        #expect(Set(pointers).isSuperset(of: ["/audience/users", "/mesage", "/ttl_seconds"]), "\(pointers)")
    }

    private static let long = String(repeating: "x", count: 1400)

    /// A worker for another hub, or one for Windows alone, may send it.
    @Test(
        arguments: [
            #"{\#(content),"hub":"nowhere"}"#,
            #"{"audience":{"users":["a"]},"message":{"data":{"a":"\#(long)","b":"\#(long)","c":"\#(long)"}}}"#,
        ])
    func whatOnlySettingsOfAWorkerForbidIsPublished(body: String) throws {
        let free = Publisher(keyID: "k", tenant: nil, source: "/shop", scopes: [.publish])
        #expect(try publish(body, by: free).outgoing.id == "made")
    }

    @Test func aKeyDoesWhatItsScopesAllow() throws {
        let everyone = #"{"audience":{"broadcast":true},"message":{"title":"x"}}"#
        let one = Publisher(keyID: "k", tenant: "shop", source: "/shop", scopes: [.publish])
        let reader = Publisher(keyID: "k", tenant: "shop", source: "/shop", scopes: [.read])
        #expect(problem(everyone, by: one)?.code == "forbidden_scope")
        #expect(problem(everyone, by: one)?.detail.contains("publish:broadcast") == true)
        #expect(problem("{\(Self.content)}", by: reader)?.code == "forbidden_scope")
        #expect(problem(everyone, by: one)?.detail.contains("`pushfan keys create --scope publish,publish:broadcast`") == true)
        #expect(problem("{\(Self.content)}", by: reader)?.detail.contains("`pushfan keys create --scope publish`") == true)
        #expect(problem(everyone) == nil && problem("{\(Self.content)}", by: one) == nil)
    }

    @Test(arguments: ["", "\"\"", "\"a", "\"a\"b\"", "\"a\\b\"", "é", String(repeating: "x", count: 256)])
    func aKeyThatIsNoneIsRefused(value: String) {
        #expect(problem("{\(Self.content)}", [Self.type, ("Idempotency-Key", value)])?.code == "idempotency_key_invalid")
    }

    @Test func twoKeysAreNone() {
        let fields = [Self.type, ("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
        #expect(problem("{\(Self.content)}", fields)?.code == "idempotency_key_invalid")
    }

    @Test(arguments: [[], [("Content-Type", "text/plain")], [type, type]])
    func anotherTypeIs415(fields: [(String, String)]) {
        #expect(problem("{\(Self.content)}", fields)?.status == 415)
    }

    @Test func whatIsTooLargeWithItsIDIsRefused() {
        let room = APILimit.requestByteCount - "{\(Self.content),\"labels\":{}}".utf8.count
        let problem = problem("{\(Self.content),\"labels\":{\(String(repeating: " ", count: room))}}")
        #expect(problem?.status == 422 && problem?.faults.map(\.code) == [.recordTooLarge])
    }
}
