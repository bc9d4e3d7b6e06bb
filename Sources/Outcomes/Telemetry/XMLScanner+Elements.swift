import Basics
import PushModel

extension XMLScanner {
    /// True if the name at `range` ends with `literal`, and is more than that.
    package func isName(_ range: Range<Int>, endingWith literal: StaticString) -> Bool {
        let local = localName(range)
        let start = local.upperBound - literal.utf8CodeUnitCount
        return start > local.lowerBound && holds(literal, at: start)
    }

    /// The name of the next child of an element that holds elements only, or nil at its end. Throws ``TelemetryFault`` when the
    /// element, called `parent`, holds text, or the text is not well formed.
    package mutating func child(of parent: String) throws(TelemetryFault) -> Range<Int>? {
        while true {
            switch try next() {
            case .start(let name): return name
            case .end: return nil
            case .text(let range):
                guard range.allSatisfy({ Self.isBlank(text[$0]) }) else { throw .unexpected(parent) }
            case .literal, .finished: throw .unexpected(parent)
            }
        }
    }

    /// Passes over the element whose start was read last.
    package mutating func skipElement() throws(TelemetryFault) {
        var depth = 1
        while depth > 0 {
            switch try next() {
            case .start: depth += 1
            case .end: depth -= 1
            case .text, .literal: break
            case .finished: return
            }
        }
    }

    /// The text of an element that holds nothing else, references resolved, without surrounding blanks.
    package mutating func text(of element: String, limit: Int) throws(TelemetryFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            switch try next() {
            case .end:
                while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
                let start = bytes.firstIndex { !Self.isBlank($0) } ?? 0
                if start > 0 { bytes.removeFirst(start) }
                guard bytes.count <= limit, UTF8Scalars.isWellFormed(bytes.span), bytes.allSatisfy({ $0 >= 0x20 }) else {
                    throw .unexpected(element)
                }
                return bytes
            case .text(let range): try appendCharacters(range, to: &bytes)
            case .literal(let range): for position in range { bytes.append(text[position]) }
            case .start, .finished: throw .unexpected(element)
            }
            // What surrounds the text may be blank for a while, but not for ever.
            guard bytes.count <= 4 * limit + 1024 else { throw .unexpected(element) }
        }
    }

    private func appendCharacters(_ range: Range<Int>, to bytes: inout [UInt8]) throws(TelemetryFault) {
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = text[position]
            if byte == UInt8(ascii: "&") {
                position = try appendReference(at: position, in: range, to: &bytes)
            } else {
                bytes.append(byte)
                position += 1
            }
        }
    }

    /// Resolves the reference at `start`. Gives the position behind its semicolon.
    private func appendReference(
        at start: Int, in range: Range<Int>, to bytes: inout [UInt8]
    ) throws(TelemetryFault) -> Int {
        var end = start + 1
        while end < range.upperBound, end - start <= 10, text[end] != UInt8(ascii: ";") { end += 1 }
        guard end < range.upperBound, text[end] == UInt8(ascii: ";") else { throw .malformed(offset: start) }
        let name = String(decoding: (start + 1..<end).map { text[$0] }, as: UTF8.self)
        switch name {
        case "lt": bytes.append(UInt8(ascii: "<"))
        case "gt": bytes.append(UInt8(ascii: ">"))
        case "amp": bytes.append(UInt8(ascii: "&"))
        case "quot": bytes.append(UInt8(ascii: "\""))
        case "apos": bytes.append(UInt8(ascii: "'"))
        default:
            guard name.hasPrefix("#") else { throw .malformed(offset: start) }
            let isHexadecimal = name.dropFirst().hasPrefix("x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.utf8.allSatisfy(\.isHexadecimalDigit), let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
                let scalar = Unicode.Scalar(value)
            else { throw .malformed(offset: start) }
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
        return end + 1
    }
}
