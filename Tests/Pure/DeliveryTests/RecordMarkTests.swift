import Delivery
import TestSupport
import Testing

struct RecordMarkTests {
    private static func mark(_ key: [UInt8]?, _ value: [UInt8]?, offset: Int64 = 5, time: Int64? = 1_000) -> RecordMark {
        switch (key, value) {
        case (nil, nil): RecordMark(offset: offset, time: time, key: nil, value: nil)
        case (let key?, nil): RecordMark(offset: offset, time: time, key: key.span, value: nil)
        case (nil, let value?): RecordMark(offset: offset, time: time, key: nil, value: value.span)
        case (let key?, let value?): RecordMark(offset: offset, time: time, key: key.span, value: value.span)
        }
    }

    @Test func offsetTimeKeyAndValueAllCount() {
        let record = Self.mark([1], [2, 3])
        #expect(record == Self.mark([1], [2, 3]))
        let others = [
            Self.mark([1], [2, 3], offset: 6), Self.mark([1], [2, 3], time: 1_001), Self.mark([1], [2, 3], time: nil),
            Self.mark([2], [2, 3]), Self.mark([1], [2, 4]), Self.mark([1, 2], [3]), Self.mark([], [1, 2, 3]),
            Self.mark(nil, [2, 3]), Self.mark([1], nil), Self.mark([1], []), Self.mark(nil, nil), Self.mark([], []),
            Self.mark([1], [2, 3, 0]), Self.mark([1], [0, 2, 3]),
        ]
        for (index, other) in others.enumerated() { #expect(record != other, "\(index)") }
    }

    /// The digests of records that differ in their contents only.
    @Test func digestsOfDifferentContentsDiffer() {
        var digests: Set<UInt64> = []
        for number in 0..<10_000 {
            let text = "{\"id\":\"n\(number)\",\"audience\":{\"categories\":[\"a\"]},\"message\":{\"title\":\"T\"}}"
            digests.insert(Self.mark(nil, Array(text.utf8)).digest)
        }
        #expect(digests.count == 10_000)
    }

    /// Of a long value its ends count, and its length.
    @Test(arguments: [200, 1_000, 100_000])
    func aLongValueIsKnownByItsLengthAndItsEnds(count: Int) {
        let value = [UInt8](repeating: 7, count: count)
        let record = Self.mark(nil, value)
        #expect(record == Self.mark(nil, value))
        #expect(record != Self.mark(nil, value + [7]))
        for place in [0, 63, 64, count - 64, count - 1] {
            var other = value
            other[place] = 8
            #expect(record != Self.mark(nil, other), "\(place)")
        }
    }

    /// Positions keep digests, so that they must be the same in every version and process.
    @Test func aDigestStaysAsItIs() {
        let long = (0..<1_000).map { UInt8($0 % 250) }
        #expect(Self.mark(nil, Array("value".utf8)).digest == 0x6A74_AFBC_2AD2_7053)
        #expect(Self.mark(Array("k".utf8), nil).digest == 0xF30A_31F5_158E_49EA)
        #expect(Self.mark(Array("key".utf8), long).digest == 0xCFBD_471F_65BB_8BF6)
    }

    @Test func theFirstRecordStaysAndTheLastOneIsThatWithTheHighestOffset() {
        var marks = ReadMarks(Self.mark(nil, [1], offset: 3))
        for offset in [9, 4, 7] as [Int64] { marks.read(Self.mark(nil, [2], offset: offset)) }
        #expect(marks.first.offset == 3 && marks.last.offset == 9)
        marks.read(Self.mark(nil, [3], offset: 9))
        #expect(marks.last == Self.mark(nil, [2], offset: 9), "it was that when it was read")
    }
}
