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
}
