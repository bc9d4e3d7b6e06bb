import HTTPServing
import TestSupport
import Testing

@Suite(.tags(.c)) struct HTTPServerRequestTests {
    @Test(arguments: [
        ("/a/b", "/a/b", 0), ("/a%2Fb%20c?d", "/a/b c", 1), ("/?a=1&b=2&&c", "/", 3), ("/%zz%4", "/%zz%4", 0), ("", "", 0),
        ("/a+b?c+d=e+f", "/a+b", 1), ("/%FF", "/\u{FFFD}", 0),
    ])
    func pathsAreDecodedOnce(_ target: String, _ path: String, _ items: Int) {
        let request = HTTPServerRequest(method: "GET", target: target)
        #expect(request.path == path)
        #expect(request.query.count == items)
    }

    @Test func queryItemsKeepOrderAndDecode() {
        let request = HTTPServerRequest(
            method: "GET", target: "/x?direct&api-version=2020-06&$filter=ChannelUri+eq+%27a%26b%27&e=")
        #expect(request.query.map(\.name) == ["direct", "api-version", "$filter", "e"])
        #expect(request.queryValue("direct") == "")
        #expect(request.query.first?.value == nil)
        #expect(request.queryValue("$FILTER") == "ChannelUri eq 'a&b'")
        #expect(request.queryValue("none") == nil)
        #expect(request.rawQuery == "direct&api-version=2020-06&$filter=ChannelUri+eq+%27a%26b%27&e=")
        #expect(request.rawPath == "/x")
    }

    @Test(arguments: [
        ("/x?to_tag=a+b%2Bc%20d", "to_tag=a+b+c d"), ("/x?a+b=1", "a+b=1"), ("/x?a=%zz%4&&b=%C3%A9", "a=%zz%4 | b=é"),
        ("/x?bare&empty=", "bare | empty="), ("/x?a=1?b=2", "a=1?b=2"), ("/x?", ""), ("/x", ""), ("", ""),
    ])
    func aPlusStaysAPlusWhereOnlyPercentEscapesAreDecoded(_ target: String, _ expected: String) {
        let request = HTTPServerRequest(method: "GET", target: target)
        var items: [String] = []
        for item in request.percentDecodedQuery {
            if let value = item.value { items.append(item.name + "=" + value) } else { items.append(item.name) }
        }
        #expect(items.joined(separator: " | ") == expected)
    }

    @Test func headerNamesAreComparedWithoutCase() {
        var fields: HTTPFields = ["Content-Type": "a", "X-B": "b"]
        fields.append("x-b", value: "c")
        #expect(fields["content-TYPE"] == "a")
        #expect(fields["x-B"] == "b")
        #expect(fields.count(of: "X-b") == 2)
        #expect(fields["X-"] == nil)
        fields.remove("X-B")
        #expect(fields.all.map(\.name) == ["Content-Type"])
    }

    @Test func onlyASCIILettersLoseTheirCase() {
        #expect("aZ".equalsIgnoringCase("Az"))
        #expect(!"[".equalsIgnoringCase("{"))
        #expect(!"@".equalsIgnoringCase("`"))
        #expect(!"ab".equalsIgnoringCase("abc"))
    }

    /// Fields as `name: value`.
    private static func fields(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            fields.append(parts[0], value: parts[1])
        }
        return fields
    }

    @Test func ofSeveralSingleFieldsNoneCounts() {
        #expect(Self.fields(["A: 1", "B: 2"]).single("a") == "1")
        #expect(Self.fields(["A: 1", "a: 1"]).single("A") == nil)
        #expect(Self.fields(["B: 1"]).single("A") == nil)
    }

    @Test func fieldsOfAListAreReadAsOne() {
        let fields = Self.fields(["A: 1", "B: x", "a: 2, 3", "A: ", "A: \"4, \\\", 5\""])
        #expect(fields.list("A") == "1, 2, 3, , \"4, \\\", 5\"")
        #expect(fields.members("A") == ["1", "2", "3", "\"4, \\\", 5\""])
        #expect(fields.list("C") == nil && fields.members("C").isEmpty)
        #expect(Self.fields(["Cookie: a=b", "cookie: c=d"]).list("Cookie", separator: "; ") == "a=b; c=d")
    }

    @Test(
        arguments: [
            ("a", "a"), ("", ""), ("\"\"", ""), ("\"a b\"", "a b"), ("\"a\\\"\\\\\\c\"", "a\"\\c"), ("a\"b\"", "a\"b\""),
            ("\"", nil), ("\"a", nil),
            ("\"a\"b", nil), ("\"a\\\"", nil), ("\"é\"", "é"),
        ] as [(String, String?)])
    func aQuotedStringStandsForItsContent(text: String, content: String?) {
        #expect(text.unquoted == content)
    }

    @Test(
        arguments: [
            (["Content-Type: Application/JSON ; charset=utf-8"], "application/json"), (["Content-Type: a/b"], "a/b"), ([], nil),
            (["Content-Type: "], ""), (["Content-Type: a/b", "Content-Type: a/b"], nil), (["Content-Type: a/b, a/b"], "a/b, a/b"),
        ] as [([String], String?)])
    func aMediaTypeHasNoParameters(lines: [String], type: String?) {
        #expect(Self.fields(lines).mediaType == type)
    }

    /// The values of `If-None-Match`, the tag that there is, and whether the client has it.
    static let conditions: [(values: [String], tag: String?, isKnown: Bool)] = [
        ([], "\"a\"", false), ([""], "\"a\"", false), (["\"a\""], "\"a\"", true), (["W/\"a\""], "\"a\"", true),
        (["\"a\""], "W/\"a\"", true), (["w/\"a\""], "\"a\"", false), (["\"b\", \"a\""], "\"a\"", true),
        (["\"b\"", "\"a\""], "\"a\"", true),
        (["\"b\""], "\"a\"", false), (["a"], "\"a\"", false), (["*"], "\"a\"", true), (["*"], nil, true), (["\"a\""], nil, false),
        ([""], nil, false),
        (["\"a, b\""], "\"a, b\"", true), (["\"x, \"a\""], "\"a\"", false), (["\"x\\\", \"a\""], "\"a\"", true),
        (["\"a b\""], "\"ab\"", false),
        (["\"xa\""], "\"a\"", false), (["\"*\""], "\"a\"", false), ([" * "], "\"a\"", true), (["\"A\""], "\"a\"", false),
    ]

    @Test(arguments: conditions) func whatAClientHasItDoesNotWant(values: [String], tag: String?, isKnown: Bool) {
        #expect(Self.fields(values.map { "If-None-Match: \($0)" }).wants(tag) == !isKnown)
    }

    @Test(arguments: [
        (["\"a\""], true), (["\"b\", \"a\""], true), (["\"b\"", "\"a\""], true), (["W/\"a\""], false), (["*"], false),
        ([], false), (["\"b\""], false),
    ]) func aTagIsRequiredWhole(values: [String], isRequired: Bool) {
        #expect(Self.fields(values.map { "If-Match: \($0)" }).requires("\"a\"") == isRequired)
    }
}
