import Testing

@testable import HTTP1

/// Eight bytes at a time must find what a look at each byte finds.
@Suite struct SpanWordsTests {
    @Test(arguments: 0..<40)
    func aControlCharacterEndsATextWhereverItStands(length: Int) {
        for control: UInt8 in [0x00, 0x0A, 0x0D, 0x1F, 0x7F] {
            for place in 0..<length {
                // Around it stands what is next to a control character: blanks, tabs, and bytes above ASCII.
                var bytes = (0..<length).map { [0x20, 0x09, 0x7E, 0x80, 0xFF, 0xA0, 0x8A][$0 % 7] as UInt8 }
                #expect(bytes.span.endOfText() == length)
                bytes[place] = control
                #expect(bytes.span.endOfText() == place)
            }
        }
    }

    @Test(arguments: 0..<40)
    func aByteIsFoundWhereverItStands(length: Int) {
        for byte: UInt8 in [0x00, 0x0A, 0x80, 0xFF] {
            for place in 0..<length {
                var bytes = [UInt8](repeating: byte ^ 0x80, count: length)
                for start in 0...length { #expect(bytes.span.firstPlace(of: byte, from: start) == length) }
                bytes[place] = byte
                if place > 0 { bytes[place - 1] = byte &+ 1 }
                for start in 0...length {
                    #expect(bytes.span.firstPlace(of: byte, from: start) == (start <= place ? place : length))
                }
            }
        }
    }
}
