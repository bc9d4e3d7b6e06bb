/// Records as whoever may write to a topic can make them: proper ones with one thing changed, and what is no record at all.
///
/// Of a sample of JSON any value is replaced, any member is taken out, doubled or renamed, and some bytes are cut off or changed.
public struct OddRecords {
    /// Values that no reader may stumble over, as JSON.
    public static let values: [[UInt8]] =
        [
            "null", "true", "-1", "0", "7", "0.5", "-0", "1e308", "-1e308", "1e999", "1e-999", "2147483648",
            "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", "\"\"", "\"-1\"", "\"NaN\"", "\"9223372036854775807\"",
            "\"-9223372036854775808\"", "\"9999-12-31T23:59:59.999Z\"", "\"0000-01-01T00:00:00Z\"",
            "\"\\u001b[201~\\u0003\\u0000\\n\"",
            "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\u{202E}\u{85}\"", "[]", "[null]", "[-1,9223372036854775807]", "[[\"\",-1]]",
            "{}",
            "{\"a\":1,\"a\":null}", "[{}]", "\"sent\"", "\"final\"",
        ].map { Array($0.utf8) } + [
            Array("\"".utf8) + [0xFF, 0xC0, 0x80] + Array("\"".utf8), [UInt8](repeating: 0x5B, count: 1000),
            [UInt8](repeating: 0x5B, count: 40) + [UInt8](repeating: 0x5D, count: 40),
        ]

    private static let wholes: [[UInt8]] = [
        [], [0x20], Array("null".utf8), Array("[]".utf8), Array("{}".utf8), [0xFF, 0xFE, 0x00],
    ]

    /// The bytes of a text that is larger than any name.
    private let largest: Int
    private var random: SeededRandom

    /// Records that the seed determines.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - largest: The bytes of the largest text. Default 1 MB.
    public init(seed: Int, largest: Int = 1_000_000) {
        self.largest = largest
        random = SeededRandom(seed)
    }

    /// Some odd records, each made of one of the samples.
    public mutating func records(_ count: Int, of samples: [String]) -> [[UInt8]] {
        (0..<count).map { _ in record(of: Array(samples[random.below(samples.count)].utf8)) }
    }

    private mutating func record(of sample: [UInt8]) -> [UInt8] {
        let values = JSONPlaces(sample).values
        guard !values.isEmpty, random.below(20) > 0 else { return Self.wholes[random.below(Self.wholes.count)] }
        let place = values[random.below(values.count)]
        switch random.below(20) {
        case 0: return Array(sample.prefix(random.below(sample.count)))
        case 1:
            var changed = sample
            changed[random.below(sample.count)] = UInt8.random(in: 0 ... .max, using: &random)
            return changed
        case 2, 3: return place.member.map { sample.replacing($0, by: Array("\"\":0".utf8)) } ?? sample
        case 4, 5:
            // Of two members with one name either may count.
            guard let member = place.member else { return sample }
            let twin = Array(sample[member.lowerBound..<place.value.lowerBound]) + value() + [0x2C]
            return sample.replacing(member.lowerBound..<member.lowerBound, by: twin)
        default: return sample.replacing(place.value, by: value())
        }
    }

    private mutating func value() -> [UInt8] {
        guard random.below(2000) > 0 else { return [0x22] + [UInt8](repeating: 0x61, count: largest) + [0x22] }
        return Self.values[random.below(Self.values.count)]
    }
}

/// The places of all values in a sample of JSON, which has no escapes.
private struct JSONPlaces {
    /// A value, and the member that it is of.
    struct Place {
        let value: Range<Int>
        let member: Range<Int>?
    }

    private(set) var values: [Place] = []
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) {
        self.text = text
        readValue(of: nil)
    }

    private var byte: UInt8 { index < text.count ? text[index] : 0 }

    private mutating func readValue(of start: Int?) {
        let begin = index
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            index += 1
            while index < text.count, byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") {
                let member = isObject ? index : nil
                if isObject { skipString() }
                skip(":")
                readValue(of: member)
                skip(",")
            }
            index += 1
        case UInt8(ascii: "\""): skipString()
        default: while index < text.count, !",}]".utf8.contains(byte) { index += 1 }
        }
        values.append(Place(value: begin..<index, member: start.map { $0..<index }))
    }

    private mutating func skipString() {
        index += 1
        while index < text.count, byte != UInt8(ascii: "\"") { index += 1 }
        index = min(index + 1, text.count)
    }

    private mutating func skip(_ letter: Unicode.Scalar) { if byte == UInt8(ascii: letter) { index += 1 } }
}

extension [UInt8] {
    fileprivate func replacing(_ range: Range<Int>, by bytes: [UInt8]) -> [UInt8] {
        Array(self[..<range.lowerBound]) + bytes + self[range.upperBound...]
    }
}
