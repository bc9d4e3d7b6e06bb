import Basics

/// Steps through an XML 1.0 text (fifth edition) in UTF-8 and sees that it is well formed.
///
/// Names and character data come as places in the text, references not yet resolved. Comments and processing instructions are
/// passed over. A document type is refused, so that the five predefined entities are all there are. A prefix is part of its name,
/// and namespaces are not looked up. Nothing is allocated, and the time is proportional to the text.
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

    /// Rules that a text may break.
    package struct Leniency: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// One document may follow another, each with a declaration of its own, and there may be none.
        package static let anyNumberOfRoots = Self(rawValue: 1)
        /// A text that declares another encoding is UTF-8 all the same.
        package static let anyEncoding = Self(rawValue: 2)
        /// Character data, values and comments may hold any byte and any reference.
        package static let anyCharacter = Self(rawValue: 4)
    }

    /// The most elements inside one another, whatever is asked for.
    package static let deepest = 64
    /// The most attributes of one element, so that all of them can be compared with one another.
    package static let maximumAttributeCount = 64

    package let text: Span<UInt8>
    let leniency: Leniency
    private let maximumDepth: Int
    /// The first byte behind a byte order mark.
    private let start: Int
    var index: Int
    private var depth = 0
    /// The places of the names of the open elements, the outermost first.
    private var open = InlineArray<64, Int>(repeating: 0)
    private var attributes = InlineArray<64, Int>(repeating: 0)
    /// The number of attributes of the element whose start was read last.
    package private(set) var attributeCount = 0
    private var hasRoot = false
    private var isAtEmptyElement = false

    /// A scanner of a text that may have up to `maximumDepth` elements inside one another.
    @_lifetime(copy text)
    package init(_ text: Span<UInt8>, maximumDepth: Int = deepest, allowing leniency: Leniency = []) {
        self.text = text
        self.leniency = leniency
        self.maximumDepth = min(maximumDepth, Self.deepest)
        start = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
        index = start
    }

    /// The place of the name of the root element of a text that is well formed to its end.
    package static func root(of text: Span<UInt8>, allowing leniency: Leniency = []) throws(XMLFault) -> Range<Int> {
        var scanner = XMLScanner(text, allowing: leniency)
        var root = 0..<0
        while true {
            switch try scanner.next() {
            case .start(let name): if root.isEmpty { root = name }
            case .end, .text, .literal: break
            case .finished: return root
            }
        }
    }

    /// The beginning of the next event.
    package var position: Int { index }

    /// True if no element is open.
    package var isOutside: Bool { depth == 0 }

    /// The next event.
    package mutating func next() throws(XMLFault) -> Event {
        if isAtEmptyElement {
            isAtEmptyElement = false
            depth -= 1
            return .end
        }
        while index < text.count {
            if text[index] != UInt8(ascii: "<") {
                let begin = index
                if depth > 0 {
                    try skipText()
                    return .text(begin..<index)
                }
                guard skipBlanks() else { throw XMLFault(.outside, at: index) }
                continue
            }
            switch index + 1 < text.count ? text[index + 1] : 0 {
            case UInt8(ascii: "?"): try skipInstruction()
            case UInt8(ascii: "!"):
                if text.holds("<!--", at: index) {
                    try skipComment()
                } else if text.holds("<![CDATA[", at: index), depth > 0 {
                    return .literal(try skipSection())
                } else {
                    throw XMLFault(text.holds("<!DOCTYPE", at: index) ? .documentType : .tag, at: index)
                }
            default: return try readTag()
            }
        }
        guard depth == 0 else { throw XMLFault(.end, at: index) }
        guard hasRoot || leniency.contains(.anyNumberOfRoots) else { throw XMLFault(.root, at: index) }
        return .finished
    }

    /// The places of the name and the value of an attribute of the element whose start was read last. The first one is 0.
    package func attribute(_ number: Int) -> (name: Range<Int>, value: Range<Int>) {
        let begin = attributes[number]
        var end = begin
        while text[end] != UInt8(ascii: "="), !Self.isBlank(text[end]) { end += 1 }
        var opening = end
        while text[opening] != UInt8(ascii: "\""), text[opening] != UInt8(ascii: "'") { opening += 1 }
        var closing = opening + 1
        while text[closing] != text[opening] { closing += 1 }
        return (begin..<end, opening + 1..<closing)
    }

    private mutating func readTag() throws(XMLFault) -> Event {
        index += 1
        let isClosing = index < text.count && text[index] == UInt8(ascii: "/")
        if isClosing { index += 1 }
        let name = try readName()
        if isClosing {
            skipBlanks()
            try expect(UInt8(ascii: ">"), else: .tag)
            guard depth > 0, text.isName(name, alsoAt: open[depth - 1]) else { throw XMLFault(.closingTag, at: name.lowerBound) }
            depth -= 1
            return .end
        }
        guard depth > 0 || !hasRoot || leniency.contains(.anyNumberOfRoots) else {
            throw XMLFault(.secondRoot, at: name.lowerBound)
        }
        guard depth < maximumDepth else { throw XMLFault(.depth, at: name.lowerBound) }
        isAtEmptyElement = try readAttributes()
        open[depth] = name.lowerBound
        depth += 1
        hasRoot = true
        return .start(name: name)
    }

    /// Reads the attributes and the end of a start tag. Returns whether the element is empty.
    private mutating func readAttributes() throws(XMLFault) -> Bool {
        attributeCount = 0
        while index < text.count {
            let isSeparated = skipBlanks()
            guard index < text.count else { break }
            if text[index] == UInt8(ascii: ">") {
                index += 1
                return false
            }
            if text[index] == UInt8(ascii: "/") {
                index += 1
                try expect(UInt8(ascii: ">"), else: .tag)
                return true
            }
            guard isSeparated else { throw XMLFault(.tag, at: index) }
            try readAttribute()
        }
        throw XMLFault(.end, at: index)
    }

    private mutating func readAttribute() throws(XMLFault) {
        let name = try readName()
        try skipEquals(else: .attribute)
        try skipValue()
        for number in 0..<attributeCount where text.isName(name, alsoAt: attributes[number]) {
            throw XMLFault(.secondAttribute, at: name.lowerBound)
        }
        guard attributeCount < Self.maximumAttributeCount else { throw XMLFault(.attributeCount, at: name.lowerBound) }
        attributes[attributeCount] = name.lowerBound
        attributeCount += 1
    }

    /// Passes over an instruction, or over the declaration with which a document begins.
    private mutating func skipInstruction() throws(XMLFault) {
        let begin = index
        index += 2
        let name = try readName()
        guard text.extracting(name).equalsIgnoringCase("xml") else { return try skipContent(ofInstructionAt: begin) }
        guard text.holds("xml", at: name.lowerBound) else { throw XMLFault(.instruction, at: begin) }
        guard begin == start || leniency.contains(.anyNumberOfRoots) && depth == 0 else {
            throw XMLFault(.lateDeclaration, at: begin)
        }
        try skipDeclaration()
    }
}
