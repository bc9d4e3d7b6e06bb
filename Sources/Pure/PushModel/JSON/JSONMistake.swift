/// A JSON error in the words of a person who wrote the text by hand: where it is, and what probably went wrong.
///
/// It never quotes the text, which may have a device handle in it.
public struct JSONMistake: Sendable, Equatable {
    /// The line, counted from 1.
    public let line: Int
    /// The character in that line (Unicode scalar), counted from 1.
    public let column: Int
    /// The cause, and what to write instead: a plain sentence.
    public let cause: String
}

extension JSONError {
    /// The error in plain words.
    ///
    /// - Parameter source: The text that could not be read.
    /// - Returns: Its place and its probable cause.
    public func mistake(in source: Span<UInt8>) -> JSONMistake {
        let reading = JSONOutline(source, to: offset)
        let (place, cause) = reading.mistake(reason) ?? (offset, sentence)
        var line = 1
        var start = 0
        for index in 0..<min(place, source.count) where source[index] == UInt8(ascii: "\n") {
            line += 1
            start = index + 1
        }
        let column = characterCount(source.extracting(start..<max(start, min(place, source.count)))) + 1
        return JSONMistake(line: line, column: column, cause: cause)
    }
}

/// The surroundings of an error's place: the brackets that are open there, and the bytes at it and before it.
private struct JSONOutline: ~Escapable {
    private let source: Span<UInt8>
    private let offset: Int
    /// The places of the brackets that are open, the innermost last. A text that is nested too deeply is refused before.
    private var open: [Int] = []
    /// The beginning of the string that is open.
    private var string: Int?
    /// The place of the last byte before the error that is no blank.
    private var previous: Int?

    @_lifetime(copy source)
    init(_ source: Span<UInt8>, to offset: Int) {
        self.source = source
        self.offset = min(offset, source.count)
        var index = 0
        while index < self.offset {
            let byte = source[index]
            if string != nil {
                if byte == UInt8(ascii: "\\") { index += 1 } else if byte == UInt8(ascii: "\"") { string = nil }
            } else {
                switch byte {
                case UInt8(ascii: "\""): string = index
                case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(index)
                case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
                default: break
                }
            }
            if byte > 0x20 { previous = index }
            index += 1
        }
    }

    private var byte: UInt8? { offset < source.count ? source[offset] : nil }
    private var previousByte: UInt8? { previous.map { source[$0] } }

    /// The place of the mistake, and its cause, or nil where the error's own sentence says all.
    func mistake(_ reason: JSONError.Fault) -> (Int, String)? {
        switch reason {
        case .unexpectedByte: unexpected
        case .unexpectedEnd: end
        case .invalidString: (offset, invalidString)
        case .invalidNumber: (offset, "A number is written such as 7, -1, 2.5 or 1e3, without a zero or a sign in front.")
        case .trailingBytes: (offset, trailing)
        case .invalidUTF8: (offset, "The text is not UTF-8 here.")
        case .nestedTooDeeply: (offset, "Values are nested more than \(JSONDocument.maximumDepth) levels deep.")
        case .empty, .tooLarge: nil
        }
    }

    private var unexpected: (Int, String)? {
        guard let byte else { return nil }
        let isClosing = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
        if isClosing, previousByte == UInt8(ascii: ","), let previous {
            return (previous, "Nothing follows this comma: take it away.")
        }
        switch byte {
        case UInt8(ascii: "'"): return (offset, "Names and texts stand in double quotes, not in single ones.")
        // The quotation marks of a text processor, U+2018 to U+201F in UTF-8.
        case 0xE2 where offset + 1 < source.count && source[offset + 1] == 0x80:
            return (offset, "Names and texts stand in straight double quotes (\").")
        case UInt8(ascii: "/"), UInt8(ascii: "#"): return (offset, "JSON has no comments: take it away.")
        default: break
        }
        if open.isEmpty {
            return (offset, previous == nil ? "JSON begins with a bracket: { for a request, [ for several." : trailing)
        }
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "."): return mistake(.invalidNumber)
        case UInt8(ascii: ","): return (offset, "Nothing stands before this comma: take it away, or give the value.")
        default: return (offset, isClosing ? wrongBracket(byte) : missing(before: byte))
        }
    }

    /// A closing bracket that does not belong here.
    private func wrongBracket(_ byte: UInt8) -> String {
        if previousByte == UInt8(ascii: ":") { return "A value is missing behind the colon." }
        let opening = open.last.map { source[$0] }
        if opening == UInt8(ascii: "{"), byte == UInt8(ascii: "}") { return "A name is without a colon and a value." }
        return opening == UInt8(ascii: "{") ? "A { must be closed by } first." : "A [ must be closed by ] first."
    }

    /// A value or a name that stands where a comma, a colon or a quotation mark should.
    private func missing(before byte: UInt8) -> String {
        switch previousByte {
        case UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: ":"):
            let isValue = previousByte == UInt8(ascii: ":") || open.last.map { source[$0] } == UInt8(ascii: "[")
            return isValue
                ? "Texts stand in double quotes; only numbers, true, false and null stand without."
                : "A name stands in double quotes."
        case UInt8(ascii: "\"") where isLetter(byte):
            return "A text ended before this: its own quotation mark is missing, or one inside it is not written \\\"."
        case UInt8(ascii: "\""): return "A comma or a colon is missing before this."
        default: return "A comma is missing before this."
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
    }

    private var end: (Int, String)? {
        if let string { return (string, "This text has no closing quotation mark.") }
        guard let innermost = open.last else { return nil }
        let bracket = source[innermost] == UInt8(ascii: "{") ? "{ is not closed by }" : "[ is not closed by ]"
        return (innermost, "The text ends too early: this \(bracket).")
    }

    private var invalidString: String {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            "The line ends inside a text: its closing quotation mark is missing, or the line break must be written \\n."
        case UInt8(ascii: "\\"):
            "There is no such escape, or it is half a surrogate pair: a backslash is \\\\, \\u has four digits, two such for what is beyond them."
        default: "A text must not hold a control character: a tab is written \\t."
        }
    }

    private var trailing: String {
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): "This bracket closes nothing: one too many."
        case UInt8(ascii: ","): "Several requests stand without commas, a line each, or in [ ]."
        default: "More text follows the value."
        }
    }
}
