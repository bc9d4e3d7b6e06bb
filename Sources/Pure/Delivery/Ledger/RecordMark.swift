import Basics
import PushModel

/// The identity of a record of a partition: its offset, its time, and a digest of its key and value.
///
/// Kafka can lose the end of a partition and fill it again. Then another record has the offset. It may have the same time, because
/// publishers write that, but not the same content too.
public struct RecordMark: Sendable, Equatable {
    /// Its offset, 0 or more.
    public let offset: Int64
    /// The moment of its publication, milliseconds since 1970, 0 or more, or nil if the topic keeps no times.
    public let time: Int64?
    /// The digest, which is the same in every process and version.
    public let digest: UInt64

    /// The mark of a record. It costs the same for every large value.
    ///
    /// - Parameters:
    ///   - offset: Its offset.
    ///   - time: When it was published, milliseconds since 1970.
    ///   - key: Its key.
    ///   - value: Its value.
    public init(offset: Int64, time: Int64?, key: Span<UInt8>?, value: Span<UInt8>?) {
        self.offset = max(0, offset)
        self.time = time.map { max(0, $0) }
        var digest = MarkDigest()
        if let key { digest.add(key) } else { digest.add(UInt64.max) }
        if let value { digest.add(value) } else { digest.add(UInt64.max) }
        self.digest = digest.value
    }

    /// Reads the three words of the text form.
    fileprivate init?(_ offset: Substring, time: Substring, digest: Substring) {
        guard let offset = Int64(offset), offset >= 0, let digest = UInt64(digest, radix: 16) else { return nil }
        if time.isEmpty {
            self.time = nil
        } else {
            guard let number = Int64(time), number >= 0 else { return nil }
            self.time = number
        }
        self.offset = offset
        self.digest = digest
    }

    /// Appends the text form: decimal offset, decimal time or nothing, hexadecimal digest without zeros before it. It has at most 56
    /// characters.
    fileprivate func write(to text: inout ByteWriter) {
        text.append(decimal: offset)
        text.append(UInt8(ascii: ","))
        if let time { text.append(decimal: time) }
        text.append(UInt8(ascii: ","))
        let digitCount = max(1, (67 - digest.leadingZeroBitCount) / 4)
        for place in (0..<digitCount).reversed() {
            text.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: digest >> UInt64(4 * place) & 15)))
        }
    }
}

/// The first and the last record of a partition that were read by those who committed a position.
///
/// If the last one is still there, the partition has lost nothing that was read. If the first one is there, the topic was not recreated.
public struct ReadMarks: Sendable, Equatable {
    /// The first record.
    public let first: RecordMark
    /// The last record: that with the highest offset.
    public private(set) var last: RecordMark

    /// The marks of a reader of one record.
    public init(_ record: RecordMark) { (first, last) = (record, record) }

    /// Reads the text form: two marks, the words of which commas divide.
    init?(_ text: Substring) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count == 6, let first = RecordMark(words[0], time: words[1], digest: words[2]),
            let last = RecordMark(words[3], time: words[4], digest: words[5]), first.offset <= last.offset
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Records that a record was read, by a reader that may have read none before.
    public static func read(_ record: RecordMark, into marks: inout ReadMarks?) {
        if marks == nil { marks = ReadMarks(record) } else { marks?.read(record) }
    }

    /// Records that a record was read. One before the last changes nothing.
    public mutating func read(_ record: RecordMark) {
        if record.offset > last.offset { last = record }
    }

    /// The text form.
    var text: String {
        var text = ByteWriter()
        write(to: &text)
        return text.text
    }

    /// Appends the text form, at most 113 characters.
    func write(to text: inout ByteWriter) {
        first.write(to: &text)
        text.append(UInt8(ascii: ","))
        last.write(to: &text)
    }
}

/// A digest of 64 bits over the lengths of texts, and over their bytes: all of a short text, samples of a long one.
private struct MarkDigest {
    /// The number of bytes that count at each end of a text.
    private static let edge = 64
    /// The number of words of 8 bytes that count between the ends.
    private static let sampleCount = 8

    private(set) var value: UInt64 = 0x243F_6A88_85A3_08D3

    mutating func add(_ word: UInt64) {
        let product = (value ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        // The sum keeps a product of zero from staying one.
        value = (product.high ^ product.low) &+ 0x1319_8A2E_0370_7344
    }

    mutating func add(_ text: Span<UInt8>) {
        add(UInt64(text.count))
        guard text.count > 2 * Self.edge + 8 * Self.sampleCount else {
            add(text, from: 0, to: text.count)
            return
        }
        add(text, from: 0, to: Self.edge)
        let step = (text.count - 2 * Self.edge) / Self.sampleCount
        for sample in 0..<Self.sampleCount {
            let place = Self.edge + sample * step
            add(text, from: place, to: place + 8)
        }
        add(text, from: text.count - Self.edge, to: text.count)
    }

    private mutating func add(_ text: Span<UInt8>, from start: Int, to end: Int) {
        var index = start
        while index < end {
            var word: UInt64 = 0
            for place in index..<min(index + 8, end) { word = word << 8 | UInt64(text[place]) }
            add(word)
            index += 8
        }
    }
}
