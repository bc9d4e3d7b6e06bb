internal import Basics

/// The pieces of which a text is made, none of which has others inside.
extension XMLScanner {
    /// The part of a name behind its prefix.
    package func localName(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        for position in range where text[position] == UInt8(ascii: ":") { start = position + 1 }
        return start..<range.upperBound
    }

    /// True if `literal` stands at `position`.
    package func holds(_ literal: StaticString, at position: Int) -> Bool { text.holds(literal, at: position) }

    /// True for the four blanks of XML: space, tab, line feed and carriage return.
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Passes over blanks. Returns whether there were any.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let start = index
        while index < text.count, Self.isBlank(text[index]) { index += 1 }
        return index > start
    }

    mutating func expect(_ byte: UInt8, else kind: XMLFault.Kind) throws(XMLFault) {
        guard index < text.count else { throw XMLFault(.end, at: index) }
        guard text[index] == byte else { throw XMLFault(kind, at: index) }
        index += 1
    }

    mutating func skipEquals(else kind: XMLFault.Kind) throws(XMLFault) {
        skipBlanks()
        try expect(UInt8(ascii: "="), else: kind)
        skipBlanks()
    }

    mutating func readName() throws(XMLFault) -> Range<Int> {
        let start = index
        var place = start
        while place < text.count {
            let byte = text[place]
            if byte.isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") {
                place += 1
            } else if byte < 0x80 {
                guard place > start, byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else { break }
                place += 1
            } else {
                guard let scalar = text.scalar(at: place) else { throw XMLFault(.utf8, at: place) }
                guard XMLName.begins(with: scalar.value) || place > start && XMLName.continues(with: scalar.value) else { break }
                place += scalar.byteCount
            }
        }
        guard place > start else { throw XMLFault(.name, at: start) }
        index = place
        return start..<place
    }

    /// Passes over printable ASCII up to `&`, `<` or `mark`. Gives the byte that stops it, or nil at the end of the text.
    @inline(__always) private mutating func skipPlainText(before mark: UInt8) -> UInt8? {
        var place = index
        defer { index = place }
        while place < text.count {
            let byte = text[place]
            guard byte &- 0x20 < 0x60, byte != UInt8(ascii: "&"), byte != UInt8(ascii: "<"), byte != mark else { return byte }
            place += 1
        }
        return nil
    }

    /// Passes over character data, up to the next `<`.
    mutating func skipText() throws(XMLFault) {
        while let byte = skipPlainText(before: UInt8(ascii: "]")) {
            switch byte {
            case UInt8(ascii: "<"): return
            case UInt8(ascii: "&"): try skipReference()
            case UInt8(ascii: "]"):
                if text.holds("]]>", at: index) { throw XMLFault(.sectionEnd, at: index) }
                index += 1
            default: try skipCharacter()
            }
        }
    }

    /// Passes over an attribute's value and its quotation marks.
    mutating func skipValue() throws(XMLFault) {
        guard index < text.count else { throw XMLFault(.end, at: index) }
        let quote = text[index]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw XMLFault(.attribute, at: index) }
        index += 1
        while let byte = skipPlainText(before: quote) {
            switch byte {
            case quote:
                index += 1
                return
            case UInt8(ascii: "<"): throw XMLFault(.lessThan, at: index)
            case UInt8(ascii: "&"): try skipReference()
            default: try skipCharacter()
            }
        }
        throw XMLFault(.end, at: index)
    }

    mutating func skipComment() throws(XMLFault) {
        index += 4
        while index < text.count {
            if text.holds("--", at: index) {
                index += 2
                return try expect(UInt8(ascii: ">"), else: .comment)
            }
            try skipCharacter()
        }
        throw XMLFault(.end, at: index)
    }

    /// Passes over a CDATA section. Gives the place of what is inside.
    mutating func skipSection() throws(XMLFault) -> Range<Int> {
        index += 9
        let start = index
        while index < text.count {
            if text[index] == UInt8(ascii: "]"), text.holds("]]>", at: index) {
                index += 3
                return start..<index - 3
            }
            try skipCharacter()
        }
        throw XMLFault(.end, at: index)
    }

    /// Passes over what follows the target of an instruction.
    mutating func skipContent(ofInstructionAt start: Int) throws(XMLFault) {
        guard index == text.count || Self.isBlank(text[index]) || text.holds("?>", at: index) else {
            throw XMLFault(.instruction, at: start)
        }
        while index < text.count {
            if text.holds("?>", at: index) {
                index += 2
                return
            }
            try skipCharacter()
        }
        throw XMLFault(.end, at: index)
    }

    /// Passes over the rest of a declaration, whose target was read last.
    mutating func skipDeclaration() throws(XMLFault) {
        guard let version = try readDeclared("version") else { throw XMLFault(.declaration, at: index) }
        guard text.holds("1.", at: version.lowerBound), version.count > 2, version.dropFirst(2).allSatisfy({ text[$0].isDigit })
        else {
            throw XMLFault(.declaration, at: version.lowerBound)
        }
        if let encoding = try readDeclared("encoding") {
            guard let first = encoding.first, text[first].isLetter,
                encoding.allSatisfy({ text[$0].isLetterOrDigit || Self.isMark(text[$0]) })
            else { throw XMLFault(.declaration, at: encoding.lowerBound) }
            guard leniency.contains(.anyEncoding) || isEncoding(encoding) else {
                throw XMLFault(.encoding, at: encoding.lowerBound)
            }
        }
        if let standalone = try readDeclared("standalone") {
            guard
                standalone.count == 3 && text.holds("yes", at: standalone.lowerBound)
                    || standalone.count == 2 && text.holds("no", at: standalone.lowerBound)
            else { throw XMLFault(.declaration, at: standalone.lowerBound) }
        }
        skipBlanks()
        try expect(UInt8(ascii: "?"), else: .declaration)
        try expect(UInt8(ascii: ">"), else: .declaration)
    }

    /// The place of the value that the declaration gives to `name`, or nil when it does not come next.
    private mutating func readDeclared(_ name: StaticString) throws(XMLFault) -> Range<Int>? {
        let start = index
        guard skipBlanks(), text.holds(name, at: index) else {
            index = start
            return nil
        }
        index += name.utf8CodeUnitCount
        try skipEquals(else: .declaration)
        let opening = index
        try skipValue()
        return opening + 1..<index - 1
    }

    private static func isMark(_ byte: UInt8) -> Bool { byte == 0x2D || byte == 0x2E || byte == 0x5F }

    /// True if the text has the encoding that it declares at `range`.
    private func isEncoding(_ range: Range<Int>) -> Bool {
        let name = text.extracting(range)
        if name.equalsIgnoringCase("utf-8") { return true }
        guard name.equalsIgnoringCase("us-ascii") || name.equalsIgnoringCase("ascii") else { return false }
        for place in 0..<text.count where text[place] >= 0x80 { return false }
        return true
    }
}
