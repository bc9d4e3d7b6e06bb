import Testing

@testable import HubEmulator
@testable import HubServer

struct MarkupTests {
    private func read(_ text: String) -> Markup? { Markup.read(Array(text.utf8)) }

    @Test func namesAreFoundByTheirNamespace() throws {
        let root = try #require(
            read("<a xmlns='one' xmlns:p='two' p:x='1' y='&lt;'><p:b>t<![CDATA[&]]>\r\n</p:b><c xmlns=''/><?empty?></a>"))
        #expect(root.name == "a" && root.namespace == "one" && root.attributes == ["x": "1", "y": "<"])
        #expect(root.children.map(\.name) == ["b", "c"] && root.children.map(\.namespace) == ["two", nil])
        #expect(root.children.first?.text == "t&\n" && root.value("b") == "t&" && root.value("c") == nil)
    }

    @Test(arguments: [
        "<p:a/>", "<a p:b=''/>", "<a xmlns:p=''/>", "<a:b:c/>", "<a><b xmlns:p='x'/><p:c/></a>", "<:a/>",
        "<a xmlns:p='x' xmlns:q='x' p:b='' q:b=''/>", "<a>", "<a/><a/>", "<?xml version='1.0' encoding='utf-16'?><a/>",
        "<!DOCTYPE a><a/>",
    ])
    func whatAServiceWouldNotReadIsNotRead(text: String) {
        #expect(read(text) == nil)
    }

    @Test func elementsAreNotNestedForEver() {
        func nested(_ count: Int) -> String { String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count) }
        #expect(read(nested(Markup.maximumDepth)) != nil && read(nested(Markup.maximumDepth + 1)) == nil)
    }
}
