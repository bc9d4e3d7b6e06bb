internal import Basics

/// Finds the root element of an XML text and sees that what is opened is closed.
///
/// It is no parser: names of closing tags, entities and namespaces are the hub's to judge. It takes no document type, which no
/// notification has.
enum XMLOutline {
    /// The place of the root's name, or nil when the text has not exactly one root whose elements are all closed.
    static func rootName(of text: Span<UInt8>) -> Range<Int>? {
        var index = text.starts(with: "\u{FEFF}") ? 3 : 0
        var depth = 0
        var root: Range<Int>?
        while index < text.count {
            guard text[index] == UInt8(ascii: "<") else {
                if depth == 0 && !isBlank(text[index]) { return nil }
                index += 1
                continue
            }
            if let skipped = endOfNonElement(at: index, in: text, isInside: depth > 0) {
                index = skipped
                continue
            }
            guard let tag = Tag(at: index, in: text) else { return nil }
            if depth == 0 {
                if root != nil || tag.kind == .closing { return nil }
                root = tag.name
            }
            switch tag.kind {
            case .opening: depth += 1
            case .closing: depth -= 1
            case .empty: break
            }
            index = tag.end
        }
        return depth == 0 ? root : nil
    }

    /// The end of a comment, a processing instruction or a CDATA section, or nil when none that ends stands at `index`.
    private static func endOfNonElement(at index: Int, in text: Span<UInt8>, isInside: Bool) -> Int? {
        if text.starts(with: "<!--", at: index) { return end(of: "-->", from: index + 4, in: text) }
        if text.starts(with: "<?", at: index) { return end(of: "?>", from: index + 2, in: text) }
        if isInside && text.starts(with: "<![CDATA[", at: index) { return end(of: "]]>", from: index + 9, in: text) }
        return nil
    }

    private static func end(of mark: StaticString, from start: Int, in text: Span<UInt8>) -> Int? {
        var index = start
        while index < text.count {
            if text.starts(with: mark, at: index) { return index + mark.utf8CodeUnitCount }
            index += 1
        }
        return nil
    }

    fileprivate static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/// One tag, from its `<` to its `>`.
private struct Tag {
    enum Kind {
        case opening, closing, empty
    }

    let kind: Kind
    let name: Range<Int>
    /// The index behind the `>`.
    let end: Int

    init?(at start: Int, in text: Span<UInt8>) {
        var index = start + 1
        let isClosing = index < text.count && text[index] == UInt8(ascii: "/")
        if isClosing { index += 1 }
        let nameStart = index
        while index < text.count, Self.isNameByte(text[index]) { index += 1 }
        guard index > nameStart, !Self.isDigitOrSign(text[nameStart]) else { return nil }
        name = nameStart..<index
        guard let close = Self.closingBracket(from: index, in: text) else { return nil }
        let isEmpty = text[close - 1] == UInt8(ascii: "/") && close - 1 >= index
        if isClosing && isEmpty { return nil }
        kind = isClosing ? .closing : isEmpty ? .empty : .opening
        end = close + 1
    }

    /// The `>` that ends the tag. One inside an attribute's quotes does not.
    private static func closingBracket(from start: Int, in text: Span<UInt8>) -> Int? {
        var quote: UInt8?
        for index in start..<text.count {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
            if byte == UInt8(ascii: "<") { return nil }
        }
        return nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte >= 0x80 || isDigitOrSign(byte)
    }

    private static func isDigitOrSign(_ byte: UInt8) -> Bool {
        byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
