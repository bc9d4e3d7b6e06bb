import PushModel

/// Steps through an XML 1.0 text in UTF-8 and sees that tags are well formed and close what was opened.
///
/// Names and character data come as places in the text, references not yet resolved. Comments and processing instructions are
/// passed over; a document type is refused, so that the five predefined entities are all there are.
package struct XMLScanner: ~Escapable {
    package enum Event: Equatable {
        /// A start tag. An empty element is followed by its end at once.
        case start(name: Range<Int>)
        case end
        /// Character data, in which references stand for characters.
        case text(Range<Int>)
        /// The inside of a CDATA section, in which nothing does.
        case literal(Range<Int>)
        /// The text is over, and whole.
        case finished
    }

    /// Elements inside one another.
    static let maximumDepth = 16

    let text: Span<UInt8>
    private var index = 0
    /// The names of the open elements, the outermost first.
    private var open: [Range<Int>] = []
    private var hasRoot = false
    private let allowsSeveralRoots: Bool
    private var isAtEmptyElement = false

    /// - Parameters:
    ///   - text: The XML.
    ///   - allowsSeveralRoots: Whether one document may follow another.
    @_lifetime(copy text) package init(_ text: Span<UInt8>, allowsSeveralRoots: Bool = false) {
        self.text = text
        self.allowsSeveralRoots = allowsSeveralRoots
        if holds("\u{FEFF}", at: 0) { index = 3 }
    }

    /// The beginning of the next event.
    var position: Int { index }

    /// True if no element is open.
    var isOutside: Bool { open.isEmpty }

    /// The next event.
    package mutating func next() throws(TelemetryFault) -> Event {
        if isAtEmptyElement {
            isAtEmptyElement = false
            open.removeLast()
            return .end
        }
        while index < text.count {
            if text[index] != UInt8(ascii: "<") {
                let range = characters()
                if !open.isEmpty { return .text(range) }
                guard range.allSatisfy({ Self.isBlank(text[$0]) }) else { throw .malformed(offset: range.lowerBound) }
            } else if holds("<!--", at: index) {
                _ = try skip(behind: "-->", from: index + 4)
            } else if holds("<?", at: index) {
                _ = try skip(behind: "?>", from: index + 2)
            } else if holds("<![CDATA[", at: index), !open.isEmpty {
                return .literal(try skip(behind: "]]>", from: index + 9))
            } else if holds("<!", at: index) {
                throw .documentType
            } else {
                return try tag()
            }
        }
        guard hasRoot || allowsSeveralRoots, open.isEmpty else { throw .malformed(offset: index) }
        return .finished
    }

    /// True if the name at `range` is `literal`, with or without a prefix and a colon.
    package func isName(_ range: Range<Int>, equalTo literal: StaticString) -> Bool {
        let local = localName(range)
        return local.count == literal.utf8CodeUnitCount && holds(literal, at: local.lowerBound)
    }

    /// The part of a name behind its prefix.
    func localName(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        for position in range where text[position] == UInt8(ascii: ":") { start = position + 1 }
        return start..<range.upperBound
    }

    /// True if `literal` stands at `position`.
    func holds(_ literal: StaticString, at position: Int) -> Bool {
        guard text.count - position >= literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            for offset in 0..<expected.count where unsafe text[position + offset] != expected[offset] { return false }
            return true
        }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private mutating func characters() -> Range<Int> {
        let start = index
        while index < text.count, text[index] != UInt8(ascii: "<") { index += 1 }
        return start..<index
    }

    /// Goes behind the next `mark`. Gives what stands before it.
    private mutating func skip(behind mark: StaticString, from start: Int) throws(TelemetryFault) -> Range<Int> {
        var end = start
        while end < text.count {
            if holds(mark, at: end) {
                index = end + mark.utf8CodeUnitCount
                return start..<end
            }
            end += 1
        }
        throw .malformed(offset: text.count)
    }

    private mutating func tag() throws(TelemetryFault) -> Event {
        index += 1
        let isClosing = index < text.count && text[index] == UInt8(ascii: "/")
        if isClosing { index += 1 }
        let name = try name()
        if isClosing {
            skipBlanks()
            try expect(UInt8(ascii: ">"))
            guard let opened = open.popLast(), isSame(opened, as: name) else { throw .malformed(offset: name.lowerBound) }
            return .end
        }
        guard allowsSeveralRoots || !hasRoot || !open.isEmpty else { throw .malformed(offset: name.lowerBound) }
        guard open.count < Self.maximumDepth else { throw .tooDeep }
        isAtEmptyElement = try attributes()
        open.append(name)
        hasRoot = true
        return .start(name: name)
    }

    /// Passes over the attributes and the end of a start tag. Returns whether the element is empty.
    private mutating func attributes() throws(TelemetryFault) -> Bool {
        while index < text.count {
            let isSeparated = skipBlanks()
            guard index < text.count else { break }
            if text[index] == UInt8(ascii: ">") {
                index += 1
                return false
            }
            if text[index] == UInt8(ascii: "/") {
                index += 1
                try expect(UInt8(ascii: ">"))
                return true
            }
            guard isSeparated else { throw .malformed(offset: index) }
            _ = try name()
            skipBlanks()
            try expect(UInt8(ascii: "="))
            skipBlanks()
            guard index < text.count, text[index] == UInt8(ascii: "\"") || text[index] == UInt8(ascii: "'") else { break }
            let quote = text[index]
            index += 1
            while index < text.count, text[index] != quote, text[index] != UInt8(ascii: "<") { index += 1 }
            try expect(quote)
        }
        throw .malformed(offset: index)
    }

    private mutating func name() throws(TelemetryFault) -> Range<Int> {
        let start = index
        while index < text.count, Self.isNameByte(text[index]) { index += 1 }
        guard index > start, text[start] | 0x20 >= UInt8(ascii: "a") || text[start] == UInt8(ascii: "_") else {
            throw .malformed(offset: start)
        }
        return start..<index
    }

    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let start = index
        while index < text.count, Self.isBlank(text[index]) { index += 1 }
        return index > start
    }

    private mutating func expect(_ byte: UInt8) throws(TelemetryFault) {
        guard index < text.count, text[index] == byte else { throw .malformed(offset: index) }
        index += 1
    }

    private func isSame(_ left: Range<Int>, as right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        for offset in 0..<left.count where text[left.lowerBound + offset] != text[right.lowerBound + offset] { return false }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
        default: false
        }
    }
}
