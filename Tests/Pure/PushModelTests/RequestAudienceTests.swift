import PushModel
import Testing

@Suite struct RequestAudienceTests {
    private static func names(_ count: Int, _ name: (Int) -> String = { "u\($0)" }) -> String {
        (0..<count).map { "\"\(name($0))\"" }.joined(separator: ",")
    }

    private static func devices(_ count: Int) -> String {
        Array(repeating: #"{"platform":"gcm","handle":"h"}"#, count: count).joined(separator: ",")
    }

    private static let longest = String(repeating: "a", count: 120)
    private static let longestName = String(repeating: "a", count: 255)

    static let refused: [RefusedField] = [
        .init(#""audience":{}"#, "/audience", "must be named, such as"),
        .init(#""audience":null"#, "/audience", "must be named, such as"),
        .init(#""audience":[]"#, "/audience", "an object"), .init(#""audience":"all""#, "/audience", "an object"),
        .init(#""audience":true"#, "/audience", "an object"),
        .init(#""audience":{"users":["a"],"broadcast":true}"#, "/audience", "exactly one"),
        .init(#""audience":{"users":["a"],"categories":["b"]}"#, "/audience", "exactly one"),
        .init(#""audience":{"users":["a"],"x":1}"#, "/audience", "exactly one of: users, installations"),
        .init(#""audience":{"everyone":true}"#, "/audience/everyone", "no such kind"),
        .init(#""audience":{"Broadcast":true}"#, "/audience/Broadcast", "no such kind"),
        .init(#""audience":{"":true}"#, "/audience/", "no such kind"),
        .init(#""audience":{"broadcast":false}"#, "/audience/broadcast", "broadcast"),
        .init(#""audience":{"broadcast":1}"#, "/audience/broadcast", "broadcast"),
        .init(#""audience":{"broadcast":"true"}"#, "/audience/broadcast", "broadcast"),
        .init(#""audience":{"broadcast":null}"#, "/audience", "must be named, such as"),
        .init(#""audience":{"broadcast":{}}"#, "/audience/broadcast", "broadcast"),
        .init(#""audience":{"users":[]}"#, "/audience/users", "1 to 10000"),
        .init(#""audience":{"users":"alice"}"#, "/audience/users", "an array"),
        .init(#""audience":{"users":null}"#, "/audience", "must be named, such as"),
        .init(#""audience":{"users":{}}"#, "/audience/users", "an array"),
        .init(#""audience":{"users":["a",""]}"#, "/audience/users/1", "1 to 255 bytes"),
        .init(#""audience":{"users":[7]}"#, "/audience/users/0", "a string"),
        .init(#""audience":{"users":[null]}"#, "/audience/users/0", "a string"),
        .init(#""audience":{"users":["a","b","a"]}"#, "/audience/users/2", "once"),
        .init(#""audience":{"users":["Jos\u00e9","Jose\u0301"]}"#, "/audience/users/1", "once"),
        .init(#""audience":{"users":["a\r\nb"]}"#, "/audience/users/0", "no control character"),
        .init(#""audience":{"users":["a","\u00e9\u2028"]}"#, "/audience/users/1", "no control character"),
        .init(#""audience":{"users":["a\u0000"]}"#, "/audience/users/0", "no control character"),
        .init(#""audience":{"users":[" alice"]}"#, "/audience/users/0", "no blank in front"),
        .init(#""audience":{"users":["alice\u00a0"]}"#, "/audience/users/0", "no blank in front"),
        .init("\"audience\":{\"users\":[\"\(longestName)a\"]}", "/audience/users/0", "1 to 255 bytes"),
        .init("\"audience\":{\"users\":[\"\(longestName.dropLast())é\"]}", "/audience/users/0", "1 to 255 bytes"),
        .init("\"audience\":{\"users\":[\(names(10_001))]}", "/audience/users", "1 to 10000"),
        .init(#""audience":{"installations":[]}"#, "/audience/installations", "1 to 10000"),
        .init(#""audience":{"installations":["a}"]}"#, "/audience/installations/0", "letters"),
        .init("\"audience\":{\"installations\":[\(names(10_001))]}", "/audience/installations", "1 to 10000"),
        .init("\"audience\":{\"installations\":[\"\(longest)a\"]}", "/audience/installations/0", "has 121"),
        .init(#""audience":{"categories":[]}"#, "/audience/categories", "1 to 200"),
        .init(#""audience":{"categories":["a b"]}"#, "/audience/categories/0", "letters"),
        .init(#""audience":{"categories":["World\r\nX-Evil: 1"]}"#, "/audience/categories/0", "letters"),
        .init(#""audience":{"categories":["World\n"]}"#, "/audience/categories/0", "letters"),
        .init(#""audience":{"categories":["é"]}"#, "/audience/categories/0", "letters"),
        .init("\"audience\":{\"categories\":[\(names(201))]}", "/audience/categories", "1 to 200"),
        .init("\"audience\":{\"categories\":[\"\(longest)a\"]}", "/audience/categories/0", "has 121"),
        .init(#""audience":{"tag_expression":""}"#, "/audience/tag_expression", "has 0"),
        .init(#""audience":{"tag_expression":["a"]}"#, "/audience/tag_expression", "a string"),
        .init(
            "\"audience\":{\"tag_expression\":\"\(String(repeating: "a", count: 4097))\"}", "/audience/tag_expression", "has 4097"
        ),
        .init(#""audience":{"devices":[]}"#, "/audience/devices", "1 to 10000"),
        .init(#""audience":{"devices":{}}"#, "/audience/devices", "an array"),
        .init(#""audience":{"devices":["h"]}"#, "/audience/devices/0", "an object"),
        .init(#""audience":{"devices":[{"platform":"gcm"}]}"#, "/audience/devices/0", "a platform and a handle"),
        .init(#""audience":{"devices":[{"handle":"h"}]}"#, "/audience/devices/0", "a platform and a handle"),
        .init(#""audience":{"devices":[{"platform":"ios","handle":"h"}]}"#, "/audience/devices/0/platform", "no such platform"),
        .init(#""audience":{"devices":[{"platform":7,"handle":"h"}]}"#, "/audience/devices/0/platform", "a string"),
        .init(#""audience":{"devices":[{"platform":"gcm","handle":""}]}"#, "/audience/devices/0/handle", "There is no handle"),
        .init(#""audience":{"devices":[{"platform":"gcm","handle":"a b"}]}"#, "/audience/devices/0/handle", "visible"),
        .init(#""audience":{"devices":[{"platform":"gcm","handle":"a\r\nb"}]}"#, "/audience/devices/0/handle", "visible"),
        .init(
            #""audience":{"devices":[{"platform":"apple","handle":"{length=32,bytes=0x740f4707bebcf74f...e6a1}"}]}"#,
            "/audience/devices/0/handle", "the description of a token"),
        .init(#""audience":{"devices":[{"platform":"apple","handle":"6f2"}]}"#, "/audience/devices/0/handle", "odd number"),
        .init(#""audience":{"devices":[{"platform":"apple","handle":"<> "}]}"#, "/audience/devices/0/handle", "no handle"),
        .init(#""audience":{"devices":[{"platform":"apple","handle":"phone"}]}"#, "/audience/devices/0/handle", "hexadecimal"),
        .init(#""audience":{"devices":[{"platform":"browser","handle":"https://b/1"}]}"#, "/audience/devices/0/handle", "p256dh"),
        .init("\"audience\":{\"devices\":[\(devices(10_001))]}", "/audience/devices", "1 to 10000"),
        .init(
            "\"audience\":{\"devices\":[{\"platform\":\"gcm\",\"handle\":\"\(String(repeating: "h", count: 4097))\"}]}",
            "/audience/devices/0/handle", "too long"),
    ]

    @Test(arguments: refused, [RequestReader.Strictness.tolerant, .strict])
    func anAudienceThatIsNotClearIsRejectedAndNeverABroadcast(row: RefusedField, strictness: RequestReader.Strictness) {
        var reading = Reading([], strictness)
        let faults = reading.faults(record(row.fragment))
        #expect(faults.map(\.pointer) == [row.pointer])
        #expect(faults.first?.message.contains(row.piece) == true, "\(faults)")
        #expect(reading.request.audience == PushRequest.Audience.none)
    }

    /// Gateways register users of any such name.
    @Test(arguments: ["Jürgen", "a+b@example.com", "Anna Meier", "지은", "a||b", "o'hara", "x.c3a9", "a:b", longestName])
    func aUserHasAnyNameThatAGatewayRegisters(_ name: String) {
        var reading = Reading([], .strict)
        #expect(reading.read(record("\"audience\":{\"users\":[\"\(name)\"]}")) == .request)
        var names: [String] = []
        if case .users(let list) = reading.request.audience {
            let document = reading.request.document
            document.forEachElement(of: list) { names.append(document.string(document.text(of: $0))) }
        }
        #expect(names == [name])
    }

    @Test(
        arguments: [
            (#"{"platform":"ios","handle":""}"#, ["/platform", "/handle"]),
            (#"{"platform":"ios","handle":"é"}"#, ["/platform", "/handle"]),
            (#"{"platform":7,"handle":[]}"#, ["/platform", "/handle"]), (#"{"handle":"é b"}"#, ["", "/handle"]),
            (#"{"platform":"ios"}"#, ["", "/platform"]),
            // Some platform takes it.
            (#"{"platform":"ios","handle":"<6f 2e>"}"#, ["/platform"]), (#"{"platform":"ios","handle":"t:k"}"#, ["/platform"]),
        ])
    func anUnknownPlatformHidesNoFaultOfTheHandle(device: String, pointers: [String]) {
        var reading = Reading([], .strict)
        let faults = reading.faults(record("\"audience\":{\"devices\":[\(device)]}"))
        #expect(faults.map(\.pointer) == pointers.map { "/audience/devices/0" + $0 }, "\(faults)")
    }

    @Test func aMissingAudienceIsRejected() {
        var reading = Reading()
        let faults = reading.faults(#"{"message":{"title":"t"}}"#)
        #expect(faults.map(\.pointer) == ["/audience"])
        #expect(reading.request.audience == PushRequest.Audience.none)
    }

    @Test func aSecondAudienceIsRejected() {
        var reading = Reading()
        let text = #"{"audience":{"users":["a"]},"message":{"title":"t"},"audi\u0065nce":{"broadcast":true}}"#
        #expect(reading.faults(text).map(\.pointer) == ["/audience"])
    }

    @Test func everyKindIsReadUpToItsLimit() {
        var reading = Reading()
        func audience(_ text: String) -> PushRequest.Audience {
            reading.read(record("\"audience\":{\(text)}")) == .request ? reading.request.audience : .none
        }
        #expect(audience(#""broadcast":true"#) == .broadcast)
        if case .users(let node) = audience("\"users\":[\(Self.names(10_000))]") {
            #expect(reading.request.document.childCount(of: node) == 10_000)
        } else {
            Issue.record("10,000 users are allowed.")
        }
        if case .installations(let node) = audience("\"installations\":[\(Self.names(10_000))]") {
            #expect(reading.request.document.childCount(of: node) == 10_000)
        } else {
            Issue.record("10,000 installations are allowed.")
        }
        if case .categories(let node) = audience("\"categories\":[\"\(Self.longest)\",\"_@#.:-\",\(Self.names(198))]") {
            #expect(reading.request.document.childCount(of: node) == 200)
        } else {
            Issue.record("200 categories are allowed.")
        }
        if case .tagExpression(let text) = audience("\"tag_expression\":\"\(String(repeating: "é", count: 4096))\"") {
            #expect(text.count == 8192)
        } else {
            Issue.record("4,096 characters are allowed.")
        }
        if case .devices(let node) = audience("\"devices\":[\(Self.devices(10_000))]") {
            #expect(reading.request.document.childCount(of: node) == 10_000)
        } else {
            Issue.record("10,000 devices are allowed.")
        }
    }

    @Test func tenThousandBadDevicesAreToldInAFewFaults() {
        var reading = Reading()
        let devices = Array(repeating: #"{"platform":"ios","handle":""}"#, count: 10_000).joined(separator: ",")
        let faults = reading.faults(record("\"audience\":{\"devices\":[\(devices)]}"))
        #expect(faults.count == 32)
        #expect(faults.last?.pointer == "/audience/devices/15/handle")
        #expect(reading.faults(record("\"audience\":{\"users\":[\(Self.names(10_000) { _ in "same" })]}")).count == 32)
    }

    /// What stands in a handle's place is a secret, whatever is wrong with it.
    @Test(arguments: [
        #"{"platform":"gcm","handle":"CANARY é"}"#, #"{"platform":"CANARY","handle":"CANARY"}"#, #"{"handle":"CANARY"}"#,
        #""CANARY""#,
        #"{"platform":"gcm","handle":["CANARY"]}"#, #"{"platform":"gcm","handle":{"a":"CANARY"}}"#, #"["CANARY"]"#,
        #"{"platform":"gcm","handle":"CANARY","handle":"CANARY"}"#, #"{"platform":"gcm","handle":"CANARY","extra":"CANARY"}"#,
        "{\"platform\":\"gcm\",\"handle\":\"\(String(repeating: "CANARY", count: 700))\"}",
        #"{"platform":"gcm","handle":"CANARY\r\n"}"#,
    ])
    func noFaultQuotesADeviceHandle(device: String) {
        var reading = Reading([], .strict)
        let faults = reading.faults(record("\"audience\":{\"devices\":[\(device)]}"))
        #expect(!faults.isEmpty)
        #expect(!"\(faults)".contains("CANARY"))
    }

    @Test(arguments: [
        #"{"audience":{"devices":[{"platform":"gcm","handle":"CANARY"}]},"message":{"title":"t"}"#,
        #"{"audience":{"devices":[{"platform":"gcm","handle":"CANARY"#,
        #"{"audience":{"devices":[{"platform":"gcm","handle":"CANARY\x"}]}}"#,
        #"["CANARY"]"#, #""CANARY""#,
    ])
    func noDeadLetterReasonQuotesADeviceHandle(text: String) {
        var reading = Reading()
        guard case .unreadable(let failure) = reading.read(text) else { return #expect(Bool(false), "\(text)") }
        #expect(!"\(failure) \(failure.reason) \(failure.message)".contains("CANARY"))
    }
}
