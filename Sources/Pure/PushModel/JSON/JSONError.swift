/// The reason why a text is no JSON, or more than will be read.
public struct JSONError: Error, Sendable, Equatable {
    /// The fault of the text, in a bounded vocabulary.
    public enum Fault: String, Sendable, CaseIterable {
        case empty
        case invalidUTF8 = "invalid_utf8"
        case unexpectedEnd = "unexpected_end"
        case unexpectedByte = "unexpected_byte"
        case invalidString = "invalid_string"
        case invalidNumber = "invalid_number"
        case nestedTooDeeply = "nested_too_deeply"
        case trailingBytes = "trailing_bytes"
        case tooLarge = "too_large"
    }

    /// The fault of the text.
    public var reason: Fault
    /// The byte, counted from 0, at which it was seen. Of a wrong word or escape, its first.
    public var offset: Int
    /// The JSON Pointer of the innermost value whose reading had begun and not ended.
    public var pointer: String

    /// A fault at byte `offset`, in the value at `pointer`.
    public init(reason: Fault, offset: Int, pointer: String) {
        self.reason = reason
        self.offset = offset
        self.pointer = pointer
    }

    /// A plain sentence that names the fault and its place.
    public var sentence: String {
        let place = pointer.isEmpty ? "byte \(offset)" : "byte \(offset), in \(pointer)"
        switch reason {
        case .empty: return "The value is empty."
        case .invalidUTF8: return "The text is not valid UTF-8 at \(place)."
        case .unexpectedEnd: return "The text ends at \(place), before its last value is complete."
        case .unexpectedByte: return "A byte stands where JSON has no place for it, at \(place)."
        case .invalidString: return "A string has a control character, a wrong escape or half a surrogate pair at \(place)."
        case .invalidNumber: return "A number is not written as JSON wants it at \(place)."
        case .nestedTooDeeply: return "Values are nested more than \(JSONDocument.maximumDepth) levels deep at \(place)."
        case .trailingBytes: return "More text follows the value at \(place)."
        case .tooLarge: return "The text has more than \(JSONDocument.maximumByteCount) bytes."
        }
    }
}
