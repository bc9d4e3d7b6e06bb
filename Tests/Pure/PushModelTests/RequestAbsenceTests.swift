import PushModel
import TestSupport
import Testing

/// Serialisers of Java, .NET and Go write null for "not set".
@Suite struct RequestAbsenceTests {
    /// An optional member of an object of a request.
    struct Member: Sendable, CustomTestStringConvertible {
        /// The names that lead to the object; `*` for any.
        var path: [String]
        var name: String
        var testDescription: String { (path + [name]).joined(separator: ".") }
    }

    /// Every optional member of the schema, so that a new one is covered by itself.
    static let members = members(of: MessageSchema.request.document, at: [])

    private static func members(of schema: JSONTree, at path: [String]) -> [Member] {
        var found: [Member] = []
        if case .array(let choices) = schema["anyOf"] { return choices.flatMap { members(of: $0, at: path) } }
        if case .object(let properties) = schema["properties"] {
            var required: [JSONTree] = []
            if case .array(let names) = schema["required"] { required = names }
            for property in properties {
                if !required.contains(.text(property.name)) { found.append(Member(path: path, name: property.name)) }
                found += members(of: property.value, at: path + [property.name])
            }
        }
        if let value = schema["additionalProperties"] { found += members(of: value, at: path + ["*"]) }
        return found
    }

