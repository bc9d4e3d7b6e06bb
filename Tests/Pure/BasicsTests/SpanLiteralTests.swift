import Basics
import Testing

@Suite struct SpanLiteralTests {
    @Test(
        arguments: [
            ("abcabc", 0, true), ("abcabc", 3, true), ("abcabc", 1, false), ("ABCabc", 0, false), ("abcab", 3, false),
            ("ab", 0, false),
            ("abc", -1, false), ("abc", .min, false), ("abc", 4, false), ("abc", .max, false), ("", 0, false),
        ] as [(String, Int, Bool)])
    func aLiteralStandsAtAPlace(text: String, place: Int, isThere: Bool) {
        let bytes = Array(text.utf8)
        #expect(bytes.span.holds("abc", at: place) == isThere)
        #expect(bytes.span.holdsIgnoringCase("abc", at: place) == (isThere || text.hasPrefix("ABC")))
    }

    @Test(
        arguments: [
            ("Az[", "aZ[", true), ("[", "{", false), ("@", "`", false), ("ab", "abc", false), ("abc", "ab", false),
            ("", "", true),
        ])
    func caseIsThatOfASCIILettersAlone(left: String, right: String, areEqual: Bool) {
        #expect(Array(left.utf8).span.equalsIgnoringCase(Array(right.utf8).span) == areEqual)
    }

    @Test func aLiteralIsAllOfTheBytes() {
        let bytes = Array("Host".utf8)
        #expect(
            bytes.span.equalsIgnoringCase("hOST") && !bytes.span.equalsIgnoringCase("hos")
                && !bytes.span.equalsIgnoringCase("hosts"))
    }
}
