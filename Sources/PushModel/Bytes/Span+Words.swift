/// Eight bytes at a time: what is looked for is found by arithmetic on a word, a fifth of the instructions of a look at each byte.
extension Span<UInt8> {
    /// The eight bytes from `index` on, the first as the lowest of the word; there must be as many.
    @inline(__always) func word(at index: Int) -> UInt64 {
        // Checked to lie inside the span; and any eight bytes, wherever they stand, are a number.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The first eight bytes as a word, with zeros for those that are not there.
    var head: UInt64 {
        if count >= 8 { return word(at: 0) }
        var head: UInt64 = 0
        for index in indices { head |= UInt64(self[index]) << UInt64(8 * index) }
        return head
    }

    /// Whether both have the same bytes.
    func equals(_ other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index <= count - 8 {
            if word(at: index) != other.word(at: index) { return false }
            index += 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }

    /// The first place from `start` on that does not hold a character which stands for itself in a JSON string: a quotation mark,
    /// a backslash, a control character or a byte above ASCII; `count` when there is none.
    func endOfPlainText(from start: Int) -> Int {
        var index = start
        while index <= count - 8 {
            let found = Self.specialBytes(in: word(at: index))
            if found != 0 { return index + found.trailingZeroBitCount >> 3 }
            index += 8
        }
        if index < count && start <= count - 8 {
            // The last eight bytes once more; those that were looked at before are plain.
            let found = Self.specialBytes(in: word(at: count - 8))
            return found == 0 ? count : count - 8 + found.trailingZeroBitCount >> 3
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return count
    }

    /// The highest bit of each byte of `word` that is not plain. A subtraction may borrow from the bytes above one that is found,
    /// so only the lowest bit set is to be trusted.
    @inline(__always) private static func specialBytes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        let small = (word &- ones &* 0x20) | (quotes &- ones) | (backslashes &- ones)
        return (small | word) & highBits
    }
}
