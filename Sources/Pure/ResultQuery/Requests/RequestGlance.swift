import Basics

/// Looks at a record's bytes for what a filter wants, to pass over most records without reading them.
///
/// It only ever rules out what reading would rule out, too: of each condition the record must have some bytes as they stand, unless an
/// escape may hide them.
struct RequestGlance: Sendable {
    /// A condition of which one of the needles must stand in the record.
    private struct Clause: Sendable {
        /// The most needles. To look for more takes longer than to read the record.
        static let needleLimit = 8

        let needles: [ByteNeedle]
        /// Other bytes that stand for some of a needle's, if any of these do.
        let disguises: [ByteNeedle]
        /// A broad request may have reached the person that is sought, whatever stands in it.
        var sparesBroad = false
        /// A handle may be written in another form.
        var sparesDevices = false
        /// The sought text may be in the record's headers.
        var sparesHeaders = false

        /// A condition, of which each text is one of the needles. Nil if a record may have one of them in other bytes, or if
        /// there are too many.
        init?(_ texts: [String], ignoringCase ignoresCase: Bool) {
            guard texts.count <= Self.needleLimit else { return nil }
            let needles = texts.compactMap { RequestGlance.needle(in: $0, ignoringCase: ignoresCase) }
            guard needles.count == texts.count else { return nil }
            self.needles = needles
            var disguises = [RequestGlance.escape]
            if texts.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) { disguises.append(RequestGlance.escapedSlash) }
            if ignoresCase, texts.contains(where: { $0.utf8.contains(UInt8(ascii: "k")) }) {
                disguises.append(RequestGlance.kelvin)
            }
            self.disguises = disguises
        }
    }

    private let clauses: [Clause]

    /// Looks out for what the conditions of a filter need, as far as bytes can tell.
    init(_ filter: ResultFilter, readingTitles readsTitles: Bool, seekingPossible seeksPossible: Bool) {
        let sought = filter.sought.compactMap { condition -> Clause? in
            guard !condition.isNegated, var clause = Self.clause(of: condition, readingTitles: readsTitles) else { return nil }
            clause.sparesBroad = clause.sparesBroad && seeksPossible
            return clause
        }
        clauses = sought + filter.terms.compactMap(Self.clause)
    }

    /// True if the record cannot match.
    ///
    /// - Parameters:
    ///   - json: The record.
    ///   - mayHaveHeaders: False for a record that has no header with its id or its source.
    /// - Returns: False in every doubt.
    func rulesOut(_ json: Span<UInt8>, mayHaveHeaders: Bool) -> Bool {
        for clause in clauses where !(clause.sparesHeaders && mayHaveHeaders) {
            if clause.needles.contains(where: { $0.isFound(in: json) }) { continue }
            if clause.sparesBroad || clause.sparesDevices {
                let audience = AudienceGlance(json)
                if clause.sparesBroad && audience.mayBeBroad || clause.sparesDevices && audience.mayBeDevices { continue }
            }
            return !clause.disguises.contains { $0.isFound(in: json) }
        }
        return false
    }

    /// The beginning of an escape that may stand for any letter.
    private static let escape = ByteNeedle("\\u", ignoringCase: false)
    /// The sign for kelvin, the one character beyond ASCII whose small form is a letter of ASCII.
    private static let kelvin = ByteNeedle("\u{212A}", ignoringCase: false)
    /// The escape that may stand for a slash.
    private static let escapedSlash = ByteNeedle("\\/", ignoringCase: false)
}

extension RequestGlance {
    private static func clause(of sought: Sought, readingTitles readsTitles: Bool) -> Clause? {
        let (isTitle, isAnything) = (sought.subject == .title, sought.subject == .anything)
        guard sought.subject != .audience, !isTitle || readsTitles else { return nil }
        // The id of a request that was given none is its place, which does not stand in it.
        guard !isAnything || !sought.values.contains(where: { $0.hasPattern || mayBePlace($0.text) }) else { return nil }
        let texts = sought.values.map { isTitle || isAnything ? longestWord(of: $0) : longestPiece(of: $0) }
        guard var clause = Clause(texts, ignoringCase: true) else { return nil }
        clause.sparesBroad = !isTitle
        clause.sparesDevices = (isAnything || sought.subject == .device) && sought.values.contains(where: mayBeDigits)
        clause.sparesHeaders = isAnything
        return clause
    }

