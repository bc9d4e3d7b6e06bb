import Basics
import PushModel

/// Texts in the form in which they are compared, as bytes: `String` takes texts of different bytes for the same, and an index does not.
enum FoldedText {
    /// The form of a text.
    static func bytes(_ text: String) -> [UInt8] { Array(Sought.folded(text).utf8) }

    /// The form of a text.
    static func bytes(_ text: Span<UInt8>) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count)
        for index in text.indices {
            guard text[index] < 0x80 else { return bytes(string(text)) }
            folded.append(text[index].lowercased)
        }
        return folded
    }

    /// The text. What is not UTF-8 is replaced.
    static func string(_ text: Span<UInt8>) -> String {
        var writer = ByteWriter(capacity: text.count)
        writer.append(text)
        return writer.text
    }

    /// True if a folded text is the form of another text.
    static func isForm(_ folded: [UInt8], of text: Span<UInt8>) -> Bool {
        for index in text.indices {
            guard text[index] < 0x80 else { return bytes(string(text)) == folded }
            guard index < folded.count, text[index].lowercased == folded[index] else {
                // Other letters behind it change nothing of what stands before them.
                return false
            }
        }
        return text.count == folded.count
    }
}
