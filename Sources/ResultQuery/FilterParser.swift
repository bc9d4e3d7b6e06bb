import Basics
import PushModel

/// Reads the text of a filter.
///
///     filter = [ term *( blank term ) ]
///     term   = [ "-" ] name ":" value *( "," value )
///     value  = *plain / DQUOTE *( char / "\" DQUOTE / "\\" ) DQUOTE
struct FilterParser {
    /// The most characters of a filter.
    static let maximumLength = 8192
    /// The most terms, all of which are asked of each of a million results. A time is none of them.
    static let maximumTerms = 64
    /// The most values of all terms together, some 250 ids of requests among them.
    static let maximumValues = 1024
    /// The most values with `*`, which take a search each.
    static let maximumPatterns = 64

    private let scalars: [Unicode.Scalar]
    private let now: Int64
    private var index = 0
    private var valueCount = 0
    private var patternCount = 0

    /// A value as it was written.
    private struct Word {
        var text = ""
        var isQuoted = false
        let position: Int

        var hasWildcard: Bool { !isQuoted && text.unicodeScalars.contains("*") }
        var bytes: [UInt8] { Array(text.utf8) }
    }

    init(_ text: String, now: Int64) {
        scalars = Array(text.unicodeScalars)
        self.now = now
    }

    /// True if a character may stand in a value without quotes.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        !isBlank(scalar) && scalar != "," && scalar != "\""
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }

    mutating func parse() throws(FilterError) -> ResultFilter {
        guard scalars.count <= Self.maximumLength else {
            throw FilterError(
                at: Self.maximumLength + 1, word: "…",
                reason: "is too far behind; a filter has at most \(Self.maximumLength) characters")
        }
        var filter = ResultFilter()
        skipBlanks()
        while index < scalars.count {
            try readTerm(into: &filter)
            skipBlanks()
        }
        return filter
    }

    private mutating func readTerm(into filter: inout ResultFilter) throws(FilterError) {
        let start = index + 1
        let isNegated = scalars[index] == "-"
        if isNegated { index += 1 }
        let name = take { $0 != ":" && Self.isPlain($0) }
        guard index < scalars.count, scalars[index] == ":", !name.isEmpty else {
            let rest = name.isEmpty ? take { !Self.isBlank($0) } : name
            throw FilterError(
                at: start, word: (isNegated ? "-" : "") + rest,
                reason: "is no term; expected a name, a colon and a value, such as state:failed or label.campaign:\"new year\"")
        }
        index += 1
        let words = try readWords()
        if name == "since" || name == "until" {
            let moment = try moment(words, isNegated: isNegated, name: name, start: start)
            if name == "since" { filter.add(since: moment) } else { filter.add(until: moment) }
            return
        }
        let subject = try subject(name, at: start + (isNegated ? 1 : 0))
        var values: [ResultFilter.Value] = []
        guard filter.terms.count < Self.maximumTerms else {
            throw FilterError(
                at: start, word: name,
                reason: "is one term too many; a filter has at most \(Self.maximumTerms), and times besides")
        }
        for word in words {
            values.append(try value(word, of: subject))
            try count(word, isPattern: values.last.map { if case .pattern = $0 { true } else { false } } ?? false)
        }
        filter.add(ResultFilter.Term(subject: subject, isNegated: isNegated, values: values))
    }

    private mutating func count(_ word: Word, isPattern: Bool) throws(FilterError) {
        valueCount += 1
        patternCount += isPattern ? 1 : 0
        guard valueCount <= Self.maximumValues else {
            throw FilterError(
                at: word.position, word: word.text, reason: "is one value too many; a filter has at most \(Self.maximumValues)")
        }
        guard patternCount <= Self.maximumPatterns else {
            throw FilterError(
                at: word.position, word: word.text,
                reason: "is one value with * too many; a filter has at most \(Self.maximumPatterns)")
        }
    }

    private mutating func readWords() throws(FilterError) -> [Word] {
        var words: [Word] = []
        while true {
            words.append(try readWord())
            guard index < scalars.count, !Self.isBlank(scalars[index]) else { return words }
            guard scalars[index] == "," else {
                throw FilterError(
                    at: index + 1, word: String(scalars[index]),
                    reason: "cannot stand here; quotes go around a whole value: \"new year\"")
            }
            index += 1
        }
    }

    private mutating func readWord() throws(FilterError) -> Word {
        var word = Word(position: index + 1)
        guard index < scalars.count, scalars[index] == "\"" else {
            word.text = take(while: Self.isPlain)
            guard !word.text.isEmpty else {
                throw FilterError(
                    at: word.position, word: index < scalars.count ? String(scalars[index]) : "",
                    reason: "is no value; \"\" is an empty one, and a shell wants '…' around a term with < or >")
            }
            return word
        }
        word.isQuoted = true
        index += 1
        while index < scalars.count, scalars[index] != "\"" {
            if scalars[index] == "\\" { index += 1 }
            guard index < scalars.count else { break }
            word.text.unicodeScalars.append(scalars[index])
            index += 1
        }
        guard index < scalars.count else {
            throw FilterError(at: word.position, word: "\"" + word.text, reason: "has no closing quote")
        }
        index += 1
        return word
    }

    private mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while index < scalars.count, isWanted(scalars[index]) {
            text.append(scalars[index])
            index += 1
        }
        return String(text)
    }

    private mutating func skipBlanks() {
        while index < scalars.count, Self.isBlank(scalars[index]) { index += 1 }
    }
}