    /// A request with the object at `path`, as it is written, and its beginning up to that object's end. Nil for an unknown object.
    private static func request(with member: Member) -> (head: String, tail: String)? {
        let isAlone = ["message", "users", "title"].contains(member.name)
        return switch member.path {
        case []: (#"{"audience":{"users":["a"]},"# + (isAlone ? #""template":{"a":"b"}"# : #""message":{"title":"é"}"#), "}")
        case ["audience"]:
            (#"{"message":{"title":"x"},"audience":{"# + (isAlone ? #""categories":["a"]"# : #""users":["a"]"#), "}}")
        case ["message"]: (#"{"audience":{"users":["a"]},"message":{"# + (isAlone ? #""body":"x""# : #""title":"x""#), "}}")
        case ["options"]: (#"{"audience":{"users":["a"]},"template":{"a":"b"},"options":{"dry_run":true"#, "}}")
        case ["dedupe"]: (#"{"audience":{"users":["a"]},"template":{"a":"b"},"dedupe":{"key":"k""#, "}}")
        case ["payloads", "*"]: (#"{"audience":{"users":["a"]},"payloads":{"apple":{"body":{"aps":{"alert":null}}"#, "}}}")
        default: nil
        }
    }

    @Test(arguments: members.filter { $0.name != "dry_run" })
    func anOptionalMemberThatIsNullIsNotSet(member: Member) throws {
        let (head, tail) = try #require(Self.request(with: member), "no request is known with the object \(member.path)")
        let text = "\(head),\"\(member.name)\":null\(tail)"
        var reading = Reading([], .strict)
        reading.topic = .open
        #expect(reading.read(text) == .request)
        #expect(reading.string(reading.request.document.root) == head + tail)
        #expect(SchemaCheck.violations(of: Array(text.utf8), by: MessageSchema.request.document) == [])
    }

    @Test func theSchemaHasMembersOfEveryKind() {
        #expect(Set(Self.members.map(\.path)).count == 6 && Self.members.count > 35)
    }

    /// A serialiser of a class writes every member.
    @Test func allThatAreNotSetMayBeNullAtOnce() throws {
        var reading = Reading([("ce_id", "header")], .strict)
        let text = #"""
            {"schema_version":null,"id":null,"source":null,"hub":null,"created_at":null,"template":null,"ttl_seconds":null,
             "audience":{"users":null,"installations":null,"categories":["a"],"devices":null,"tag_expression":null,"broadcast":null},
             "expires_at":"2026-11-21T17:00:00Z","message":{"title":null,"body":"b","data":{"a":null,"b":"\"","c":null},"silent":null},
             "payloads":{"windows":null,"apple":{"body":{"aps":{"badge":null}},"headers":{"x-a":null,"x-b":"1"},"content_type":null}},
             "dedupe":null,"replay":null,"parent":null,"labels":{"a":null,"b":"1","c":null},"options":{"max_attempts":null}}
            """#
        #expect(reading.read(text) == .request)
        let request = reading.request
        #expect(reading.string(request.id) == "header" && request.source == nil && request.timeToLive == nil)
        #expect(request.expiresAt == moment("2026-11-21T17:00:00Z") && request.template == nil && request.dedupeKey == nil)
        #expect(reading.string(request.labels) == #"{"b":"1"}"#)
        #expect(reading.string(request.message?.data) == #"{"b":"\""}"#)
        #expect(request.payload(for: .windows) == nil && request.options == PushRequest.Options())
        let apple = try #require(request.payload(for: .apple))
        #expect(reading.string(apple) == #"{"body":{"aps":{"badge":null}},"headers":{"x-b":"1"}}"#)
        #expect(try reading.string(request.document.root).map { try readJSON($0).duplicateKeys.isEmpty } == true)
    }

    @Test(arguments: [
        (#""audience":null"#, "/audience", "must be named"), (#""audience":{}"#, "/audience", "must be named"),
        (#""audience":{"users":null,"broadcast":null}"#, "/audience", "must be named"),
        (#""audience":{"users":["a"],"devices":null,"categories":["b"]}"#, "/audience", "exactly one"),
        (#""audience":{"users":["a"],"everyone":null}"#, "/audience", "exactly one"),
        (#""audience":{"devices":[{"platform":null,"handle":"h"}]}"#, "/audience/devices/0", "a platform and a handle"),
        (#""audience":{"users":["a",null]}"#, "/audience/users/1", "a string"),
        (#""message":null"#, "", "One of message"), (#""message":{"title":null}"#, "/message", "at least one"),
        (#""dedupe":{"key":null}"#, "/dedupe", "needs a key"),
        (#""payloads":{"apple":{"body":null}}"#, "/payloads/apple", "needs a body"),
        (#""payloads":{"nokia":null}"#, "/payloads/nokia", "no such platform"),
        (#""titel":null"#, "/titel", "no field of this name"),
        (#""message":{"title":"x","titel":null}"#, "/message/titel", "no field of this name"),
        (#""platforms":[null]"#, "/platforms/0", "a string"), (#""x":1,"hub":null,"x":2"#, "/x", "twice"),
        (#""hub":null,"priority":"now""#, "/priority", "one of"), (#""hub":null,"id":"a b","source":null"#, "/id", "letters"),
    ])
    func nullIsNoValueWhereOneIsNeeded(fragment: String, pointer: String, words: String) {
        var reading = Reading([], .strict)
        let faults = reading.faults(record(fragment))
        #expect(faults.contains { $0.pointer == pointer && $0.message.contains(words) }, "\(faults)")
        #expect(reading.request.audience != .broadcast)
    }

    /// Of an event in structured mode, the attributes and the request in it.
    @Test func theAttributesOfAnEventMayBeNull() {
        var reading = Reading([("content-type", "application/cloudevents+json"), ("ce_time", "2026-11-21T17:00:00Z")])
        let event = #"{"specversion":"1.0","id":"e","source":null,"time":null,"expirytime":null,"traceparent":null,"data":"#
        #expect(reading.read(event + record(#""id":null,"hub":null"#) + "}") == .request)
        #expect(reading.string(reading.request.id) == "e" && reading.request.source == nil && reading.request.expiresAt == nil)
        #expect(reading.request.createdAt == moment("2026-11-21T17:00:00Z"))
        #expect(reading.faults(event + "null}").map(\.pointer) == ["/data"])
    }

    /// With random members set to null, a request is the one without them.
    @Test(arguments: 0..<4) func aRequestWithNullsIsTheOneWithoutThem(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        var (first, second) = (Reading(), Reading())
        for _ in 0..<2000 {
            var (with, without): ([String], [String]) = ([], [])
            for name in ["source", "tenant", "hub", "collapse_key", "ordering_key"].shuffled(using: &random) {
                let isNull = random.chance(1, of: 2)
                with.append("\"\(name)\":\(isNull ? "null" : "\"v\"")")
                if !isNull { without.append("\"\(name)\":\"v\"") }
            }
            let content = #""audience":{"users":["a"]},"message":{"body":"é\n"}"#
            with.insert(content, at: random.below(with.count + 1))
            without.append(content)
            let sorted = { (text: String) -> [String] in
                text.dropFirst().dropLast().split(separator: ",").map(String.init).sorted()
            }
            #expect(first.read("{" + with.joined(separator: ",") + "}") == .request)
            #expect(second.read("{" + without.joined(separator: ", ") + "}") == .request)
            let (left, right) = (first.request, second.request)
            #expect(
                first.string(left.source) == second.string(right.source) && first.string(left.hub) == second.string(right.hub))
            let text = try #require(first.string(left.document.root))
            let expected = "{" + without.joined(separator: ",") + "}"
            #expect(sorted(text) == sorted(expected))
        }
    }
}
