import Basics
import Testing

@Suite struct PercentEncodingTests {
    @Test func encodingEscapesAllButUnreservedCharacters() {
        #expect(PercentEncoding.encoded("a b&c~_-.é/") == "a%20b%26c~_-.%C3%A9%2F")
        #expect(PercentEncoding.decoded("a%20b%26c~_-.%C3%A9") == "a b&c~_-.é")
    }

    @Test func aPathKeepsItsSlashes() {
        #expect(PercentEncoding.encoded("a/b c", by: .path) == "a/b%20c")
    }

    @Test func anEncoderWritesSpacesAndDigitsAsItWasAsked() {
        let encoder = PercentEncoding(leaving: "!", writesSpaceAsPlus: true, hexCase: .lower)
        #expect(String(decoding: encoder.encode("a !?~".utf8), as: UTF8.self) == "a+!%3f%7e")
    }

    @Test(arguments: 0...255) func everyByteSurvives(value: Int) {
        let bytes = [UInt8(value), 0x25, UInt8(value)]
        #expect(PercentEncoding.decode(PercentEncoding.unreserved.encode(bytes)[...], plusIsBlank: false) == bytes)
        let dense = PercentEncoding(leaving: "", writesSpaceAsPlus: true, hexCase: .lower)
        #expect(PercentEncoding.decode(dense.encode(bytes)[...], plusIsBlank: true) == bytes)
    }

    @Test(arguments: ["%", "a%4", "%4g", "%g4", "%%41", "%41%"]) func aWrongEscapeIsRefusedOrStays(text: String) {
        #expect(PercentEncoding.decode(Array(text.utf8)[...], plusIsBlank: false) == nil)
        #expect(PercentEncoding.decoded(text) == text.replacing("%41", with: "A"))
    }

    @Test func aPlusIsABlankInQueriesAlone() {
        #expect(PercentEncoding.decoded("a+b%2B", plusIsBlank: true) == "a b+")
        #expect(PercentEncoding.decoded("a+b%2B", plusIsBlank: false) == "a+b+")
    }
}
