import PushModel
package import XML

/// Reads telemetry, feedback and lists of hubs.
extension XMLScanner {
    /// A scanner of what a hub wrote. Its texts may hold characters that a sender gave it and XML does not have, in an encoding that is
    /// UTF-8 whatever they declare: for such a thing no telemetry is lost.
    @_lifetime(copy answer)
    package init(ofAnswer answer: Span<UInt8>, allowing leniency: Leniency = []) {
        self.init(answer, maximumDepth: 16, allowing: leniency.union([.anyEncoding, .anyCharacter]))
    }

    /// The next event. Throws ``TelemetryFault`` when the text is not well formed.
    package mutating func event() throws(TelemetryFault) -> Event {
        do throws(XMLFault) { return try next() } catch { throw TelemetryFault(error) }
    }

    /// True if the name at `range` is `literal`, with or without a prefix and a colon.
    package func isName(_ range: Range<Int>, equalTo literal: StaticString) -> Bool {
        let local = localName(range)
        return local.count == literal.utf8CodeUnitCount && holds(literal, at: local.lowerBound)
    }

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
            switch try event() {
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
            switch try event() {
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
            switch try event() {
            case .end:
                while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
                let start = bytes.firstIndex { !Self.isBlank($0) } ?? 0
                if start > 0 { bytes.removeFirst(start) }
                guard bytes.count <= limit, UTF8Scalars.isWellFormed(bytes.span), bytes.allSatisfy({ $0 >= 0x20 }) else {
                    throw .unexpected(element)
                }
                return bytes
            case .text(let range):
                do throws(XMLFault) { try append(range, to: &bytes) } catch { throw TelemetryFault(error) }
            case .literal(let range): for position in range { bytes.append(text[position]) }
            case .start, .finished: throw .unexpected(element)
            }
            // What surrounds the text may be blank for a while, but not for ever.
            guard bytes.count <= 4 * limit + 1024 else { throw .unexpected(element) }
        }
    }
}

extension TelemetryFault {
    /// The fault of a text that is not well formed.
    init(_ fault: XMLFault) {
        switch fault.kind {
        case .documentType: self = .documentType
        case .depth: self = .tooDeep
        default: self = .malformed(offset: fault.offset)
        }
    }
}
