/// Reads a text without recursion, so that no input can exhaust the stack.
///
/// Local state covers only the innermost open container. Tokens link to the outer ones. They are lent as a span, which saves a check
/// of ownership for each. The small steps are always in line: in a text of three hundred bytes, to call them cost as much as what
/// they do.
struct JSONReader {
    typealias Fault = JSONError.Fault
    typealias Token = JSONDocument.Token

    /// One step of the way to a value: the key of a member, or the position of an element.
    struct Step {
        var key: JSONDocument.Node?
        var position: Int
    }

    /// The reader's place in the text.
    var index = 0
    /// The tokens written.
    private var tokenCount = 0
    /// The token of the innermost object or array whose end was not yet seen, or -1.
    private var container = -1
    private var isObject = false
    private var childCount: Int32 = 0
    /// True if the reader stands in its last child, rather than before or behind it.
    private var isReadingChild = false
    private var depth = 0
    /// The objects in which a key may stand twice, in the order in which they end.
    private(set) var objectsToSearch: [Int] = []
    /// True to read half a surrogate pair as U+FFFD.
    let replacesHalfPairs: Bool
    /// True if that was done.
    private(set) var hasIllFormedText = false
    private(set) var hasNull = false

    init(replacesHalfPairs: Bool = false) {
        self.replacesHalfPairs = replacesHalfPairs
    }

    /// Reads `source`, the same in each call, or goes on where there was no room for more. `content` holds it too, and takes the
    /// strings that have to be decoded. Returns false if there is no room for another value and its key. Throws the first fault,
    /// at `index`.
    mutating func read(
        _ source: Span<UInt8>, into tokens: inout MutableSpan<Token>, decoding content: inout ByteWriter
    ) throws(Fault) -> Bool {
        if tokenCount == 0 {
            skipBlanks(source)
            guard index < source.count else { throw index == 0 ? .empty : .unexpectedEnd }
        }
        repeat {
            guard tokenCount + 2 <= tokens.count else { return false }
            try readValue(source, into: &tokens, content: &content)
            try closeContainers(source, in: &tokens, content: content)
        } while container >= 0
        skipBlanks(source)
        guard index == source.count else { throw .trailingBytes }
        return true
    }

    /// The way from the root to the innermost value whose reading had begun and not ended.
    func openSteps(in document: borrowing JSONDocument) -> [Step] {
        var steps: [Step] = []
        if isReadingChild {
            // A value's token is added when it has been read, so the last one is its key.
            let key = isObject ? JSONDocument.Node(index: Int32(tokenCount - 1)) : nil
            steps.append(Step(key: key, position: Int(childCount) - 1))
        }
        var inner = container
        while inner >= 0, case let outer = Int(document.tokens[inner].next), outer >= 0 {
            let key = document.tokens[outer].kind == .object ? JSONDocument.Node(index: Int32(inner - 1)) : nil
            steps.append(Step(key: key, position: Int(document.tokens[outer].childCount) - 1))
            inner = outer
        }
        return steps.reversed()
    }

    /// Adds the token of a value that has been read.
    @inline(__always) mutating func add(
        _ kind: JSONDocument.Kind, at start: Int, length: Int, to tokens: inout MutableSpan<Token>
    ) {
        tokens[tokenCount] = Token(
            kind: kind, start: Int32(truncatingIfNeeded: start), length: Int32(truncatingIfNeeded: length),
            next: Int32(truncatingIfNeeded: tokenCount + 1))
        tokenCount += 1
    }

    /// Marks the string that was added last.
    mutating func noteIllFormedText(in tokens: inout MutableSpan<Token>) {
        tokens[tokenCount - 1].isIllFormed = true
        hasIllFormedText = true
    }
}

extension JSONReader {
    /// Reads a scalar, or opens a container, and whatever keys stand before it.
    @inline(__always) private mutating func readValue(
        _ source: Span<UInt8>, into tokens: inout MutableSpan<Token>, content: inout ByteWriter
    ) throws(Fault) {
        if isObject { try readKey(source, into: &tokens, content: &content) }
        skipBlanks(source)
        childCount += 1
        isReadingChild = container >= 0
        guard index < source.count else { throw .unexpectedEnd }
        switch source[index] {
        case UInt8(ascii: "\""): try readString(source, into: &tokens, content: &content)
        case UInt8(ascii: "{"): try openContainer(.object, in: &tokens)
        case UInt8(ascii: "["): try openContainer(.array, in: &tokens)
        case UInt8(ascii: "t"): try readWord("true", as: .true, from: source, into: &tokens)
        case UInt8(ascii: "f"): try readWord("false", as: .false, from: source, into: &tokens)
        case UInt8(ascii: "n"):
            hasNull = true
            try readWord("null", as: .null, from: source, into: &tokens)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber(source, into: &tokens)
        default: throw .unexpectedByte
        }
    }

