import Basics

extension JSONReader {
    /// Reads a string with its quotes.
    @inline(__always) mutating func readString(
        _ source: Span<UInt8>, into tokens: inout MutableSpan<Token>, content: inout ByteWriter
    ) throws(Fault) {
        let start = index + 1
        index = source.endOfPlainText(from: start)
        guard index < source.count, source[index] == UInt8(ascii: "\"") else {
            return try readRichString(from: start, of: source, into: &tokens, content: &content)
        }
        add(.string, at: start, length: index - start, to: &tokens)
        index += 1
    }

    /// Reads the rest of a string that is not plain. One with escapes is decoded to the end of `content`.
    private mutating func readRichString(
        from start: Int, of source: Span<UInt8>, into tokens: inout MutableSpan<Token>, content: inout ByteWriter
    ) throws(Fault) {
        try skipText(source)
        if source[index] == UInt8(ascii: "\"") {
            add(.string, at: start, length: index - start, to: &tokens)
            index += 1
            return
        }
        let decoded = content.count
        var copied = start
        var isWellFormed = true
        while source[index] != UInt8(ascii: "\"") {
            content.append(source.extracting(copied..<index))
            if try !readEscape(source, into: &content) { isWellFormed = false }
            copied = index
            try skipText(source)
        }
        content.append(source.extracting(copied..<index))
        add(.string, at: decoded, length: content.count - decoded, to: &tokens)
        if !isWellFormed { noteIllFormedText(in: &tokens) }
        index += 1
    }

    /// Goes on to the next quotation mark or backslash, before which there is nothing that a string must not hold.
    private mutating func skipText(_ source: Span<UInt8>) throws(Fault) {
        while true {
            index = source.endOfPlainText(from: index)
            guard index < source.count else { throw .unexpectedEnd }
            let byte = source[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            guard byte >= 0x20 else { throw .invalidString }
            let step = UTF8Scalars.length(at: index, in: source)
            guard step > 0 else { throw .invalidUTF8 }
            index += step
        }
    }

    /// Reads the escape at `index`. A wrong one is reported where it begins. Returns false if U+FFFD stands for half a pair.
    private mutating func readEscape(_ source: Span<UInt8>, into content: inout ByteWriter) throws(Fault) -> Bool {
        let start = index
        guard index + 1 < source.count else { throw .unexpectedEnd }
        let letter = source[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(letter)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            let half = try readHexadecimal(source).map { (unit: $0, end: index) }
            if let half, let scalar = try readScalar(from: half.unit, of: source) {
                for unit in scalar.utf8 { content.append(unit) }
                return true
            }
            guard replacesHalfPairs, let half else {
                index = start
                throw .invalidString
            }
            index = half.end
            content.append("\u{FFFD}")
            return false
        default:
            index = start
            throw .invalidString
        }
        return true
    }

    /// The character that begins with the UTF-16 unit behind `\u`. Of half a surrogate pair, reads the other. Nil when there is none.
    private mutating func readScalar(from high: UInt32, of source: Span<UInt8>) throws(Fault) -> Unicode.Scalar? {
        guard high & 0xFC00 == 0xD800 else { return Unicode.Scalar(high) }
        for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard index < source.count else { throw .unexpectedEnd }
            guard source[index] == expected else { return nil }
            index += 1
        }
        guard let low = try readHexadecimal(source), low & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
    }

    /// Reads four hexadecimal digits. Nil when there is something else.
    private mutating func readHexadecimal(_ source: Span<UInt8>) throws(Fault) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard index < source.count else { throw .unexpectedEnd }
            guard let digit = source[index].hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
