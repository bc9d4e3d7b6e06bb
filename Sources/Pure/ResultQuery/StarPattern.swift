/// Compares texts with patterns in which `*` stands for any bytes, in time that grows with the length of both and no faster.
struct StarPattern {
    /// Pieces of more bytes are searched with a table (Knuth, Morris and Pratt). For shorter ones, it costs more than it saves.
    private static let longestPlainPiece = 8

    private static let star = UInt8(ascii: "*")

    /// The comparisons of two bytes so far, of texts and tables alike.
    private(set) var steps = 0

    /// True if `pattern` is all of `text`. Each piece between two stars is taken where it comes first.
    mutating func matches(_ text: Span<UInt8>, pattern: Span<UInt8>) -> Bool {
        var start = 0
        while start < pattern.count, pattern[start] != Self.star {
            guard start < text.count, isSame(text[start], as: pattern[start]) else { return false }
            start += 1
        }
        guard start < pattern.count else { return start == text.count }
        // The piece behind the last star ends the text. The others stand before it, one after another.
        var (end, rest) = (pattern.count, text.count)
        while pattern[end - 1] != Self.star {
            guard rest > start, isSame(text[rest - 1], as: pattern[end - 1]) else { return false }
            (end, rest) = (end - 1, rest - 1)
        }
        var position = start
        var piece = start + 1
        while piece < end {
            var next = piece
            while pattern[next] != Self.star { next += 1 }
            guard let found = find(pattern.extracting(piece..<next), in: text.extracting(position..<rest)) else { return false }
            position += found
            piece = next + 1
        }
        return true
    }

    /// The end of the first place of `piece` in `text`.
    private mutating func find(_ piece: Span<UInt8>, in text: Span<UInt8>) -> Int? {
        guard piece.count <= text.count else { return nil }
        guard piece.count > Self.longestPlainPiece else { return findPlainly(piece, in: text) }
        // For each byte, the length of the longest beginning of the piece that ends there, but for all of it.
        var table = [0]
        table.reserveCapacity(piece.count)
        var length = 0
        for index in 1..<piece.count {
            while length > 0, !isSame(piece[index], as: piece[length]) { length = table[length - 1] }
            if isSame(piece[index], as: piece[length]) { length += 1 }
            table.append(length)
        }
        length = 0
        for index in text.indices {
            while length > 0, !isSame(text[index], as: piece[length]) { length = table[length - 1] }
            if isSame(text[index], as: piece[length]) { length += 1 }
            if length == piece.count { return index + 1 }
        }
        return nil
    }

    private mutating func findPlainly(_ piece: Span<UInt8>, in text: Span<UInt8>) -> Int? {
        for start in 0...text.count - piece.count {
            var length = 0
            while length < piece.count, isSame(text[start + length], as: piece[length]) { length += 1 }
            if length == piece.count { return start + length }
        }
        return nil
    }

    private mutating func isSame(_ one: UInt8, as other: UInt8) -> Bool {
        steps += 1
        return one == other
    }
}

extension Span<UInt8> {
    /// True if `pattern`, in which `*` stands for any bytes, is all of the text.
    public func matches(_ pattern: Span<UInt8>) -> Bool {
        var comparison = StarPattern()
        return comparison.matches(self, pattern: pattern)
    }
}
