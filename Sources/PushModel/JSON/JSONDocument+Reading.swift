extension JSONDocument {
    /// Objects and arrays inside one another; deeper texts are refused.
    public static let maximumDepth = 64
    /// Bytes of one text, 16 MiB; larger ones are refused.
    public static let maximumByteCount = 16 << 20

    /// Reads one JSON text in place of what the document held; after an error it holds nothing.
    ///
    /// - Parameter source: The text, UTF-8 without a byte order mark.
    /// - Throws: `JSONError` naming the reason, the byte and the JSON Pointer of the first fault.
    public mutating func read(_ source: Span<UInt8>) throws(JSONError) {
        removeAll()
        guard source.count <= Self.maximumByteCount else {
            throw JSONError(reason: .tooLarge, offset: Self.maximumByteCount, pointer: "")
        }
        unsafe source.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        var reader = JSONReader()
        swap(&reader.open, &openContainers)
        defer {
            reader.open.removeAll(keepingCapacity: true)
            swap(&reader.open, &openContainers)
        }
        do {
            try reader.read(into: &self, from: source)
        } catch {
            let offset = error == .unexpectedEnd ? source.count : reader.index
            let pointer = pointer(toOpen: reader.open)
            removeAll()
            throw JSONError(reason: error, offset: offset, pointer: pointer)
        }
    }
}

/// Reads a text without recursion, so that no input can exhaust the stack.
struct JSONReader {
    typealias Reason = JSONError.Reason

    /// An object or array whose end was not yet seen.
    struct Container {
        var token: Int
        var isObject: Bool
        var childCount: Int32 = 0
        var lastKey: Int32?
        /// Whether the reader stands in the last child, rather than before or behind it.
        var isReadingChild = false
    }

    var index = 0
    var open: [Container] = []

    /// Reads all of `source` into the tokens of `document`, whose bytes are `source`'s.
    mutating func read(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        skipBlanks(source)
        guard index < source.count else { throw index == 0 ? .empty : .unexpectedEnd }
        repeat {
            try readValue(into: &document, from: source)
            try closeContainers(in: &document, from: source)
        } while !open.isEmpty
        skipBlanks(source)
        guard index == source.count else { throw .trailingBytes }
    }

