import Basics

/// Looks at the first members of a record, to pass over what a filter does not want without reading all of it.
///
/// Results begin with their plain members: ids, hub, kind, state, outcome. Of a million results most are distinguished by them, at
/// about a tenth of what reading costs. It only ever rules out what reading would rule out too, and leaves every doubt to that.
struct ResultGlance: Sendable {
    private struct Probe: Sendable {
        let name: StaticString
        let term: ResultFilter.Term
    }

    private let probes: [Probe]

    /// Looks out for the terms about texts that are members of the record itself.
    init(_ filter: ResultFilter) {
        let probes = filter.terms.compactMap { term -> Probe? in
            guard case .field(let field) = term.subject, field.values != .number, field.values != .duration,
                field.places.count == 1, case .member(let member) = field.places[0]
            else { return nil }
            return Probe(name: member.name, term: term)
        }
        self.probes = Array(probes.prefix(UInt64.bitWidth))
    }

    /// True if the record cannot match: one of its members does not, or it is no JSON.
    func rulesOut(_ json: Span<UInt8>) -> Bool {
        var members = PlainMembers()
        var seen: UInt64 = 0
        var openCount = probes.count
        while openCount > 0, let member = members.next(in: json) {
            let name = json.extracting(member.name)
            for index in probes.indices where name.count == probes[index].name.utf8CodeUnitCount && name.holds(probes[index].name)
            {
                // Of members with one name the first counts.
                guard seen & 1 << UInt64(index) == 0 else { continue }
                guard member.isText else { return false }
                let term = probes[index].term
                // A part's id is that of the whole with a number, whose result has more to ask.
                let isPart = term.includesParts && json.extracting(member.value).hasNumber
                if !isPart, term.accepts(json.extracting(member.value)) == term.isNegated { return true }
                seen |= 1 << UInt64(index)
                openCount -= 1
            }
        }
        return false
    }
}

/// The members at the beginning of an object, one after another, up to the first that is not plain: a container, or text with an escape.
private struct PlainMembers {
    struct Member {
        let name: Range<Int>
        let value: Range<Int>
        let isText: Bool
    }

    private var index = 0
    private var isInside = false

    mutating func next(in json: Span<UInt8>) -> Member? {
        guard json.skip(isInside ? UInt8(ascii: ",") : UInt8(ascii: "{"), at: &index) else { return nil }
        isInside = true
        guard let name = text(in: json), json.skip(UInt8(ascii: ":"), at: &index) else { return nil }
        if let value = text(in: json) { return Member(name: name, value: value, isText: true) }
        let start = index
        while index < json.count, Self.isPartOfNumberOrWord(json[index]) { index += 1 }
        return index > start ? Member(name: name, value: start..<index, isText: false) : nil
    }

    /// The range of a string's content, behind which reading goes on, or nil when there is no string, or one that is not plain.
    private mutating func text(in json: Span<UInt8>) -> Range<Int>? {
        json.skipBlanks(at: &index)
        guard index < json.count, json[index] == UInt8(ascii: "\"") else { return nil }
        var end = index + 1
        while end < json.count, json[end] != UInt8(ascii: "\"") {
            guard json[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        guard end < json.count else { return nil }
        defer { index = end + 1 }
        return index + 1..<end
    }

    private static func isPartOfNumberOrWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "E"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        default: byte.isDigit || byte.isSmallLetter
        }
    }
}

extension Span<UInt8> {
    /// Passes over the blanks at an index.
    fileprivate func skipBlanks(at index: inout Int) {
        while index < count, self[index] == 0x20 || (0x09...0x0D).contains(self[index]) { index += 1 }
    }

    /// Passes over blanks and the byte. False if something else is there.
    func skip(_ byte: UInt8, at index: inout Int) -> Bool {
        skipBlanks(at: &index)
        guard index < count, self[index] == byte else { return false }
        index += 1
        return true
    }

    /// True if the text ends with a dot and digits.
    fileprivate var hasNumber: Bool {
        var end = count
        while end > 0, self[end - 1].isDigit { end -= 1 }
        return end > 0 && end < count && self[end - 1] == UInt8(ascii: ".")
    }
}
