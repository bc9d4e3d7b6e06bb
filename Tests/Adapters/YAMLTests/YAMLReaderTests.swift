import TestSupport
import Testing

@testable import YAML

@Suite(.tags(.c)) struct YAMLReaderTests {
    /// The tree as text, with the place of each scalar.
    private func dump(_ node: YAMLNode) -> String {
        switch node.value {
        case .scalar(let text, let isQuoted): "\(isQuoted ? "'" : "")\(text)@\(node.mark.line):\(node.mark.column)"
        case .sequence(let items): "[" + items.map(dump).joined(separator: " ") + "]"
        case .mapping(let entries): "{" + entries.map { "\($0.key)=\(dump($0.node))" }.joined(separator: " ") + "}"
        }
    }

    private func failure(_ bytes: [UInt8]) -> String? {
        do {
            _ = try YAMLReader.read(bytes)
            return nil
        } catch {
            return "\(error.mark.line):\(error.mark.column): \(error.message)"
        }
    }

    static let trees: [(String, String)] = [
        ("", "{}"), ("# only a comment\n", "{}"), ("---\n", "{}"), ("~\n", "{}"), ("\u{FEFF}a: 1\n", "{a=1@1:4}"),
        ("a: no\nb: 0777\nc: 1e3\n", "{a=no@1:4 b=0777@2:4 c=1e3@3:4}"),
        ("a:\n  b: 'x: y'\n  c: [1, \"2\"]\n", "{a={b='x: y@2:6 c=[1@3:7 '2@3:10]}}"),
        ("a: |\n  one\n  two\n", "{a='one\ntwo\n@1:4}"), ("- 1\n- {a: b}\n", "[1@1:3 {a=b@2:7}]"),
        ("a: \"\\0\\u00e4\"\n", "{a='\u{0}ä@1:4}"), ("a: &name 1\n", "{a=1@1:4}"), ("plain", "plain@1:1"),
        ("a:\r\n  b: 1\r\n", "{a={b=1@2:6}}"),
    ]

    @Test(arguments: trees) func documentIsReadAsText(_ text: String, _ tree: String) throws {
        #expect(dump(try YAMLReader.read(Array(text.utf8))) == tree)
    }

    static let refused: [(String, String)] = [
        ("a: &x [1]\nb: *x\n", "2:4: aliases (*name) are not supported; repeat the value"),
        ("a: 1\n*a : 2\n", "2:1: aliases (*name) are not supported; repeat the value"),
        ("a: !!int 1\n", "1:4: tags such as !!int are not supported; write the plain value"),
        ("a: !evil {}\n", "1:4: tags such as !!int are not supported; write the plain value"),
        ("a: 1\nb: 2\na: 3\n", "3:1: the key \"a\" stands in line 1 already"),
        ("x:\n  a: 1\n  'a': 3\n", "3:3: the key \"a\" stands in line 2 already"),
        ("? [a]\n: 1\n", "1:3: a key must be text"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document begins here; a file has one"),
        (
            "a: [1\nb: 2\n",
            "2:2: the file is not YAML: did not find expected ',' or ']' while parsing a flow sequence that begins in line 1"
        ),
        (
            "a:\n\t- 1\n",
            "2:1: the file is not YAML: found character that cannot start any token while scanning for the next token that begins in line 2"
        ),
    ]

    @Test(arguments: refused) func refusalNamesPlaceAndReason(_ text: String, _ message: String) {
        #expect(failure(Array(text.utf8)) == message)
    }

    @Test func bytesThatAreNotTextAreRefusedAtTheirPlace() {
        #expect(
            failure(Array("a: 1\nb: ".utf8) + [0xFF, 0x0A]) == "2:4: the file is not UTF-8 text: invalid leading UTF-8 octet")
        #expect(failure(Array("a: \u{1}".utf8))?.hasPrefix("1:4: the file is not UTF-8 text: control characters") == true)
        #expect(failure([0xFF, 0xFE, 0x61, 0x00]) != nil)
    }

    /// A piece, and how often it is repeated. The text itself is no argument: the event stream would spell out its bytes.
    @Test(
        arguments: [
            ("[", 1 << 20, "nested more than 32 levels"), ("{", 1 << 20, "nested more than 32 levels"),
            ("- ", 1 << 19, "nested more than 32 levels"), ("? ", 1 << 19, "nested more than 32 levels"),
            ("a", (1 << 20) + 1, "1048577 bytes"), ("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", 1, "aliases"),
        ] as [(String, Int, String)])
    func bombIsRefused(_ piece: String, _ count: Int, _ reason: String) {
        let found = failure(Array(String(repeating: piece, count: count).utf8))
        #expect(found?.contains(reason) == true, "\(found ?? "accepted")")
    }

    @Test func moreValuesThanAreAllowedAreRefused() {
        #expect(failure(Array("[\(String(repeating: "1,", count: 20_000))1]".utf8))?.contains("more than 10000 values") == true)
    }

    @Test func aCallerMayAllowMoreValuesAndBytes() throws {
        let text = Array("[\(String(repeating: "1,", count: 20_000))1]".utf8)
        guard case .sequence(let nodes) = try YAMLReader.read(text, nodeLimit: 20_002).value else {
            Issue.record("not a sequence")
            return
        }
        #expect(nodes.count == 20_001)
        #expect(throws: YAMLError.self) { _ = try YAMLReader.read(text, nodeLimit: 20_001) }
        #expect(throws: YAMLError.self) { _ = try YAMLReader.read(text, byteLimit: text.count - 1, nodeLimit: 20_002) }
    }

    @Test func largestAllowedDocumentIsRead() throws {
        let items = "[" + String(repeating: "1,", count: YAMLReader.nodeLimit - 2) + "1]"
        guard case .sequence(let nodes) = try YAMLReader.read(Array(items.utf8)).value else {
            Issue.record("not a sequence")
            return
        }
        #expect(nodes.count == YAMLReader.nodeLimit - 1)
        let deep = String(repeating: "[", count: 32) + "1" + String(repeating: "]", count: 32)
        #expect(failure(Array(deep.utf8)) == nil)
        #expect(failure(Array("[\(deep)]".utf8)) != nil)
    }

    /// A tree as JSON, which is YAML too.
    private func json(_ node: YAMLNode) -> String {
        switch node.value {
        case .scalar(let text, _): json(text)
        case .sequence(let items): "[" + items.map(json).joined(separator: ", ") + "]"
        case .mapping(let entries): "{" + entries.map { "\(json($0.key)): \(json($0.node))" }.joined(separator: ", ") + "}"
        }
    }

    private func json(_ text: String) -> String {
        let letters = text.unicodeScalars.map { scalar in
            switch scalar.value {
            case 0x22, 0x5C: "\\\(scalar)"
            case ..<0x10: "\\x0\(String(scalar.value, radix: 16))"
            case ..<0x20, 0x7F..<0xA0: "\\x\(String(scalar.value, radix: 16))"
            default: "\(scalar)"
            }
        }
        return "\"\(letters.joined())\""
    }

    /// Of bytes that are nearly YAML.
    @Test func whatIsReadIsReadAgainFromItsJSON() throws {
        var random = SeededRandom(42)
        let alphabet = Array("ab:{}[],-?&*!|>'\"%@`# \n\t\\~".utf8) + [0x00, 0x85, 0xC3, 0xA4, 0xFF]
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(30)).map { _ in alphabet[random.below(alphabet.count)] }
            guard let node = try? YAMLReader.read(bytes) else {
                refused += 1
                continue
            }
            read += 1
            #expect(json(try YAMLReader.read(Array(json(node).utf8))) == json(node), "\(bytes)")
        }
        #expect(read > 100 && refused > 1000)
    }
}
