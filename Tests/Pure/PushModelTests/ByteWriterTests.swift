import PushModel
import Testing

@Suite struct ByteWriterTests {
    @Test(arguments: [0, 7, 10, 99, 100, -1, -10, .max, .min, .min + 1, 1_000_000_000_000_000_000] as [Int64])
    func decimalsAreWrittenInFull(value: Int64) {
        var writer = ByteWriter()
        writer.append("x")
        writer.append(decimal: value)
        writer.append("y")
        #expect(writer.text == "x\(value)y")
    }

    @Test func randomDecimalsAreWrittenAsTheStandardLibraryWritesThem() {
        var random = SeededRandom(5)
        for _ in 0..<2000 {
            let value = Int64(bitPattern: random.next()) >> Int64(random.below(64))
            var writer = ByteWriter()
            writer.append(decimal: value)
            #expect(writer.text == String(value))
        }
    }

    @Test func aMemberWithoutAValueIsLeftOut() throws {
        var document = JSONDocument()
        try document.read(Array(#"{"a":"x\"y","b":[1, 2]}"#.utf8).span)
        let (text, none) = (document.member("a", of: document.root).map { document.text(of: $0) }, nil as String?)
        var json = ByteWriter()
        json.append("{\"word\":", word: none)
        json.append("{\"json\":", json: none)
        json.append("{\"decimal\":", decimal: nil as Int64?)
        json.append("{\"wait\":", wait: nil)
        json.append("{\"moment\":", moment: nil)
        json.append("{\"text\":", text: nil, in: document)
        json.append("{\"verbatim\":", verbatim: nil, in: document)
        #expect(json.text == "")
        json.append("{\"word\":", word: "apns")
        json.append(",\"json\":", json: "a\"b")
        json.append(",\"decimal\":", decimal: -7 as Int64)
        json.append(",\"wait\":", wait: -7)
        json.append(",\"moment\":", moment: Timestamp(milliseconds: 0))
        json.append(",\"text\":", text: text, in: document)
        json.append(",\"verbatim\":", verbatim: document.member("b", of: document.root), in: document)
        let written = #"{"word":"apns","json":"a\"b","decimal":-7,"wait":0,"moment":"1970-01-01T00:00:00.000Z","text":"x\"y","#
        #expect(json.text == written + #""verbatim":[1, 2]"#)
    }

    @Test func whatIsCutIsForgotten() {
        var writer = ByteWriter()
        writer.append("abcdef")
        writer.cut(to: 9)
        #expect(writer.text == "abcdef")
        writer.cut(to: 2)
        writer.append("x")
        #expect(writer.text == "abx")
    }

    @Test func everyWayOfAppendingAddsAtTheEnd() {
        var writer = ByteWriter(capacity: 4)
        writer.append(UInt8(ascii: "a"))
        writer.append("bé" as StaticString)
        writer.append("c😀" as String)
        writer.append(Array("d".utf8).span)
        writer.append(decimal: Int(-42))
        var other = ByteWriter()
        other.append("e" as StaticString)
        writer.append(other)
        #expect(writer.text == "abéc😀d-42e")
        #expect(writer.count == writer.bytes.count)
        writer.removeAll()
        #expect(writer == ByteWriter())
    }

    @Test func oneMalformedByteMakesTextMalformed() {
        #expect(isWellFormed(Array("aé€😀\u{10FFFF}".utf8)))
        var random = SeededRandom(9)
        for _ in 0..<5000 {
            let bytes = (0..<random.below(6)).map { _ in
                [0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4, 0xF5][random.below(14)] as UInt8
            }
            #expect(isWellFormed(bytes) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
        }
    }

    private func isWellFormed(_ bytes: [UInt8]) -> Bool { UTF8Scalars.isWellFormed(bytes.span) }
}
