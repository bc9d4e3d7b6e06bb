import PushModel

/// Reads the text of a filter.
///
///     filter = [ term *( blank term ) ]
///     term   = [ "-" ] name ":" value *( "," value ) / [ "-" ] value *( "," value ) / time
///     value  = *plain / DQUOTE *( char / "\" DQUOTE / "\\" ) DQUOTE
///
/// `TimeReader` knows the times.
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
    private let times: TimeReader
    private let now: Int64
    private var index = 0
    private var valueCount = 0
    private var patternCount = 0
    /// The last time in a form for people, which has to leave something.
    private var lastTime: Word?

    /// A value as it was written.
    struct Word {
        var text = ""
        var isQuoted = false
        let position: Int

        var hasWildcard: Bool { !isQuoted && text.unicodeScalars.contains("*") }
        var bytes: [UInt8] { Array(text.utf8) }
        /// The texts between its blanks.
        var parts: [[UInt8]] {
            text.unicodeScalars.split(whereSeparator: FilterParser.isBlank).map { Array(String($0).utf8) }
        }

        /// Refuses it.
        func fault(_ reason: String, allowed: [String] = []) -> FilterError {
            FilterError(at: position, word: text, reason: reason, allowed: allowed)
        }
    }

    init(_ text: String, now: Int64, zone: LocalZone) {
        scalars = Array(text.unicodeScalars)
        times = TimeReader(now: now, zone: zone)
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
        if let lastTime, filter.since ?? .min >= filter.until ?? .max {
            throw lastTime.fault("has no moment in common with the other times of the filter")
        }
        return filter
    }

    private mutating func readTerm(into filter: inout ResultFilter) throws(FilterError) {
        let start = index
        let isNegated = scalars[index] == "-"
        if isNegated { index += 1 }
        if try readTime(into: &filter, isNegated: isNegated, start: start) { return }
        let first = index
        let name = take { $0 != ":" && Self.isPlain($0) }
        if !name.isEmpty, index < scalars.count, scalars[index] == ":" {
            if name == "since" || name == "until" {
                index += 1
                return try readMoment(into: &filter, isNegated: isNegated, name: name, start: start)
            }
            let isQuoted = index + 1 < scalars.count && scalars[index + 1] == "\""
            if let subject = try Self.subject(name, at: first + 1, isQuoted: isQuoted) {
                index += 1
                return try readValues(of: subject, isNegated: isNegated, into: &filter, start: start)
            }
        }
        index = first
        try readBareWords(into: &filter, isNegated: isNegated, start: start)
    }

    private mutating func readValues(
        of subject: Subject, isNegated: Bool, into filter: inout ResultFilter, start: Int
    ) throws(FilterError) {
        let words = try readWords()
        try makeRoom(in: filter, for: subject.name, at: start)
        switch subject {
        case .result(let subject):
            var values: [ResultFilter.Value] = []
            for word in words {
                let read = try Self.values(word, of: subject)
                for value in read { try count(word, isPattern: value.isPattern) }
                values += read
            }
            filter.add(ResultFilter.Term(subject: subject, isNegated: isNegated, values: values))
        case .request(let subject):
            try add(words, of: subject, isNegated: isNegated, to: &filter)
        }
    }

    private mutating func readBareWords(
        into filter: inout ResultFilter, isNegated: Bool, start: Int
    ) throws(FilterError) {
        let begins = index < scalars.count && scalars[index] != "," && !Self.isBlank(scalars[index])
        let words = begins ? try readWords(allowsGaps: true) : []
        guard let first = words.first, words.allSatisfy({ !$0.text.isEmpty }) else {
            if !begins { _ = take { !Self.isBlank($0) } }
            throw FilterError(
                at: start + 1, word: String(String.UnicodeScalarView(scalars[start..<index])),
                reason: "is no term; expected a word, or a name, a colon and a value, such as state:failed or "
                    + "label.campaign:\"new year\"")
        }
        try makeRoom(in: filter, for: first.text, at: start)
        try add(words, of: .anything, isNegated: isNegated, to: &filter)
    }

    private mutating func add(
        _ words: [Word], of subject: Sought.Subject, isNegated: Bool, to filter: inout ResultFilter
    ) throws(FilterError) {
        var values: [Sought.Value] = []
        for word in words {
            try Self.check(word, of: subject)
            try count(word, isPattern: word.hasWildcard)
            values.append(Sought.Value(word.text, hasPattern: word.hasWildcard))
        }
        filter.add(Sought(subject, isNegated: isNegated, values: values))
    }

    private func makeRoom(in filter: ResultFilter, for name: String, at start: Int) throws(FilterError) {
        guard filter.terms.count + filter.sought.count < Self.maximumTerms else {
            throw FilterError(
                at: start + 1, word: name,
                reason: "is one term too many; a filter has at most \(Self.maximumTerms), and times besides")
        }
    }

    /// Reads a time that stands by itself. False if there is none.
    private mutating func readTime(
        into filter: inout ResultFilter, isNegated: Bool, start: Int
    ) throws(FilterError) -> Bool {
        let tokens = tokens()
        guard let first = tokens.first else { return false }
        let found: TimeReader.Stretch?
        do throws(TimeReader.Fault) { found = try times.stretch(tokens.map(\.word.bytes)) } catch {
            throw tokens[error.token].word.fault(error.reason + "; in quotes it is a word")
        }
        guard let found else { return false }
        guard !isNegated else {
            throw FilterError(
                at: start + 1, word: "-" + first.word.text, reason: "is a time, which cannot be excluded; in quotes it is a word")
        }
        if let since = found.since { filter.add(since: since) }
        if let until = found.until { filter.add(until: until) }
        if found.isLocal { filter.addLocalTime() }
        lastTime = first.word
        index = tokens[found.tokenCount - 1].end
        return true
    }

    private mutating func readMoment(
        into filter: inout ResultFilter, isNegated: Bool, name: String, start: Int
    ) throws(FilterError) {
        guard !isNegated else {
            throw FilterError(
                at: start + 1, word: "-" + name,
                reason: "cannot be excluded; write \(name == "since" ? "until" : "since") instead")
        }
        let following = tokens()
        let words = try readWords()
        guard words.count == 1 else {
            throw words[1].fault("is one moment too many")
        }
        let word = words[0]
        let parts = word.isQuoted ? word.parts : following.map(\.word.bytes)
        let old = TimeWords.moment(word.text, now: now, isPast: true)
        var found: (moment: Int64, isLocal: Bool, tokenCount: Int)?
        do throws(TimeReader.Fault) { found = try times.moment(parts) } catch {
            throw (word.isQuoted || error.token == 0 ? word : following[error.token].word).fault(error.reason)
        }
        if let found, !word.isQuoted || found.tokenCount == parts.count {
            if !word.isQuoted { index = following[found.tokenCount - 1].end }
            if found.isLocal { filter.addLocalTime() }
            if old == nil || found.tokenCount > 1 { lastTime = word }
        } else {
            found = nil
        }
        guard let moment = found?.moment ?? old?.milliseconds else {
            throw word.fault(
                "is no time; expected 14:05, yesterday 9:00, 1h, 7d, 2026-11-21, 2026-11-21T10:00Z or "
                    + "2026-11-21T10:00:00+01:00")
        }
        if name == "since" { filter.add(since: moment) } else { filter.add(until: moment) }
    }

    /// The next texts between blanks, as many as a time may have, from the index on.
    private func tokens() -> [(word: Word, end: Int)] {
        var tokens: [(word: Word, end: Int)] = []
        var end = index
        while tokens.count < TimeReader.mostTokens {
            if !tokens.isEmpty { while end < scalars.count, Self.isBlank(scalars[end]) { end += 1 } }
            var word = Word(position: end + 1)
            while end < scalars.count, !Self.isBlank(scalars[end]), end + 1 - word.position < TimeReader.longestToken {
                word.text.unicodeScalars.append(scalars[end])
                end += 1
            }
            guard !word.text.isEmpty, end == scalars.count || Self.isBlank(scalars[end]) else { break }
            tokens.append((word, end))
        }
        return tokens
    }

    private mutating func count(_ word: Word, isPattern: Bool) throws(FilterError) {
        valueCount += 1
        patternCount += isPattern ? 1 : 0
        guard valueCount <= Self.maximumValues else {
            throw word.fault("is one value too many; a filter has at most \(Self.maximumValues)")
        }
        guard patternCount <= Self.maximumPatterns else {
            throw word.fault("is one value with * too many; a filter has at most \(Self.maximumPatterns)")
        }
    }

    /// Reads values with commas between them. Where gaps are allowed, nothing may stand behind a comma.
    private mutating func readWords(allowsGaps: Bool = false) throws(FilterError) -> [Word] {
        var words: [Word] = []
        while true {
            let isGap = allowsGaps && (index == scalars.count || Self.isBlank(scalars[index]) || scalars[index] == ",")
            if !isGap { words.append(try readWord()) }
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
