internal import Basics
import PushModel

/// The names and values of terms.
extension FilterParser {
    /// The subject of a term, which a result or a request has.
    enum Subject {
        case result(ResultFilter.Subject)
        case request(Sought.Subject)

        var name: String {
            switch self {
            case .result(let subject): subject.name
            case .request(let subject): subject.rawValue
            }
        }
    }

    /// Every name that may stand in front of a colon.
    static let names =
        ResultField.allCases.map(\.rawValue) + Sought.Subject.allCases.map(\.rawValue).filter { !$0.isEmpty }
        + ["label.NAME", "since", "until"]

    /// The most bytes of what may be a misspelt name.
    private static let longestName = 16

    /// The subject that a name means. Nil for one that is so far from all names that it begins a word, such as `push.requests.v1:0:17`.
    static func subject(_ name: String, at position: Int, isQuoted: Bool) throws(FilterError) -> Subject? {
        if let field = ResultField(rawValue: name) { return .result(.field(field)) }
        if let subject = Sought.Subject(rawValue: name) { return .request(subject) }
        guard name.hasPrefix("label.") else {
            guard isQuoted || isMisspelt(name) else { return nil }
            throw FilterError(
                at: position, word: name,
                reason: "is no field of a result; there are \(names.joined(separator: ", ")), and in quotes it is a word",
                allowed: names)
        }
        let label = name.dropFirst("label.".count)
        let isName = label.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        guard !label.isEmpty, isName else {
            throw FilterError(
                at: position, word: name, reason: "is no label; its name has small letters, digits and _, such as label.campaign")
        }
        return .result(.label(String(label)))
    }

    /// True for a name that differs in one letter from one that there is, or in capital letters.
    private static func isMisspelt(_ name: String) -> Bool {
        let folded = name.lowercased()
        if folded == "label" || folded.hasPrefix("label.") { return true }
        guard folded.utf8.count <= longestName else { return false }
        return names.contains { $0 == folded || $0.count > 2 && Spelling.distance(from: folded, to: $0) == 1 }
    }

    /// The values that a word means, several for `state:waiting`.
    static func values(_ word: Word, of subject: ResultFilter.Subject) throws(FilterError) -> [ResultFilter.Value] {
        switch subject.values {
        case .text:
            return [word.hasWildcard ? .pattern(word.bytes) : .text(word.bytes)]
        case .words(let words):
            if word.hasWildcard { return [.pattern(word.bytes)] }
            if word.isQuoted || words.contains(word.text) { return [.text(word.bytes)] }
            if subject == .field(.state), let alias = OpenState.aliases.first(where: { $0.name == word.text }) {
                return alias.states.map { .text(Array($0.rawValue.utf8)) }
            }
            // `apns`, `fcm` and `wns` are understood wherever a platform is named.
            if subject == .field(.platform), let platform = Platform(name: word.text) {
                return [.text(Array("\(platform.name)".utf8))]
            }
            let allowed = subject == .field(.state) ? ResultState.allCases.map(\.rawValue) + OpenState.words : words
            throw noWord(word, of: subject.name, allowed: allowed)
        case .number:
            let (comparison, digits) = comparison(word)
            guard let number = Int64(digits), number >= 0, digits.first != "+" else {
                throw word.fault("is no number; expected one such as 3, >2 or <=5")
            }
            return [.number(comparison, number)]
        case .duration:
            let (comparison, length) = comparison(word)
            guard let milliseconds = TimeWords.milliseconds(length) else {
                throw word.fault("is no length of time; expected one such as >30s or <=1h30m")
            }
            return [.number(comparison, milliseconds)]
        }
    }

    /// Refuses a word that is none of a closed list.
    static func check(_ word: Word, of subject: Sought.Subject) throws(FilterError) {
        guard subject == .audience, !word.isQuoted, !word.hasWildcard, AudienceSummary.Kind(rawValue: word.text) == nil else {
            return
        }
        throw noWord(word, of: "kind of audience", allowed: AudienceSummary.Kind.allCases.map(\.rawValue))
    }

    private static func noWord(_ word: Word, of kind: String, allowed: [String]) -> FilterError {
        word.fault(
            "is no \(kind); there are \(allowed.joined(separator: ", ")), and what is in quotes is not checked",
            allowed: allowed)
    }

    private static func comparison(_ word: Word) -> (ResultFilter.Comparison, String) {
        for comparison in ResultFilter.Comparison.allCases where word.text.hasPrefix(comparison.rawValue) {
            return (comparison, String(word.text.dropFirst(comparison.rawValue.count)))
        }
        return (.equal, word.text)
    }
}

/// The texts of values.
extension FilterParser {
    /// True for a text that may stand behind a colon without quotes, and means itself.
    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0 != "*" && isPlain($0) }
    }

    /// True for a text that may stand alone without quotes, and is neither a name, a time nor excluded.
    static func isBareWord(_ text: String) -> Bool {
        guard isPlain(text), !text.hasPrefix("-"), !text.unicodeScalars.contains(":") else { return false }
        do throws(TimeReader.Fault) {
            return try TimeReader(now: 0, zone: .utc).stretch([Array(text.utf8)]) == nil
        } catch {
            return false
        }
    }

    /// The text in quotes.
    static func quoted(_ text: String) -> String {
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}
