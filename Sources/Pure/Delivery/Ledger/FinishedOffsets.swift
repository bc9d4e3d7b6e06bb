import Basics
import PushModel

/// The set of offsets that are finished above a low-water mark, as distances from it, and its text form.
///
/// The text is the version character `4`, `begun`, `:`, `marks`, `:` and the base64 (RFC 4648) of the little-endian bitmap, trailing zero
/// bytes cut. Where no marks are known it is the older form: `3`, `latest`, `:`, `begun`, `:` and the bitmap. Numbers are decimal digits,
/// or nothing where they are not known. It travels in the metadata of a Kafka offset commit; an empty text means that nothing above the
/// mark is finished, and that nothing else is known. `3` is the first version that was released.
public struct FinishedOffsets: Sendable, Equatable {
    private var bytes: [UInt8] = []
    /// The moment of publication of the latest record that was read, milliseconds since 1970, 0 or more. Nil when that is not
    /// known. The text has it only without `marks`.
    public var latest: Int64?
    /// The first and the last record that were read, or nil when they are not known. They show whether the partition has lost
    /// some of what was read.
    public var marks: ReadMarks?
    /// The distance above the mark before which requests may be begun at this position, or have been, and are not finished, 0 – 32,768.
    /// Nil where it may be any.
    public var begun: Int64?

    /// The most that `begun` can be.
    public static let mostBegun = Int64(2 * OffsetLedger.maximumWindow)

    /// The longest text form, in characters: the map of a full window, and 121 before it.
    public static let longestText = 121 + (OffsetLedger.maximumWindow / 8 + 2) / 3 * 4

    /// The version characters that versions to come may begin the text with.
    static let laterForms: ClosedRange<Unicode.Scalar> = "5"..."9"

    /// The empty set.
    public init() {}

    /// The set whose distance `n` is bit `n % 64` of word `n / 64`. At most 256 words.
    init(words: [UInt64]) {
        let used = words.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        bytes.reserveCapacity(used * 8)
        for word in words.prefix(used) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        while bytes.last == 0 { bytes.removeLast() }
    }

    /// The reason why a commit's metadata cannot be used.
    public enum DecodingError: Error, Sendable, Equatable {
        /// It starts with a version that this program does not know. A newer one, or another program, wrote it.
        case unknownVersion
        /// It is not base64, or larger than any window.
        case malformed
    }

    /// The number of words, each of 64 distances.
    var wordCount: Int { (bytes.count + 7) / 8 }

    /// Bit `n` of word `index` is distance `index * 64 + n`.
    func word(_ index: Int) -> UInt64 {
        var word: UInt64 = 0
        for place in (index * 8..<min(index * 8 + 8, bytes.count)).reversed() { word = word << 8 | UInt64(bytes[place]) }
        return word
    }

    /// One more than the largest distance that can be in the set.
    public var bitCount: Int { bytes.count * 8 }

    /// True if the offset `distance` above the low-water mark is finished.
    public func contains(_ distance: Int) -> Bool {
        distance >= 0 && distance >> 3 < bytes.count && bytes[distance >> 3] & (1 << UInt8(distance & 7)) != 0
    }

    /// Adds the offset `distance` (0 – 16,383) above the low-water mark.
    public mutating func insert(_ distance: Int) {
        guard distance >= 0, distance < OffsetLedger.maximumWindow else { return }
        while bytes.count <= distance >> 3 { bytes.append(0) }
        bytes[distance >> 3] |= 1 << UInt8(distance & 7)
    }

    /// The content of the set from `distance` on, as distances from there, and `latest`.
    public func rest(above distance: Int64) -> FinishedOffsets {
        var rest = FinishedOffsets()
        rest.latest = latest
        let passed = max(0, distance)
        guard passed < Int64(bitCount) else { return rest }
        for place in Int(passed)..<bitCount where contains(place) { rest.insert(place - Int(passed)) }
        return rest
    }

    /// The text form, at most `longestText` characters.
    public func encoded() -> String {
        let reach = begun.map { min(max(0, $0), Self.mostBegun) }
        guard let marks else {
            let time = latest.map { $0 >= 0 ? "\($0)" : "" } ?? ""
            guard !bytes.isEmpty || !time.isEmpty || reach != nil else { return "" }
            return "3\(time):\(reach.map { "\($0)" } ?? ""):" + String(decoding: Base64.encode(bytes), as: UTF8.self)
        }
        // Thousands of these are written a second where there are many partitions, and strings that are put together take five times as long.
        var text = ByteWriter(capacity: 128)
        text.append(UInt8(ascii: "4"))
        if let reach { text.append(decimal: reach) }
        text.append(UInt8(ascii: ":"))
        marks.write(to: &text)
        text.append(UInt8(ascii: ":"))
        if !bytes.isEmpty { text.append(Base64.encode(bytes).span) }
        return text.text
    }

    /// Reads the text form.
    ///
    /// - Throws: `DecodingError`; the caller must not guess, because skipping wrongly loses records and starting empty
    ///   publishes results twice.
    public init(decoding text: String) throws(DecodingError) {
        guard let version = text.utf8.first else { return }
        var map = text.utf8.dropFirst()
        switch version {
        case UInt8(ascii: "3"):
            latest = try Self.number(from: &map)
            begun = try Self.number(from: &map)
        case UInt8(ascii: "4"):
            begun = try Self.number(from: &map)
            marks = try Self.marks(from: &map)
        default: throw .unknownVersion
        }
        guard begun ?? 0 <= Self.mostBegun, let decoded = Base64.decode(Array(map)),
            decoded.count <= OffsetLedger.maximumWindow / 8
        else {
            throw .malformed
        }
        bytes = decoded
        while bytes.last == 0 { bytes.removeLast() }
    }

    /// Takes decimal digits and the `:` behind them. Nil if there are no digits.
    private static func number(from text: inout Substring.UTF8View) throws(DecodingError) -> Int64? {
        let digits = text.prefix(while: \.isDigit)
        text = text.dropFirst(digits.count)
        guard text.popFirst() == UInt8(ascii: ":") else { throw .malformed }
        if digits.isEmpty { return nil }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { throw .malformed }
        return number
    }
}

extension FinishedOffsets {
    /// Takes two marks and the `:` behind them.
    private static func marks(from text: inout Substring.UTF8View) throws(DecodingError) -> ReadMarks {
        let words = text.prefix { $0 != UInt8(ascii: ":") }
        text = text.dropFirst(words.count)
        guard text.popFirst() == UInt8(ascii: ":"), let marks = ReadMarks(Substring(words)) else { throw .malformed }
        return marks
    }
}
