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
        content.append(source)
        var reader = JSONReader()
        do {
            try reader.read(into: &self, from: source)
        } catch {
            let offset = error == .unexpectedEnd ? source.count : reader.index
            let pointer = pointer(over: reader.openSteps(in: self))
            removeAll()
            throw JSONError(reason: error, offset: offset, pointer: pointer)
        }
    }
}

/// Reads a text without recursion, so that no input can exhaust the stack.
///
/// Only what concerns the innermost open container is at hand; the way back to those around it stands in the tokens.
struct JSONReader {
    typealias Reason = JSONError.Reason

    /// One step of the way to a value: the key of a member, or the position of an element.
    struct Step {
        var key: JSONDocument.Node?
        var position: Int
    }

    /// Where in the text the reader stands.
    private(set) var index = 0
    /// The token of the innermost object or array whose end was not yet seen, or -1.
    private var container = -1
    private var isObject = false
    private var childCount: Int32 = 0
    /// Whether the reader stands in its last child, rather than before or behind it.
    private var isReadingChild = false
    private var depth = 0

    /// Reads all of `source` into the tokens of `document`, whose bytes are `source`'s.
    mutating func read(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        skipBlanks(source)
        guard index < source.count else { throw index == 0 ? .empty : .unexpectedEnd }
        repeat {
            try readValue(into: &document, from: source)
            try closeContainers(in: &document, from: source)
        } while container >= 0
        skipBlanks(source)
        guard index == source.count else { throw .trailingBytes }
    }

    /// The way from the root to the innermost value whose reading had begun and not ended.
    func openSteps(in document: borrowing JSONDocument) -> [Step] {
        var steps: [Step] = []
        if isReadingChild {
            // A value's token is added when it has been read, so the last one is its key.
            let key = isObject ? JSONDocument.Node(index: Int32(document.tokenCount - 1)) : nil
            steps.append(Step(key: key, position: Int(childCount) - 1))
        }
        var inner = container
        while inner >= 0, case let outer = Int(document[token: inner].next), outer >= 0 {
            let key = document[token: outer].kind == .object ? JSONDocument.Node(index: Int32(inner - 1)) : nil
            steps.append(Step(key: key, position: Int(document[token: outer].childCount) - 1))
            inner = outer
        }
        return steps.reversed()
    }

    /// Reads a scalar, or opens a container, and whatever keys stand before it.
    private mutating func readValue(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        if isObject { try readKey(into: &document, from: source) }
        skipBlanks(source)
        childCount += 1
        isReadingChild = container >= 0
        guard index < source.count else { throw .unexpectedEnd }
        let start = index
        switch source[index] {
        case UInt8(ascii: "\""): try readString(into: &document, from: source)
        case UInt8(ascii: "{"): try openContainer(.object, in: &document)
        case UInt8(ascii: "["): try openContainer(.array, in: &document)
        case UInt8(ascii: "t"): try readWord("true", .true, into: &document, from: source)
        case UInt8(ascii: "f"): try readWord("false", .false, into: &document, from: source)
        case UInt8(ascii: "n"): try readWord("null", .null, into: &document, from: source)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try readNumber(from: source)
            add(.number, start, index - start, to: &document)
        default: throw .unexpectedByte
        }
    }

    private mutating func openContainer(_ kind: JSONDocument.Kind, in document: inout JSONDocument) throws(Reason) {
        guard depth < JSONDocument.maximumDepth else { throw .nestedTooDeeply }
        if container >= 0 { document[token: container].childCount = childCount }
        let token = document.tokenCount
        document.add(.init(kind: kind, start: Int32(index), length: 0, next: Int32(container)))
        container = token
        isObject = kind == .object
        childCount = 0
        isReadingChild = false
        depth += 1
        index += 1
    }

