/// Looks for a word in bytes, most of which it never touches (Horspool 1980: the byte under the word's end tells how far to go on).
package struct ByteWord: Sendable {
    private let word: [UInt8]
    private let steps: [Int]

    /// A word to look for, of at least one byte.
    package init(_ text: String) {
        word = Array(text.utf8)
        var steps = [Int](repeating: word.count, count: 256)
        for (index, byte) in word.dropLast().enumerated() { steps[Int(byte)] = word.count - 1 - index }
        self.steps = steps
    }

    /// True if the word stands in the bytes.
    package func isIn(_ bytes: Span<UInt8>) -> Bool {
        var end = word.count - 1
        while end < bytes.count {
            var index = word.count - 1
            while index >= 0, bytes[end - (word.count - 1 - index)] == word[index] { index -= 1 }
            if index < 0 { return true }
            end += steps[Int(bytes[end])]
        }
        return false
    }
}
