import PushModel
import Testing

struct RefusedField: Sendable, CustomTestStringConvertible {
    let fragment: String
    let pointer: String
    let piece: String

    init(_ fragment: String, _ pointer: String, _ piece: String) {
        self.fragment = fragment
        self.pointer = pointer
        self.piece = piece
    }

    var testDescription: String { "\(pointer): \(fragment.prefix(60))" }
}

private func a(_ count: Int) -> String { String(repeating: "a", count: count) }
private func e(_ count: Int) -> String { String(repeating: "é", count: count) }
private func list(_ count: Int) -> String { (0..<count).map { "\"u\($0)\"" }.joined(separator: ",") }
private func members(_ count: Int, value: String = "\"\"") -> String {
    (0..<count).map { "\"m\($0)\":\(value)" }.joined(separator: ",")
}
@Suite struct RequestLimitTests {
    static let identity: [RefusedField] = [
        .init(#""schema_version":2"#, "/schema_version", "version 1"),
        .init(#""schema_version":"1""#, "/schema_version", "version 1"),
        .init(#""schema_version":1.5"#, "/schema_version", "version 1"),
        .init(#""schema_version":18446744073709551617"#, "/schema_version", "version 1"),
        .init("\"id\":\"\"", "/id", "has 0 characters"), .init("\"id\":\"\(a(129))\"", "/id", "has 129 characters"),
        .init(#""id":"a b""#, "/id", "letters, digits and . _ : -"), .init(#""id":"a\nb""#, "/id", "letters"),
        .init(#""id":7"#, "/id", "a string"), .init(#""id":"é""#, "/id", "letters"), .init(#""id":"a/b""#, "/id", "letters"),
        .init("\"source\":\"\"", "/source", "has 0"), .init("\"source\":\"\(e(257))\"", "/source", "has 257"),
        .init(#""source":["x"]"#, "/source", "a string"), .init(#""tenant":"Shop""#, "/tenant", "small letters"),
        .init(#""tenant":"-x""#, "/tenant", "start with"), .init("\"tenant\":\"\(a(64))\"", "/tenant", "has 64"),
        .init(#""hub":"_x""#, "/hub", "start with"), .init("\"hub\":\"\(a(64))\"", "/hub", "has 64"),
        .init("\"hub\":\"\"", "/hub", "has 0"),
        .init(#""hub":"a/b""#, "/hub", "small letters"),
        .init(#""created_at":"yesterday""#, "/created_at", "date and time"),
        .init(#""created_at":1795176000"#, "/created_at", "date and time"),
        .init(#""labels":[]"#, "/labels", "an object"), .init(#""labels":{"A":"x"}"#, "/labels/A", "small letters"),
        .init(#""labels":{"":"x"}"#, "/labels/", "small letters"), .init(#""labels":{"a":1}"#, "/labels/a", "a string"),
        .init("\"labels\":{\"a\":\"\(e(65))\"}", "/labels/a", "has 65"),
        .init("\"labels\":{\(members(17))}", "/labels", "17 members; 0 to 16"),
        .init("\"labels\":{\"\(a(33))\":\"\"}", "/labels/\(a(33))", "more than 32"),
        .init(#""labels":{"1a":""}"#, "/labels/1a", "start with"),
    ]

    static let timing: [RefusedField] = [
        .init(#""ttl_seconds":-1"#, "/ttl_seconds", "from 0 to 2419200"),
        .init(#""ttl_seconds":2419201"#, "/ttl_seconds", "from 0 to 2419200"),
        .init(#""ttl_seconds":"60""#, "/ttl_seconds", "whole number"),
        .init(#""ttl_seconds":1.5"#, "/ttl_seconds", "whole number"),
        .init(#""ttl_seconds":9223372036854775808"#, "/ttl_seconds", "whole number"),
        .init(#""ttl_seconds":-9223372036854775809"#, "/ttl_seconds", "whole number"),
        .init(#""ttl_seconds":1e999"#, "/ttl_seconds", "whole number"),
        .init(#""expires_at":"2026-02-30T00:00:00Z""#, "/expires_at", "date and time"),
        .init(#""not_before":"2026-11-21 17:00:00Z""#, "/not_before", "date and time"),
        .init(#""ttl_seconds":60,"expires_at":"2026-11-21T17:00:00Z""#, "/ttl_seconds", "Only one"),
        .init(#""priority":"urgent""#, "/priority", "high, normal, low"),
        .init(#""priority":1"#, "/priority", "high, normal, low"),
        .init(#""priority":"High""#, "/priority", "high, normal, low"), .init("\"collapse_key\":\"\"", "/collapse_key", "has 0"),
        .init("\"collapse_key\":\"\(a(65))\"", "/collapse_key", "has 65"),
        .init(#""collapse_key":"é""#, "/collapse_key", "printable ASCII"),
        .init(#""collapse_key":"a\r\nX: y""#, "/collapse_key", "printable ASCII"),
        .init("\"ordering_key\":\"\"", "/ordering_key", "has 0"),
        .init("\"ordering_key\":\"\(a(257))\"", "/ordering_key", "has 257"), .init(#""dedupe":{}"#, "/dedupe", "needs a key"),
        .init(#""dedupe":"x""#, "/dedupe", "an object"), .init("\"dedupe\":{\"key\":\"\(a(129))\"}", "/dedupe/key", "has 129"),
        .init("\"dedupe\":{\"key\":\"\"}", "/dedupe/key", "has 0"),
        .init(#""dedupe":{"key":"k","window_seconds":0}"#, "/dedupe/window_seconds", "from 1 to 604800"),
        .init(#""dedupe":{"key":"k","window_seconds":604801}"#, "/dedupe/window_seconds", "from 1 to 604800"),
        .init(#""options":[]"#, "/options", "an object"),
        .init(#""options":{"dry_run":"yes"}"#, "/options/dry_run", "true or false"),
        .init(#""options":{"test_send":1}"#, "/options/test_send", "true or false"),
        .init(#""options":{"max_attempts":0}"#, "/options/max_attempts", "from 1 to 20"),
        .init(#""options":{"max_attempts":21}"#, "/options/max_attempts", "from 1 to 20"),
        .init(#""options":{"on_ambiguous":"ask"}"#, "/options/on_ambiguous", "retry, stop"),
        .init(#""options":{"result_detail":"all"}"#, "/options/result_detail", "none, summary, attempts"),
    ]

    static let content: [RefusedField] = [
        .init(#""message":"hi""#, "/message", "an object"),
        .init(#""message":{}"#, "/message", "at least one of title, body and data"),
        .init(#""message":{"subtitle":"s"}"#, "/message", "at least one"),
        .init("\"message\":{\"title\":\"\(e(257))\"}", "/message/title", "has 257"),
        .init("\"message\":{\"title\":\"\",\"subtitle\":\"\(a(257))\"}", "/message/subtitle", "has 257"),
        .init("\"message\":{\"body\":\"\(a(2049))\"}", "/message/body", "has 2049"),
        .init(#""message":{"title":"","image_url":""}"#, "/message/image_url", "has 0"),
        .init(#""message":{"title":"","image_url":"/a.png"}"#, "/message/image_url", "absolute address"),
        .init(#""message":{"title":"","image_url":"https:"}"#, "/message/image_url", "absolute address"),
        .init(#""message":{"title":"","image_url":"1ttp://x"}"#, "/message/image_url", "absolute address"),
        .init(#""message":{"title":"","image_url":"h@t://x"}"#, "/message/image_url", "absolute address"),
        .init(#""message":{"title":"","image_url":"https://x/a b"}"#, "/message/image_url", "absolute address"),
        .init(#""message":{"title":"","image_url":"https://x/\n"}"#, "/message/image_url", "absolute address"),
        .init("\"message\":{\"title\":\"\",\"image_url\":\"https://\(a(2041))\"}", "/message/image_url", "has 2049"),
        .init("\"message\":{\"title\":\"\",\"deep_link\":\"\(a(2049))\"}", "/message/deep_link", "has 2049"),
        .init("\"message\":{\"title\":\"\",\"sound\":\"\(a(129))\"}", "/message/sound", "has 129"),
        .init(#""message":{"title":"","badge":-1}"#, "/message/badge", "from 0 to 99999"),
        .init(#""message":{"title":"","badge":100000}"#, "/message/badge", "from 0 to 99999"),
        .init(#""message":{"title":"","badge":"1"}"#, "/message/badge", "whole number"),
        .init("\"message\":{\"title\":\"\",\"action_category\":\"\(a(65))\"}", "/message/action_category", "has 65"),
        .init("\"message\":{\"title\":\"\",\"thread_id\":\"\(a(65))\"}", "/message/thread_id", "has 65"),
        .init(#""message":{"title":"","silent":"true"}"#, "/message/silent", "true or false"),
        .init(#""message":{"data":{"n":1}}"#, "/message/data/n", "a string"),
        .init(#""message":{"data":[]}"#, "/message/data", "an object"),
        .init("\"message\":{\"data\":{\(members(65))}}", "/message/data", "65 members; 0 to 64"),
        .init("\"message\":{\"data\":{\"\(a(129))\":\"\"}}", "/message/data/\(a(129))", "more than 128"),
        .init("\"message\":{\"data\":{\"a/b\":\"\(a(2049))\"}}", "/message/data/a~1b", "has 2049"),
        .init(#""template":{}"#, "/template", "0 members; 1 to 64"),
        .init("\"template\":{\(members(65))}", "/template", "65 members"),
        .init(#""template":{"a":{}}"#, "/template/a", "a string"),
        .init("\"template\":{\"a\":\"\(a(2049))\"}", "/template/a", "has 2049"),
        .init(#""template":{"a":"b"},"message":{"title":"t"}"#, "/template", "cannot be sent together"),
        .init(#""template":{"a":"b"},"payloads":{"gcm":{"body":{}}}"#, "/template", "cannot be sent together"),
        .init(#""payloads":{}"#, "/payloads", "0 members"),
        .init(#""payloads":{"ios":{"body":{}}}"#, "/payloads/ios", "no such platform"),
        .init(#""payloads":{"apple":{"body":{}},"apns":{"body":{}}}"#, "/payloads/apns", "another name"),
        .init(#""payloads":{"apple":"x"}"#, "/payloads/apple", "an object"),
        .init(#""payloads":{"apple":{}}"#, "/payloads/apple", "needs a body"),
        .init(#""payloads":{"apple":{"body":[]}}"#, "/payloads/apple/body", "an object or a string"),
        .init(
            #""payloads":{"apple":{"body":{},"content_type":"text/plain"}}"#, "/payloads/apple/content_type", "application/xml"),
        .init(#""payloads":{"apple":{"body":{},"content_type":7}}"#, "/payloads/apple/content_type", "application/xml"),
        .init(#""payloads":{"apple":{"body":{},"headers":[]}}"#, "/payloads/apple/headers", "an object"),
        .init("\"payloads\":{\"apple\":{\"body\":{},\"headers\":{\(members(17))}}}", "/payloads/apple/headers", "17 members"),
        .init("\"payloads\":{\"apple\":{\"body\":{},\"headers\":{\"x\":\"\(a(513))\"}}}", "/payloads/apple/headers/x", "has 513"),
        .init(#""payloads":{"apple":{"body":{},"headers":{"x y":""}}}"#, "/payloads/apple/headers/x y", "header's name"),
        .init(#""payloads":{"apple":{"body":{},"headers":{"":""}}}"#, "/payloads/apple/headers/", "header's name"),
        .init(#""payloads":{"apple":{"body":{},"headers":{"x:":""}}}"#, "/payloads/apple/headers/x:", "header's name"),
        .init(#""payloads":{"apple":{"body":{},"headers":{"x":"a\r\nb: c"}}}"#, "/payloads/apple/headers/x", "printable ASCII"),
        .init(#""payloads":{"apple":{"body":{},"headers":{"x":"\u0000"}}}"#, "/payloads/apple/headers/x", "printable ASCII"),
    ]

    static let platforms: [RefusedField] = [
        .init(#""platforms":[]"#, "/platforms", "1 to 8"), .init(#""platforms":"apple""#, "/platforms", "array of 1 to 8"),
        .init("\"platforms\":[\(list(9))]", "/platforms", "1 to 8"),
        .init(#""platforms":["ios"]"#, "/platforms/0", "no such platform"),
        .init(#""platforms":["apple",7]"#, "/platforms/1", "a string"),
        .init(#""platforms":["apple","apple"]"#, "/platforms/1", "once"),
        .init(#""platforms":["apple","apns"]"#, "/platforms/1", "another name"),
        .init(#""platforms":["adm"]"#, "/platforms", "payloads.adm"),
        .init(#""platforms":["xiaomi","apple"]"#, "/platforms", "payloads.xiaomi"),
        .init(#""platforms":["Apple"]"#, "/platforms/0", "Write it as `apple`"),
        .init(#""platforms":["gcm","apple"],"payloads":{"apns":{"body":{}}}"#, "/platforms", "no content for gcm"),
    ]

    static let replays: [RefusedField] = [
        .init(#""replay":[]"#, "/replay", "an object"),
        .init(#""replay":{"root_request_id":"r","parent_request_id":"p","generation":1}"#, "/replay", "needs job_id"),
        .init(#""replay":{"root_request_id":"r","parent_request_id":"p","job_id":"j"}"#, "/replay", "needs generation"),
        .init(replay(#""actor":7"#), "/replay/actor", "a string"),
        .init(replay("\"actor\":\"\(a(129))\""), "/replay/actor", "has 129"),
        .init(replay("\"reason\":\"\(a(513))\""), "/replay/reason", "has 513"),
        .init(replay(#""modified":"x""#), "/replay/modified", "at most 32"),
        .init(replay("\"modified\":[\(list(33))]"), "/replay/modified", "at most 32"),
        .init(replay(#""modified":[1]"#), "/replay/modified/0", "a string"),
        .init(replay(#""x":1"#, generation: "0"), "/replay/generation", "from 1 to 1000"),
        .init(replay(#""x":1"#, generation: "1001"), "/replay/generation", "from 1 to 1000"),
        .init(replay(#""x":1"#, job: "j j"), "/replay/job_id", "letters"),
    ]

    private static func replay(_ fragment: String, generation: String = "1", job: String = "j") -> String {
        #""replay":{"root_request_id":"r","parent_request_id":"p","generation":\#(generation),"job_id":"\#(job)",\#(fragment)}"#
    }

    @Test(arguments: identity + timing + content + platforms + replays)
    func aFieldBeyondItsLimitIsTheOneFaultNamed(row: RefusedField) {
        var reading = Reading()
        let faults = reading.faults(record(row.fragment))
        #expect(faults.map(\.pointer) == [row.pointer])
        #expect(faults.first?.message.contains(row.piece) == true, "\(faults)")
        #expect(faults.first?.code == .schemaInvalid)
        #expect(faults.first?.message.hasSuffix(".") == true)
    }

    @Test func aRequestWithoutContentIsRejected() {
        var reading = Reading()
        let faults = reading.faults(#"{"audience":{"users":["a"]},"platforms":["adm"]}"#)
        #expect(faults.map(\.pointer) == [""])
        #expect(faults.first?.message == "One of message, payloads and template must be there.")
    }

    @Test(arguments: [
        (#""payloads":{"adm":{}},"platforms":["adm","gcm"]"#, ["/payloads/adm"]),
        (#""message":7,"platforms":["adm"]"#, ["/message"]),
        (#""message":{"title":7},"platforms":["adm"]"#, ["/message/title", "/platforms"]),
        (#""template":{},"platforms":["adm"]"#, ["/template"]), (#""template":{"a":"b"},"platforms":["adm"]"#, []),
    ])
    func contentAtFaultMakesNoFurtherFaults(fragment: String, pointers: [String]) {
        var reading = Reading()
        #expect(reading.faults(record(fragment)).map(\.pointer) == pointers)
    }

    static let accepted: [String] = [
        #""schema_version":1"#, "\"id\":\"\(a(128))\"", #""id":"A-z.0_9:x""#, "\"source\":\"\(e(256))\"",
        "\"tenant\":\"\(a(63))\"", #""hub":"0._-""#,
        "\"labels\":{}", "\"labels\":{\(members(16))}", "\"labels\":{\"\(a(32))\":\"\(e(64))\"}", #""ttl_seconds":0"#,
        #""ttl_seconds":2419200"#,
        #""ttl_seconds":-0"#, #""expires_at":"0001-01-01T00:00:00Z""#, #""not_before":"9999-12-31T23:59:59.999999Z""#,
        #""priority":"low""#,
        "\"collapse_key\":\"\(a(64))\"", #""collapse_key":" ~""#, "\"ordering_key\":\"\(e(256))\"",
        "\"dedupe\":{\"key\":\"\(e(128))\"}",
        #""dedupe":{"key":"k","window_seconds":604800}"#, #""dedupe":{"key":"k","window_seconds":1}"#, #""options":{}"#,
        #""options":{"max_attempts":1}"#,
        "\"message\":{\"title\":\"\(e(256))\",\"subtitle\":\"\(e(256))\",\"body\":\"\(e(2048))\"}",
        #""message":{"data":{}}"#, #""message":{"title":""}"#, "\"message\":{\"data\":{\(members(64))}}",
        "\"message\":{\"data\":{\"\(e(128))\":\"\(e(2048))\"}}",
        "\"message\":{\"title\":\"\",\"image_url\":\"https://\(a(2040))\"}",
        "\"message\":{\"title\":\"\",\"deep_link\":\"\(a(2048))\",\"sound\":\"\(a(128))\"}",
        #""message":{"title":"","badge":99999}"#,
        "\"message\":{\"title\":\"\",\"action_category\":\"\(a(64))\",\"thread_id\":\"\(a(64))\"}",
        "\"template\":{\(members(64))}",
        "\"template\":{\"\(a(120))\":\"\(e(2048))\"}", "\"payloads\":{\"apple\":{\"body\":\"\",\"headers\":{\(members(16))}}}",
        "\"payloads\":{\"wns\":{\"body\":\"<x/>\",\"headers\":{\"X-WNS-Type\":\"\(a(512))\"},\"content_type\":\"application/octet-stream\"}}",
        #""payloads":{"adm":{"body":{}},"apple":{"body":{"aps":{"alert":[1,2]}}}}"#,
        #""platforms":["adm"],"payloads":{"adm":{"body":{}}}"#,
        #""platforms":["apple","fcmv1","gcm","windows"]"#,
        replay("\"actor\":\"\(a(128))\",\"reason\":\"\(a(512))\",\"modified\":[\(list(32))]"),
        replay(#""actor":"""#, generation: "1000"), #""mesage":{"title":"x"}"#,
    ]

    @Test(arguments: accepted) func aFieldAtItsLimitIsAccepted(fragment: String) {
        var reading = Reading()
        #expect(reading.read(record(fragment)) == .request)
    }
}