    private static func clause(of term: ResultFilter.Term) -> Clause? {
        var sparesHeaders = false
        switch term.subject {
        case .field(.request), .field(.source): sparesHeaders = true
        case .field(.tenant), .field(.root), .field(.parent), .field(.job), .field(.actor), .label: break
        case .field: return nil
        }
        let texts = term.values.map { value in
            switch value {
            case .text(let bytes): return String(decoding: bytes, as: UTF8.self)
            case .pattern(let bytes):
                return term.subject == .field(.request) ? "" : longestPiece(of: String(decoding: bytes, as: UTF8.self))
            case .number: return ""
            }
        }
        guard !term.isNegated, term.subject != .field(.request) || !texts.contains(where: mayBePlace),
            var clause = Clause(texts, ignoringCase: false)
        else { return nil }
        clause.sparesHeaders = sparesHeaders
        return clause
    }

    /// The word that a record must have at least to have the value. Whatever has all of its text has its words, too.
    private static func longestWord(of value: Sought.Value) -> String {
        let words = TextWords.words(of: value.text, keepingStars: value.hasPattern).map { String(decoding: $0, as: UTF8.self) }
        guard !words.isEmpty else { return Sought.folded(value.text) }
        let pieces = words.map { value.hasPattern ? longestPiece(of: $0) : $0 }
        return pieces.filter { needle(in: $0) != nil }.max { $0.utf8.count < $1.utf8.count } ?? ""
    }

    private static func longestPiece(of value: Sought.Value) -> String {
        let folded = Sought.folded(value.text)
        return value.hasPattern ? longestPiece(of: folded) : folded
    }

    /// True for a value that may be the digits of a handle, between which a record may have blanks.
    private static func mayBeDigits(_ value: Sought.Value) -> Bool {
        value.hasPattern || value.text.utf8.allSatisfy { $0.isHexadecimalDigit || $0 == 0x20 || $0 == 0x3C || $0 == 0x3E }
    }

    /// The needle for a text, or nil for one that a record may have in other bytes: with characters that JSON always escapes, or with
    /// letters that have other small forms.
    fileprivate static func needle(in text: String, ignoringCase: Bool = true) -> ByteNeedle? {
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7F && (!ignoringCase || $0 < 0x80)
        }
        return isPlain && !text.isEmpty ? ByteNeedle(text, ignoringCase: ignoringCase) : nil
    }

    private static func longestPiece(of pattern: String) -> String {
        pattern.split(separator: "*").max { $0.utf8.count < $1.utf8.count }.map(String.init) ?? ""
    }

    /// True for a text that ends as the place of a record does: `:PARTITION:OFFSET`.
    private static func mayBePlace(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count >= 3 && parts.suffix(2).allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }
    }
}

/// The kinds of audiences that a record may name, by what stands behind each `"audience"` in it.
private struct AudienceGlance {
    private(set) var mayBeBroad = false
    private(set) var mayBeDevices = false

    private static let name = ByteNeedle("\"audience\"", ignoringCase: false)

    init(_ json: Span<UInt8>) {
        var start = 0
        var isFound = false
        while let place = Self.name.place(in: json, from: start) {
            isFound = true
            start = place + Self.name.count
            note(Self.kind(in: json, behind: start))
        }
        if !isFound { note(nil) }
    }

    /// Notes the first letter of a kind, or nil for what cannot be told.
    private mutating func note(_ letter: UInt8?) {
        switch letter {
        case UInt8(ascii: "u"), UInt8(ascii: "i"): break
        case UInt8(ascii: "d"): mayBeDevices = true
        case UInt8(ascii: "b"), UInt8(ascii: "c"), UInt8(ascii: "t"): mayBeBroad = true
        default: (mayBeBroad, mayBeDevices) = (true, true)
        }
    }

    /// The first letter of the first name in the object that is the value of a member whose name ends at `start`.
    private static func kind(in json: Span<UInt8>, behind start: Int) -> UInt8? {
        var index = start
        guard json.skip(UInt8(ascii: ":"), at: &index), json.skip(UInt8(ascii: "{"), at: &index),
            json.skip(UInt8(ascii: "\""), at: &index)
        else { return nil }
        return index < json.count ? json[index] : nil
    }
}
