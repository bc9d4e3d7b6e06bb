import Foundation
import FoundationXML
import PushModel
import Testing

@Suite struct EscapingTests {
    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("\"\\", #"\"\\"#), ("\u{8}\u{9}\n\u{C}\r", #"\b\t\n\f\r"#),
        ("\u{0}\u{1F}\u{1B}", #"\u0000\u001f\u001b"#),
        ("a/b", "a/b"), ("é😀\u{2028}\u{7F}", "é😀\u{2028}\u{7F}"), ("</script>", "</script>"),
    ])
    func jsonEscapesOnlyWhatMustBeEscaped(text: String, expected: String) {
        var writer = ByteWriter()
        writer.append(json: text)
        #expect(writer.text == "\"" + expected + "\"")
        writer.removeAll()
        writer.append(jsonContent: Array(text.utf8).span)
        #expect(writer.text == expected)
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("<a b='c' d=\"e\">&", "&lt;a b=&apos;c&apos; d=&quot;e&quot;&gt;&amp;"), ("]]>", "]]&gt;"),
        ("\t\n\r", "&#9;&#10;&#13;"), ("\u{0}\u{1}\u{1F}", "\u{FFFD}\u{FFFD}\u{FFFD}"), ("\u{FFFE}\u{FFFF}", "\u{FFFD}\u{FFFD}"),
        ("\u{FFFD}\u{FFFC}", "\u{FFFD}\u{FFFC}"), ("é😀\u{7F}\u{1FFFE}", "é😀\u{7F}\u{1FFFE}"), ("&amp;", "&amp;amp;"),
    ])
    func xmlEscapesMarkupAndReplacesWhatItCannotHold(text: String, expected: String) {
        var writer = ByteWriter()
        writer.append(xml: Array(text.utf8).span)
        #expect(Array(writer.bytes) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            ([0xFF], 1), ([0xC0, 0xAF], 2), ([0xED, 0xA0, 0x80], 3), ([0xE2, 0x82], 2), ([0xF0, 0x9F, 0x98], 3),
            ([0x80, 0x61], 1),
            ([0xF4, 0x90, 0x80, 0x80], 4),
        ] as [([UInt8], Int)])
    func everyByteThatIsNoUTF8BecomesTheReplacementCharacter(bytes: [UInt8], count: Int) {
        let tail = bytes.filter { $0 < 0x80 }
        let expected = Array(String(repeating: "\u{FFFD}", count: count).utf8) + tail
        var writer = ByteWriter()
        writer.append(jsonContent: bytes.span)
        #expect(writer.bytes == expected)
        writer.removeAll()
        writer.append(xml: bytes.span)
        #expect(writer.bytes == expected)
    }

    @Test(arguments: 0..<4) func escapedJSONIsReadBackByFoundationAndByUs(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        for _ in 0..<1000 {
            let bytes = randomBytes(&random)
            var writer = ByteWriter()
            writer.append(json: bytes.span)
            let expected = repaired(bytes)
            let foundation = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed) as? String
            #expect(foundation.map { Array($0.utf8) } == Array(expected.utf8), "\(bytes)")
            let document = try readJSON(writer.bytes)
            #expect(Array(document.string(document.text(of: document.root)).utf8) == Array(expected.utf8), "\(bytes)")
        }
    }

    @Test(arguments: 0..<4) func escapedXMLIsReadBackAsTextAndAsAttribute(seed: Int) throws {
        var random = SeededRandom(UInt64(100 + seed))
        for _ in 0..<500 {
            let bytes = randomBytes(&random)
            var writer = ByteWriter()
            for quote: StaticString in ["\"", "'"] {
                writer.removeAll()
                writer.append("<r a=")
                writer.append(quote)
                writer.append(xml: bytes.span)
                writer.append(quote)
                writer.append(">")
                writer.append(xml: bytes.span)
                writer.append("</r>")
                let reader = XMLReading()
                let parser = XMLParser(data: Data(writer.bytes))
                parser.delegate = reader
                #expect(parser.parse(), "\(bytes)")
                let expected = xmlRepresentable(repaired(bytes))
                #expect(Array(reader.text.utf8) == Array(expected.utf8), "\(bytes)")
                #expect(Array(reader.attribute.utf8) == Array(expected.utf8), "\(bytes)")
            }
        }
    }

    private func randomBytes(_ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<random.below(24) {
            switch random.below(6) {
            case 0: bytes.append(UInt8(random.below(256)))
            case 1: bytes.append(UInt8(random.below(32)))
            case 2: bytes += Array("\"\\<>&'/".utf8.shuffled(using: &random).prefix(2))
            case 3: bytes += Array(["é", "€", "😀", "\u{FFFE}", "\u{FFFF}", "\u{FFFD}", "\u{10FFFF}"][random.below(7)].utf8)
            case 4: bytes += Array("😀€".utf8.prefix(1 + random.below(6)))
            default: bytes.append(UInt8(0x20 + random.below(0x5F)))
            }
        }
        return bytes
    }

    /// `bytes` with U+FFFD for every byte that begins no character, as the standard library judges it.
    private func repaired(_ bytes: [UInt8]) -> String {
        var result = ""
        var index = 0
        while index < bytes.count {
            let lengths = (1...4).filter { length in
                guard index + length <= bytes.count else { return false }
                return String(validating: bytes[index..<index + length], as: UTF8.self)?.unicodeScalars.count == 1
            }
            guard let length = lengths.first else {
                result.unicodeScalars.append("\u{FFFD}")
                index += 1
                continue
            }
            result += String(decoding: bytes[index..<index + length], as: UTF8.self)
            index += length
        }
        return result
    }

    /// `text` with U+FFFD for what is no `Char` of XML 1.0, section 2.2.
    private func xmlRepresentable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: result.append(scalar)
            default: result.append("\u{FFFD}")
            }
        }
        return String(result)
    }
}

private final class XMLReading: NSObject, XMLParserDelegate {
    var text = ""
    var attribute = ""

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        attribute = attributes["a"] ?? ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}
