import Testing

@testable import PushModel

/// Eight bytes at a time must find what a look at each byte finds.
@Suite struct SpanWordsTests {
    @Test(arguments: 0..<40)
    func aSpecialByteIsFoundWhereverItStands(length: Int) {
        for special: UInt8 in [0x00, 0x1F, 0x22, 0x5C, 0x80, 0xA2, 0xDC, 0xFF] {
            for place in 0..<length {
                var bytes = [UInt8](repeating: 0x7F, count: length)
                bytes[place] = special
                for start in 0...length {
                    #expect(bytes.span.endOfPlainText(from: start) == (start <= place ? place : length))
                }
            }
        }
    }

    @Test func anyMixtureIsReadAsByteForByte() {
        var random = SeededRandom(11)
        for _ in 0..<4000 {
            let bytes = (0..<random.below(30)).map { _ in
                [0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0xA1][min(random.below(60), 10)] as UInt8
            }
            for start in 0...bytes.count {
                let expected =
                    bytes[start...].firstIndex { $0 < 0x20 || $0 > 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
                #expect(bytes.span.endOfPlainText(from: start) == expected ?? bytes.count, "\(bytes)")
            }
        }
    }

    @Test(arguments: 0..<20)
    func oneOtherByteMakesSpansUnequal(length: Int) {
        let bytes = (0..<length).map { UInt8($0 + 60) }
        #expect(equal(bytes, Array(bytes)))
        #expect(!equal(bytes, bytes + [0]))
        for place in 0..<length {
            var other = bytes
            other[place] ^= 0x80
            #expect(!equal(bytes, other))
        }
    }

    private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.span.equals(right.span) }

    @Test func aHeadHasTheFirstEightBytesAndZerosBehindThem() {
        #expect([UInt8]().span.head == 0)
        #expect(Array("ab".utf8).span.head == 0x6261)
        #expect(Array("12345678".utf8).span.head == Array("123456789".utf8).span.head)
        #expect(Array("1234567".utf8).span.head == 0x37_3635_3433_3231)
    }

    @Test func keysThatAreAlikeButDifferAreNoRepeats() throws {
        // Each begins, ends and measures as the others do.
        let names = (0..<30).map { "a\($0 + 10)z" }
        let json = "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(try readJSON(Array(json.utf8)).duplicateKeys.isEmpty)
        let repeated = "{" + (names + [names[7]]).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(try readJSON(Array(repeated.utf8)).duplicateKeys.count == 1)
        #expect(try readJSON(Array(#"{"a":1,"":2,"":3}"#.utf8)).duplicateKeys.count == 1)
    }
}
