import PushModel
import TestSupport
import Testing

@Suite struct SchemaTests {
    /// What no schema can say: two names of one platform, platforms without content, names alike but for their bytes, a number of bytes.
    private static let beyond = [#"Jose\u0301"#, "aé", #""apns""#, #"["adm"]"#, #""xiaomi""#, #"["gcm""#]

    private static let refused =
        RequestLimitTests.identity + RequestLimitTests.timing + RequestLimitTests.content + RequestLimitTests.platforms
        + RequestLimitTests.replays + RequestAudienceTests.refused

    private static func violations(of text: String) -> [String] {
        SchemaCheck.violations(of: Array(text.utf8), by: MessageSchema.request.document)
    }

    @Test(arguments: refused) func whatTheReaderRefusesTheSchemaRefuses(row: RefusedField) {
        let isBeyond = Self.beyond.contains { row.fragment.contains($0) }
        #expect(Self.violations(of: record(row.fragment)).isEmpty == isBeyond)
    }

    /// But for replays, which publishers may not write, and a typo, which only a tolerant reader passes over.
    @Test(arguments: RequestLimitTests.accepted) func whatTheReaderAcceptsTheSchemaAccepts(fragment: String) {
        var strict = Reading([], .strict)
        strict.topic = .open
        #expect(Self.violations(of: record(fragment)).isEmpty == (strict.read(record(fragment)) == .request))
    }

    @Test(arguments: [
        fullRecord, record(#""audience":{"broadcast":true}"#), record("\"audience\":{\"tag_expression\":\"a && b\"}"),
        record(#""audience":{"devices":[{"platform":"gcm","handle":"h"}]}"#),
        record(#""audience":{"users":["Jürgen","a b","지은"]}"#), record(#""audience":{"installations":["a"]}"#),
    ])
    func aRequestOfEachKindFits(text: String) {
        #expect(Self.violations(of: text).isEmpty)
    }

    @Test(arguments: ["parent", "replay", "priorit"]) func aMemberThatPublishersMayNotWriteIsRefused(name: String) {
        #expect(Self.violations(of: record("\"\(name)\":{}")) == [": additionalProperties: \(name)"])
    }

    @Test(arguments: MessageSchema.allCases) func aSchemaIsJSONWithAnIdentityAndNoReference(schema: MessageSchema) throws {
        let document = try readJSON(schema.document.json)
        #expect(document.member("$id", of: document.root).map { document.string(document.text(of: $0)) } == schema.identifier)
        #expect(document.duplicateKeys.isEmpty)
        #expect(!String(decoding: schema.document.json, as: UTF8.self).contains("$ref"))
    }

    @Test func aResultOfLaterVersionsFits() {
        var reporting = Reporting()
        reporting.add(.apple, .success, status: 201)
        let text = String(decoding: reporting.bytes(), as: UTF8.self)
        let later = Array(#"{"later":{"x":1},"#.utf8) + Array(text.utf8.dropFirst())
        #expect(SchemaCheck.violations(of: later, by: MessageSchema.result.document).isEmpty)
        #expect(ResultSchema.violations(of: later) == [": properties: later"])
    }

    @Test func treesAreWrittenInOrderAndEscaped() {
        let tree: JSONTree = ["b": ["x", 1, true, [], [:]], "a\n": "\"é\""]
        #expect(String(decoding: tree.json, as: UTF8.self) == #"{"b": ["x", 1, true, [], {}], "a\n": "\"é\""}"# + "\n")
    }

    @Test func whatIsLongAndHasPartsInsideHasLines() {
        let long = String(repeating: "x", count: 120)
        let tree: JSONTree = ["a": ["b": [1, 2]], "c": ["d": .text(long)], "e": [["f", .text(long)], []]]
        let expected = """
            {
              "a": {"b": [1, 2]},
              "c": {"d": "\(long)"},
              "e": [
                ["f", "\(long)"],
                []
              ]
            }

            """
        #expect(String(decoding: tree.json, as: UTF8.self) == expected)
    }
}
