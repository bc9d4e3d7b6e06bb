internal import Basics
internal import PushModel

extension XMLScanner {
    /// Appends the characters at `range`, a place that an event or an attribute gave. References are resolved unless it `isLiteral`,
    /// and line ends are line feeds (XML 1.0, 2.11). Throws only for a reference that ``Leniency/anyCharacter`` let pass.
    package func append(_ range: Range<Int>, isLiteral: Bool = false, to bytes: inout [UInt8]) throws(XMLFault) {
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = text[place]
            if byte == UInt8(ascii: "&"), !isLiteral {
                guard let reference = text.reference(at: place, isAnyAllowed: leniency.contains(.anyCharacter)),
                    reference.end <= range.upperBound
                else {
                    throw XMLFault(.reference, at: place)
                }
                bytes.append(contentsOf: UTF8.encode(reference.scalar) ?? UTF8.encodedReplacementCharacter)
                place = reference.end
            } else if byte == 0x0D {
                if place + 1 == range.upperBound || text[place + 1] != 0x0A { bytes.append(0x0A) }
                place += 1
            } else {
                bytes.append(byte)
                place += 1
            }
        }
    }

    /// Passes over one character of XML, whichever it is.
    mutating func skipCharacter() throws(XMLFault) {
        let byte = text[index]
        if leniency.contains(.anyCharacter) || byte >= 0x20 && byte < 0x80 || Self.isBlank(byte) {
            index += 1
            return
        }
        guard let scalar = text.scalar(at: index) else { throw XMLFault(.utf8, at: index) }
        guard XMLName.isCharacter(scalar.value) else { throw XMLFault(.character, at: index) }
        index += scalar.byteCount
    }

    /// Passes over the reference that an `&` begins.
    mutating func skipReference() throws(XMLFault) {
        if leniency.contains(.anyCharacter) {
            index += 1
        } else if let reference = text.reference(at: index, isAnyAllowed: false) {
            index = reference.end
        } else {
            throw XMLFault(text.isNamedReference(at: index) ? .reference : .ampersand, at: index)
        }
    }

}