    /// Reads a scalar, or opens a container, and whatever keys stand before it.
    private mutating func readValue(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        if let container = open.last, container.isObject { try readKey(into: &document, from: source) }
        skipBlanks(source)
        countChild()
        guard index < source.count else { throw .unexpectedEnd }
        let start = index
        switch source[index] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < JSONDocument.maximumDepth else { throw .nestedTooDeeply }
            let isObject = source[index] == UInt8(ascii: "{")
            open.append(Container(token: document.tokens.count, isObject: isObject))
            add(isObject ? .object : .array, start, 0, to: &document)
            index += 1
        case UInt8(ascii: "\""): try readString(into: &document, from: source)
        case UInt8(ascii: "t"): try readWord("true", .true, into: &document, from: source)
        case UInt8(ascii: "f"): try readWord("false", .false, into: &document, from: source)
        case UInt8(ascii: "n"): try readWord("null", .null, into: &document, from: source)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try readNumber(from: source)
            add(.number, start, index - start, to: &document)
        default: throw .unexpectedByte
        }
    }

    /// After a value: closes what ends here and stops at the comma before the next value.
    private mutating func closeContainers(in document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        while let container = open.last {
            open[open.count - 1].isReadingChild = false
            skipBlanks(source)
            guard index < source.count else { throw .unexpectedEnd }
            let isFresh = container.childCount == 0
            switch source[index] {
            case container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
                index += 1
                document.tokens[container.token].length = Int32(index) - document.tokens[container.token].start
                document.tokens[container.token].next = Int32(document.tokens.count)
                document.tokens[container.token].childCount = container.childCount
                if container.isObject { document.noteDuplicateKeys(of: container.token) }
                open.removeLast()
            case UInt8(ascii: ",") where !isFresh:
                index += 1
                return
            default:
                guard isFresh else { throw .unexpectedByte }
                return
            }
        }
    }

    private mutating func readKey(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        skipBlanks(source)
        guard index < source.count else { throw .unexpectedEnd }
        guard source[index] == UInt8(ascii: "\"") else { throw .unexpectedByte }
        let key = Int32(document.tokens.count)
        try readString(into: &document, from: source)
        open[open.count - 1].lastKey = key
        skipBlanks(source)
        guard index < source.count else { throw .unexpectedEnd }
        guard source[index] == UInt8(ascii: ":") else { throw .unexpectedByte }
        index += 1
    }

    private mutating func readWord(
        _ word: StaticString, _ kind: JSONDocument.Kind, into document: inout JSONDocument, from source: Span<UInt8>
    ) throws(Reason) {
        let length = word.utf8CodeUnitCount
        let available = min(length, source.count - index)
        let matches = word.withUTF8Buffer { letters in
            for offset in 0..<available where unsafe letters[offset] != source[index + offset] { return false }
            return true
        }
        guard matches else { throw .unexpectedByte }
        guard available == length else { throw .unexpectedEnd }
        add(kind, index, length, to: &document)
        index += length
    }

    private mutating func readNumber(from source: Span<UInt8>) throws(Reason) {
        if source[index] == UInt8(ascii: "-") { index += 1 }
        let leading = index
        guard skipDigits(source) > 0 else { throw .invalidNumber }
        if source[leading] == UInt8(ascii: "0") && index > leading + 1 {
            index = leading + 1
            throw .invalidNumber
        }
        if index < source.count && source[index] == UInt8(ascii: ".") {
            index += 1
            guard skipDigits(source) > 0 else { throw .invalidNumber }
        }
        if index < source.count && source[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < source.count && (source[index] == UInt8(ascii: "+") || source[index] == UInt8(ascii: "-")) { index += 1 }
            guard skipDigits(source) > 0 else { throw .invalidNumber }
        }
    }

    private mutating func skipDigits(_ source: Span<UInt8>) -> Int {
        let start = index
        while index < source.count && source[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - start
    }

    private mutating func skipBlanks(_ source: Span<UInt8>) {
        while index < source.count {
            switch source[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func countChild() {
        guard !open.isEmpty else { return }
        open[open.count - 1].childCount += 1
        open[open.count - 1].isReadingChild = true
    }

    private func add(_ kind: JSONDocument.Kind, _ start: Int, _ length: Int, to document: inout JSONDocument) {
        let next = Int32(document.tokens.count + 1)
        document.tokens.append(.init(kind: kind, start: Int32(start), length: Int32(length), next: next))
    }
}

extension JSONReader {
    /// Reads a string with its quotes; content with escapes is decoded to the end of the document's bytes.
    private mutating func readString(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        index += 1
        let start = index
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "\"") {
                add(.string, start, index - start, to: &document)
                index += 1
                return
            }
            if byte == UInt8(ascii: "\\") {
                try readEscapedString(from: start, into: &document, source)
                return
            }
            try skipPlain(byte, source)
        }
        throw .unexpectedEnd
    }

    private mutating func skipPlain(_ byte: UInt8, _ source: Span<UInt8>) throws(Reason) {
        if byte < 0x80 {
            guard byte >= 0x20 else { throw .invalidString }
            index += 1
        } else {
            let step = UTF8Scalars.length(at: index, in: source)
            guard step > 0 else { throw .invalidUTF8 }
            index += step
        }
    }

    private mutating func readEscapedString(
        from start: Int, into document: inout JSONDocument, _ source: Span<UInt8>
    ) throws(Reason) {
        let decoded = document.bytes.count
        var plain = start
        while index < source.count {
            let byte = source[index]
            guard byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") else {
                try skipPlain(byte, source)
                continue
            }
            _ = document.add(source.extracting(plain..<index))
            if byte == UInt8(ascii: "\"") {
                add(.string, decoded, document.bytes.count - decoded, to: &document)
                index += 1
                return
            }
            try readEscape(into: &document, source)
            plain = index
        }
        throw .unexpectedEnd
    }

    /// Reads the escape at `index`; a wrong one is reported where it begins.
    private mutating func readEscape(into document: inout JSONDocument, _ source: Span<UInt8>) throws(Reason) {
        let start = index
        guard index + 1 < source.count else { throw .unexpectedEnd }
        let letter = source[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): document.bytes.append(letter)
        case UInt8(ascii: "b"): document.bytes.append(0x08)
        case UInt8(ascii: "f"): document.bytes.append(0x0C)
        case UInt8(ascii: "n"): document.bytes.append(0x0A)
        case UInt8(ascii: "r"): document.bytes.append(0x0D)
        case UInt8(ascii: "t"): document.bytes.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = try readScalar(source) else {
                index = start
                throw .invalidString
            }
            document.bytes.append(contentsOf: scalar.utf8)
        default:
            index = start
            throw .invalidString
        }
    }

    /// Reads the digits behind `\u`, with a second escape behind half a surrogate pair; nil when they are no character.
    private mutating func readScalar(_ source: Span<UInt8>) throws(Reason) -> Unicode.Scalar? {
        guard let high = try readHexadecimal(source) else { return nil }
        guard high & 0xFC00 == 0xD800 else { return Unicode.Scalar(high) }
        for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard index < source.count else { throw .unexpectedEnd }
            guard source[index] == expected else { return nil }
            index += 1
        }
        guard let low = try readHexadecimal(source), low & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
    }

    /// Reads four hexadecimal digits; nil when there is something else.
    private mutating func readHexadecimal(_ source: Span<UInt8>) throws(Reason) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard index < source.count else { throw .unexpectedEnd }
            let byte = source[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
            index += 1
        }
        return value
    }
}

extension JSONError.Reason: Error {}