extension FilterParser {
    /// Every name that may stand in front of a colon.
    static let names = ResultField.allCases.map(\.rawValue) + ["label.NAME", "since", "until"]

    private func subject(_ name: String, at position: Int) throws(FilterError) -> ResultFilter.Subject {
        if let field = ResultField(rawValue: name) { return .field(field) }
        guard name.hasPrefix("label.") else {
            throw FilterError(
                at: position, word: name, reason: "is no field of a result; there are \(Self.names.joined(separator: ", "))",
                allowed: Self.names)
        }
        let label = name.dropFirst("label.".count)
        let isName = label.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        guard !label.isEmpty, isName else {
            throw FilterError(
                at: position, word: name, reason: "is no label; its name has small letters, digits and _, such as label.campaign")
        }
        return .label(String(label))
    }

    private func value(_ word: Word, of subject: ResultFilter.Subject) throws(FilterError) -> ResultFilter.Value {
        switch subject.values {
        case .text:
            return word.hasWildcard ? .pattern(word.bytes) : .text(word.bytes)
        case .words(let words):
            if word.hasWildcard { return .pattern(word.bytes) }
            if word.isQuoted || words.contains(word.text) { return .text(word.bytes) }
            // `apns`, `fcm` and `wns` are understood wherever a platform is named.
            if subject == .field(.platform), let platform = Platform(name: word.text) {
                return .text(Array("\(platform.name)".utf8))
            }
            throw FilterError(
                at: word.position, word: word.text,
                reason: "is no \(subject.name); there are \(words.joined(separator: ", ")), and what is in quotes is not checked",
                allowed: words)
        case .number:
            let (comparison, digits) = comparison(word)
            guard let number = Int64(digits), number >= 0, digits.first != "+" else {
                throw FilterError(at: word.position, word: word.text, reason: "is no number; expected one such as 3, >2 or <=5")
            }
            return .number(comparison, number)
        case .duration:
            let (comparison, length) = comparison(word)
            guard let milliseconds = TimeWords.milliseconds(length) else {
                throw FilterError(
                    at: word.position, word: word.text, reason: "is no length of time; expected one such as >30s or <=1h30m")
            }
            return .number(comparison, milliseconds)
        }
    }

    private func comparison(_ word: Word) -> (ResultFilter.Comparison, String) {
        for comparison in ResultFilter.Comparison.allCases where word.text.hasPrefix(comparison.rawValue) {
            return (comparison, String(word.text.dropFirst(comparison.rawValue.count)))
        }
        return (.equal, word.text)
    }

    private func moment(_ words: [Word], isNegated: Bool, name: String, start: Int) throws(FilterError) -> Int64 {
        guard !isNegated else {
            throw FilterError(
                at: start, word: "-" + name, reason: "cannot be excluded; write \(name == "since" ? "until" : "since") instead")
        }
        guard words.count == 1, let moment = TimeWords.moment(words[0].text, now: now, isPast: true) else {
            throw FilterError(
                at: words.count == 1 ? words[0].position : words[1].position,
                word: words.count == 1 ? words[0].text : words[1].text,
                reason: words.count == 1
                    ? "is no time; expected 1h, 7d, 2026-11-21, 2026-11-21T10:00Z or 2026-11-21T10:00:00+01:00"
                    : "is one moment too many")
        }
        return moment.milliseconds
    }
}
