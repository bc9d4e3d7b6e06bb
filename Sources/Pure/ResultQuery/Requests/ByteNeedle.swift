import Basics

/// Some bytes that are looked for in records, eight places at a time.
struct ByteNeedle: Sendable {
    private let bytes: [UInt8]
    /// At each byte the bit that tells a capital letter from a small one, or 0 where there is none or it matters.
    private let masks: [UInt8]

    /// The number of bytes.
    var count: Int { bytes.count }

    /// A needle of at least one byte.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - ignoresCase: Letters of ASCII are found in either case.
    init(_ text: String, ignoringCase ignoresCase: Bool) {
        masks = text.utf8.map { ignoresCase && $0.isLetter ? 0x20 : 0 }
        bytes = zip(text.utf8, masks).map { $0 | $1 }
    }

    /// True if it stands anywhere.
    func isFound(in haystack: Span<UInt8>) -> Bool { place(in: haystack, from: 0) != nil }

    /// Its first place from `start` on.
    func place(in haystack: Span<UInt8>, from start: Int) -> Int? {
        guard let first = bytes.first, let last = bytes.last else { return start }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (firstWord, lastWord) = (ones &* UInt64(first), ones &* UInt64(last))
        let (firstMask, lastMask) = (ones &* UInt64(masks[0]), ones &* UInt64(masks[masks.count - 1]))
        let span = bytes.count - 1
        var index = start
        // Both words lie inside the haystack: the one that ends last ends at its end at most.
        while index <= haystack.count - span - 8 {
            let head = (Self.word(in: haystack, at: index) | firstMask) ^ firstWord
            let tail = (Self.word(in: haystack, at: index + span) | lastMask) ^ lastWord
            let differences = head | tail
            // The highest bit of each byte without a difference, and of some above one: all are compared.
            var candidates = (differences &- ones) & ~differences & 0x8080_8080_8080_8080
            while candidates != 0 {
                let place = index + candidates.trailingZeroBitCount >> 3
                if stands(in: haystack, at: place) { return place }
                candidates &= candidates &- 1
            }
            index += 8
        }
        while index <= haystack.count - bytes.count {
            if stands(in: haystack, at: index) { return index }
            index += 1
        }
        return nil
    }

    /// True if all bytes stand at a place behind which there are as many.
    private func stands(in haystack: Span<UInt8>, at place: Int) -> Bool {
        for index in bytes.indices where haystack[place + index] | masks[index] != bytes[index] { return false }
        return true
    }

    /// Eight bytes as a number, the first as its lowest byte. They lie inside the haystack.
    @inline(__always) private static func word(in haystack: Span<UInt8>, at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe haystack.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }
}
