import FanOut
import HubREST
import Payloads
import PushModel
import TestSupport
import Testing

/// What no request, however hostile, can bring about.
struct CallSafetyTests {
    /// A missing tags header would ring everybody's devices.
    @Test(arguments: 0..<30)
    func absentAudienceCannotBecomeABroadcast(seed: Int) throws {
        var random = SeededRandom(seed)
        var calling = try Calling()
        for _ in 0..<20 {
            let names = (0..<[1, 2, 20, 21, 70][random.below(5)]).map { "\"n\($0)\"" }.joined(separator: ",")
            let audience = [
                "{\"users\":[\(names)]}", "{\"categories\":[\(names)]}", "{\"installations\":[\(names)]}",
                #"{"tag_expression":"a && !b"}"#, #"{"tag_expression":"  ((c)) "}"#,
            ][random.below(5)]
            let content = [#""message":{"title":"Hi"}"#, #""template":{"a":"b"}"#][random.below(2)]
            let calls = try calling.calls("\"audience\":\(audience)", content: content)
            #expect(!calls.isEmpty)
            for (bytes, call) in zip(calls, calling.plan.calls) {
                let tags = try RawRequest(bytes).values("servicebusnotification-tags")
                #expect(tags.count == 1)
                let value = try #require(tags.first)
                #expect(!value.isEmpty)
                #expect(value == calling.tags(of: call))
                #expect(try !TagExpression(parsing: value).tags.isEmpty)
            }
        }
    }

    @Test(arguments: [
        "{}", "null", "[]", "{\"users\":[]}", "{\"users\":null}", "{\"categories\":[]}", "{\"installations\":[]}",
        "{\"devices\":[]}",
        "{\"tag_expression\":\"\"}", "{\"broadcast\":false}", "{\"broadcast\":1}", "{\"broadcast\":\"true\"}",
        "{\"broadcast\":null}",
        "{\"broadcast\":true,\"users\":[\"a\"]}", "{\"users\":[\"\"]}", "{\"Broadcast\":true}",
        "{\"users\":[\"a\"],\"users\":[]}",
        "\"broadcast\"", "true",
    ])
    func noSpellingOfNobodyIsEverybody(audience: String) throws {
        var calling = try Calling()
        let isRequest = calling.read(Array("{\"audience\":\(audience),\"message\":{\"title\":\"t\"}}".utf8))
        #expect(!isRequest)
        #expect(throws: (any Error).self) { _ = try calling.write() }
        #expect(calling.plan.calls.isEmpty)
    }

    /// Every text of a request is exchanged for what ends lines elsewhere; whatever the reader lets through must arrive as one
    /// request with the fields that were meant.
    @Test(arguments: 0..<40)
    func noFieldOfARequestCanAddAHeaderOrASecondRequest(seed: Int) throws {
        var random = SeededRandom(seed)
        var calling = try Calling()
        var writtenCount = 0
        for _ in 0..<150 {
            guard calling.read(HostileRecord.random(using: &random)), let calls = try? calling.write() else { continue }
            writtenCount += calls.count
            for (bytes, call) in zip(calls, calling.plan.calls) { try check(bytes, call, calling) }
        }
        #expect(writtenCount > 15)
    }

    private func check(_ bytes: [UInt8], _ call: FanOutPlan.Call, _ calling: Calling) throws {
        let written: RawRequest
        do {
            written = try RawRequest(bytes)
        } catch {
            Issue.record("\(error.reason) in \(String(decoding: bytes, as: UTF8.self))")
            return
        }
        #expect(Set(written.fields.map(\.name)).count == written.fields.count, "\(written.fields.map(\.name))")
        for field in written.fields { #expect(!field.name.contains("injected"), "\(field)") }
        #expect(written.target.hasPrefix("/newshub/messages"))
        #expect(written.values("authorization") == [try Calling.token()])
        #expect(written.values("servicebusnotification-tags").first == calling.tags(of: call))
        switch call.target {
        case .device(let handle):
            #expect(written.values("servicebusnotification-devicehandle") == [calling.request.document.string(handle)])
        case .devices(let handles):
            let parts = try written.parts()
            var document = JSONDocument()
            let devices = try #require(parts.dropFirst().first).content
            try document.read(devices.span)
            var names: [String] = []
            document.forEachElement(of: document.root) { names.append(document.string(document.text(of: $0))) }
            #expect(parts.count == 2)
            #expect(names == handles.map { calling.request.document.string($0) })
        case .tags, .broadcast:
            #expect(written.values("servicebusnotification-devicehandle").isEmpty)
        }
    }
}

/// Records whose every text may hold what ends lines, headers and parts.
private enum HostileRecord {
    private static let pieces = [
        "\\r\\n", "\\n", "\\r", "\\u0000", "\\u000d\\u000aX-Injected: 1\\u000d\\u000a", "X-Injected: 1", ": ", "\\t", " ", "a",
        "b",
        "GET / HTTP/1.1", "\\u2028", "é", "\\\"", "\\\\", "||", "&&", "!", "(", ")", "$InstallationId:{x}",
        "--nh-batch-multipart-boundary",
        "<a>", "0", "Content-Length", "Transfer-Encoding", "ServiceBusNotification-Tags", "\\u0085", "\\ud83d\\ude00", "x-", "y",
    ]

    /// Mostly harmless, so that the reader lets some of it through.
    private static func text(_ usual: String, _ random: inout SeededRandom) -> String {
        guard random.below(6) == 0 else { return usual }
        return (0...random.below(3)).map { _ in pieces[random.below(pieces.count)] }.joined()
    }

    static func random(using random: inout SeededRandom) -> [UInt8] {
        func text(_ usual: String) -> String { Self.text(usual, &random) }
        let audience: String
        switch random.below(6) {
        case 0: audience = #"{"users":["\#(text("alice"))","bob"]}"#
        case 1: audience = #"{"categories":["\#(text("World"))"]}"#
        case 2: audience = #"{"installations":["\#(text("4f1c"))"]}"#
        case 3: audience = #"{"tag_expression":"\#(text("a")) && \#(text("b"))"}"#
        case 4: audience = #"{"devices":[{"platform":"wns","handle":"\#(text("h"))"}]}"#
        default:
            audience =
                #"{"devices":[{"platform":"apple","handle":"\#(text("aa"))"},{"platform":"apple","handle":"\#(text("bb"))"}]}"#
        }
        let headers = #""headers":{"\#(text("X-WNS-Cache-Policy"))":"\#(text("cache"))","\#(text("X-Other"))":"v"}"#
        let content = [
            #""message":{"title":"\#(text("t"))","body":"\#(text("b"))","sound":"\#(text("s"))","data":{"\#(text("k"))":"\#(text("v"))"}}"#,
            #""payloads":{"wns":{"body":"<toast>\#(text("x"))</toast>","content_type":"application/xml",\#(headers)}}"#,
            #""payloads":{"apple":{"body":{"aps":{"alert":"\#(text("x"))"}},\#(headers)}}"#,
            #""template":{"\#(text("a"))":"\#(text("b"))"}"#,
        ][random.below(4)]
        let record = """
            {"id":"\(text("r-1"))","source":"\(text("/s"))","collapse_key":"\(text("c"))","ordering_key":"\(text("o"))",\
            "audience":\(audience),\(content),"labels":{"a":"\(text("l"))"}}
            """
        return Array(record.utf8)
    }
}