    /// Notes the end of the innermost container, and goes back to the one around it.
    private mutating func closeContainer(in document: inout JSONDocument) {
        let closed = container
        var token = document[token: closed]
        container = Int(token.next)
        token.length = Int32(index) - token.start
        token.next = Int32(document.tokenCount)
        token.childCount = childCount
        document[token: closed] = token
        if isObject { document.noteDuplicateKeys(of: closed) }
        depth -= 1
        isObject = false
        guard container >= 0 else { return }
        let outer = document[token: container]
        isObject = outer.kind == .object
        childCount = outer.childCount
    }

    /// After a value: closes what ends here and stops at the comma before the next value.
    private mutating func closeContainers(in document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        while container >= 0 {
            isReadingChild = false
            skipBlanks(source)
            guard index < source.count else { throw .unexpectedEnd }
            let byte = source[index]
            if byte == UInt8(ascii: ","), childCount > 0 {
                index += 1
                return
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                guard childCount == 0 else { throw .unexpectedByte }
                return
            }
            index += 1
            closeContainer(in: &document)
        }
    }

    private mutating func readKey(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        skipBlanks(source)
        guard index < source.count else { throw .unexpectedEnd }
        guard source[index] == UInt8(ascii: "\"") else { throw .unexpectedByte }
        try readString(into: &document, from: source)
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
        while index < source.count, source[index] <= 0x20 {
            switch source[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private func add(_ kind: JSONDocument.Kind, _ start: Int, _ length: Int, to document: inout JSONDocument) {
        let next = Int32(document.tokenCount + 1)
        document.add(.init(kind: kind, start: Int32(start), length: Int32(length), next: next))
    }
}

extension JSONReader {
    /// Reads a string with its quotes; content with escapes is decoded to the end of the document's bytes.
    private mutating func readString(into document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        index += 1
        let start = index
        index = source.endOfPlainText(from: start)
        if index == source.count || source[index] != UInt8(ascii: "\"") {
            try skipPlainText(source)
            guard source[index] == UInt8(ascii: "\"") else { return try readEscapedString(from: start, into: &document, source) }
        }
        add(.string, start, index - start, to: &document)
        index += 1
    }

    /// Goes on to the next quotation mark or backslash, before which there is nothing that a string must not hold.
    private mutating func skipPlainText(_ source: Span<UInt8>) throws(Reason) {
        index = source.endOfPlainText(from: index)
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            guard byte >= 0x20 else { throw .invalidString }
            let step = UTF8Scalars.length(at: index, in: source)
            guard step > 0 else { throw .invalidUTF8 }
            index = source.endOfPlainText(from: index + step)
        }
        throw .unexpectedEnd
    }

    private mutating func readEscapedString(
        from start: Int, into document: inout JSONDocument, _ source: Span<UInt8>
    ) throws(Reason) {
        let decoded = document.content.count
        var plain = start
        while source[index] != UInt8(ascii: "\"") {
            document.content.append(source.extracting(plain..<index))
            try readEscape(into: &document, source)
            plain = index
            try skipPlainText(source)
        }
        document.content.append(source.extracting(plain..<index))
        add(.string, decoded, document.content.count - decoded, to: &document)
        index += 1
    }

    /// Reads the escape at `index`; a wrong one is reported where it begins.
    private mutating func readEscape(into document: inout JSONDocument, _ source: Span<UInt8>) throws(Reason) {
        let start = index
        guard index + 1 < source.count else { throw .unexpectedEnd }
        let letter = source[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): document.content.append(letter)
        case UInt8(ascii: "b"): document.content.append(0x08)
        case UInt8(ascii: "f"): document.content.append(0x0C)
        case UInt8(ascii: "n"): document.content.append(0x0A)
        case UInt8(ascii: "r"): document.content.append(0x0D)
        case UInt8(ascii: "t"): document.content.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = try readScalar(source) else {
                index = start
                throw .invalidString
            }
            for unit in scalar.utf8 { document.content.append(unit) }
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
