extension JSONDocument {
    /// Objects and arrays inside one another; deeper texts are refused.
    public static let maximumDepth = 64
    /// Bytes of one text, 16 MiB; larger ones are refused.
    public static let maximumByteCount = 16 << 20

    /// Reads one JSON text in place of what the document held.
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
        do {
            try reader.read(into: &self, from: source)
        } catch {
            throw JSONError(reason: error, offset: reader.index, pointer: pointer(toOpen: reader.open))
        }
    }

    /// The JSON Pointer of the innermost unfinished container or member.
    private func pointer(toOpen open: [JSONReader.Container]) -> String {
        var path = ""
        for container in open where container.childCount > 0 {
            let step =
                container.isObject
                ? container.lastKey.map { Self.escapeForPointer(string(text(of: Node(index: $0)))) }
                : String(container.childCount - 1)
            if let step { path += "/" + step }
        }
        return path
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
        guard index < source.count else { throw .unexpectedEnd }
        let start = index
        switch source[index] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < JSONDocument.maximumDepth else { throw .nestedTooDeeply }
            let isObject = source[index] == UInt8(ascii: "{")
            countChild()
            open.append(Container(token: document.tokens.count, isObject: isObject))
            add(isObject ? .object : .array, start, 0, to: &document)
            index += 1
        case UInt8(ascii: "\""):
            countChild()
            try readString(into: &document, from: source)
        case UInt8(ascii: "t"): try readWord("true", .true, into: &document, from: source)
        case UInt8(ascii: "f"): try readWord("false", .false, into: &document, from: source)
        case UInt8(ascii: "n"): try readWord("null", .null, into: &document, from: source)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            countChild()
            try readNumber(from: source)
            add(.number, start, index - start, to: &document)
        default: throw .unexpectedByte
        }
    }

    /// After a value: closes what ends here and stops at the comma before the next value.
    private mutating func closeContainers(in document: inout JSONDocument, from source: Span<UInt8>) throws(Reason) {
        while let container = open.last {
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
        guard index + length <= source.count else { throw .unexpectedEnd }
        let matches = word.withUTF8Buffer { letters in
            for offset in 0..<length where unsafe letters[offset] != source[index + offset] { return false }
            return true
        }
        guard matches else { throw .unexpectedByte }
        countChild()
        add(kind, index, length, to: &document)
        index += length
    }

    private mutating func readNumber(from source: Span<UInt8>) throws(Reason) {
        if source[index] == UInt8(ascii: "-") { index += 1 }
        let leading = index
        guard skipDigits(source) > 0 else { throw .invalidNumber }
        if source[leading] == UInt8(ascii: "0") && index > leading + 1 { throw .invalidNumber }
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
        if !open.isEmpty { open[open.count - 1].childCount += 1 }
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

    private mutating func readEscape(into document: inout JSONDocument, _ source: Span<UInt8>) throws(Reason) {
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
            var scalar = try readHexadecimal(source)
            if scalar & 0xFC00 == 0xD800 {
                guard index + 1 < source.count, source[index] == UInt8(ascii: "\\"), source[index + 1] == UInt8(ascii: "u")
                else { throw .invalidString }
                index += 2
                let low = try readHexadecimal(source)
                guard low & 0xFC00 == 0xDC00 else { throw .invalidString }
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + (low & 0x3FF)
            }
            guard let valid = Unicode.Scalar(scalar) else { throw .invalidString }
            document.bytes.append(contentsOf: Character(valid).utf8)
        default: throw .invalidString
        }
    }

    private mutating func readHexadecimal(_ source: Span<UInt8>) throws(Reason) -> UInt32 {
        guard index + 4 <= source.count else { throw .unexpectedEnd }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = source[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: throw .invalidString
            }
            index += 1
        }
        return value
    }
}

extension JSONError.Reason: Error {}

extension JSONDocument {
    /// How many duplicate keys are named.
    private static let maximumDuplicates = 16

    /// Looks for keys that stand twice in the object whose token is `object`: by pairs while there are few, else sorted.
    mutating func noteDuplicateKeys(of object: Int) {
        let count = Int(tokens[object].childCount)
        guard count > 1, duplicateKeys.count < Self.maximumDuplicates else { return }
        if count > 24 {
            noteDuplicateKeysSorted(of: object, count: count)
            return
        }
        var key = object + 1
        for position in 1..<count {
            key = Int(tokens[Int(tokens[key].next)].next)
            var earlier = object + 1
            for _ in 0..<position {
                if equals(text(of: Node(index: Int32(earlier))), text(of: Node(index: Int32(key)))) {
                    noteDuplicate(key)
                    break
                }
                earlier = Int(tokens[Int(tokens[earlier].next)].next)
            }
        }
    }

    private mutating func noteDuplicateKeysSorted(of object: Int, count: Int) {
        var keys: [Int] = []
        keys.reserveCapacity(count)
        var key = object + 1
        for position in 0..<count {
            keys.append(key)
            if position < count - 1 { key = Int(tokens[Int(tokens[key].next)].next) }
        }
        keys.sort { left, right in
            let order = compare(text(of: Node(index: Int32(left))), text(of: Node(index: Int32(right))))
            return order == 0 ? left < right : order < 0
        }
        for position in 1..<count
        where equals(text(of: Node(index: Int32(keys[position - 1]))), text(of: Node(index: Int32(keys[position])))) {
            noteDuplicate(keys[position])
        }
    }

    private mutating func noteDuplicate(_ key: Int) {
        if duplicateKeys.count < Self.maximumDuplicates { duplicateKeys.append(Node(index: Int32(key))) }
    }

    /// Orders by length, then bytes; negative when `left` comes first.
    private func compare(_ left: Text, _ right: Text) -> Int {
        guard left.length == right.length else { return Int(left.length - right.length) }
        for offset in 0..<Int(left.length) {
            let difference = Int(bytes[Int(left.start) + offset]) - Int(bytes[Int(right.start) + offset])
            if difference != 0 { return difference }
        }
        return 0
    }
}