    @inline(__always) private mutating func readKey(
        _ source: Span<UInt8>, into tokens: inout MutableSpan<Token>, content: inout ByteWriter
    ) throws(Fault) {
        skipBlanks(source)
        guard index < source.count else { throw .unexpectedEnd }
        guard source[index] == UInt8(ascii: "\"") else { throw .unexpectedByte }
        try readString(source, into: &tokens, content: &content)
        skipBlanks(source)
        guard index < source.count else { throw .unexpectedEnd }
        guard source[index] == UInt8(ascii: ":") else { throw .unexpectedByte }
        index += 1
    }

    private mutating func openContainer(_ kind: JSONDocument.Kind, in tokens: inout MutableSpan<Token>) throws(Fault) {
        guard depth < JSONDocument.maximumDepth else { throw .nestedTooDeeply }
        if container >= 0 { tokens[container].childCount = childCount }
        let opened = tokenCount
        add(kind, at: index, length: 0, to: &tokens)
        tokens[opened].next = Int32(container)
        container = opened
        isObject = kind == .object
        childCount = 0
        isReadingChild = false
        depth += 1
        index += 1
    }

    /// After a value: closes what ends here and stops at the comma before the next value.
    @inline(__always) private mutating func closeContainers(
        _ source: Span<UInt8>, in tokens: inout MutableSpan<Token>, content: borrowing ByteWriter
    ) throws(Fault) {
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
            closeContainer(&tokens, content: content)
        }
    }

    /// Notes the end of the innermost container, and goes back to the one around it.
    private mutating func closeContainer(_ tokens: inout MutableSpan<Token>, content: borrowing ByteWriter) {
        let closed = container
        container = Int(tokens[closed].next)
        tokens[closed].length = Int32(index) - tokens[closed].start
        tokens[closed].next = Int32(tokenCount)
        tokens[closed].childCount = childCount
        if isObject && childCount > 1 && hasAlikeKeys(closed, in: tokens, bytes: content.span) { objectsToSearch.append(closed) }
        depth -= 1
        isObject = container >= 0 && tokens[container].kind == .object
        childCount = container >= 0 ? tokens[container].childCount : 0
    }

    /// True if two keys of an object agree in length, first and last byte, as equal ones do, or seem to. Most objects have none,
    /// and 64 bits tell most others apart.
    private func hasAlikeKeys(_ object: Int, in tokens: borrowing MutableSpan<Token>, bytes: Span<UInt8>) -> Bool {
        var seen: UInt64 = 0
        var key = object + 1
        for _ in 0..<childCount {
            let (start, length) = (Int(tokens[key].start), Int(tokens[key].length))
            let ends = length > 0 ? 3 &* Int(bytes[start]) &+ Int(bytes[start + length - 1]) : 0
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ends &+ 7 &* length)
            if seen & bit != 0 { return true }
            seen |= bit
            let value = Int(tokens[key].next)
            key = Int(tokens[value].next)
        }
        return false
    }

    @inline(__always) private mutating func skipBlanks(_ source: Span<UInt8>) {
        while index < source.count, source[index] <= 0x20 {
            switch source[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func readWord(
        _ word: StaticString, as kind: JSONDocument.Kind, from source: Span<UInt8>, into tokens: inout MutableSpan<Token>
    ) throws(Fault) {
        let length = word.utf8CodeUnitCount
        let available = min(length, source.count - index)
        let matches = word.withUTF8Buffer { letters in
            for offset in 0..<available where unsafe letters[offset] != source[index + offset] { return false }
            return true
        }
        guard matches else { throw .unexpectedByte }
        guard available == length else { throw .unexpectedEnd }
        add(kind, at: index, length: length, to: &tokens)
        index += length
    }

    private mutating func readNumber(_ source: Span<UInt8>, into tokens: inout MutableSpan<Token>) throws(Fault) {
        let start = index
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
        add(.number, at: start, length: index - start, to: &tokens)
    }

    @inline(__always) private mutating func skipDigits(_ source: Span<UInt8>) -> Int {
        let start = index
        while index < source.count && source[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - start
    }
}
