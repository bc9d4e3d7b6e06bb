import Basics
import PushModel

/// The results and requests that are wanted: every condition holds, between two moments.
///
/// Text and meaning:
///
///     state:failed hub:shop,toys -platform:apple label.campaign:"new year" 'attempts:>2' since:1h
///     alice yesterday 9:00..9:30
///
/// Terms stand behind one another and all hold. Of values with commas one is enough. A minus excludes. What a record lacks is
/// excluded by nothing. `*` stands for any characters, but not in quotes. In quotes, `\"` and `\\` stand for a quote and a backslash.
///
/// A word without a name is sought in the request, unless a time begins with it.
public struct ResultFilter: Sendable {
    /// The subject of a term.
    public enum Subject: Sendable, Equatable {
        case field(ResultField)
        /// The label of this name.
        case label(String)
    }

    /// The way in which a number is compared.
    public enum Comparison: String, Sendable, CaseIterable {
        case atLeast = ">="
        case atMost = "<="
        case more = ">"
        case less = "<"
        case equal = "="
    }

    /// One of the values of a term.
    public enum Value: Sendable, Equatable {
        /// Exactly this, in UTF-8.
        case text([UInt8])
        /// This, in which `*` stands for any characters.
        case pattern([UInt8])
        /// A number, or milliseconds.
        case number(Comparison, Int64)
    }

    /// One condition.
    public struct Term: Sendable, Equatable {
        /// The subject of the term.
        public let subject: Subject
        /// It holds for records that have none of the values.
        public let isNegated: Bool
        /// One of them is enough.
        public let values: [Value]
        /// True if it holds for the parts of a large request that it names, too.
        public private(set) var includesParts = false

        init(subject: Subject, isNegated: Bool, values: [Value]) {
            (self.subject, self.isNegated, self.values) = (subject, isNegated, values)
        }

        /// The same term, with the parts of the large requests that it names.
        var withParts: Self {
            var term = self
            term.includesParts = subject == .field(.request) && !isNegated
            return term
        }
    }

    /// All of them hold.
    public private(set) var terms: [Term] = []
    /// Conditions on the request as it was published, all of which hold, too. No result says whether they do.
    public private(set) var sought: [Sought] = []
    /// True if times are those of publication alone, and not those at which what is delayed is due.
    public var isByPublication = false
    /// The first moment at which a result may have been written, in milliseconds since 1970.
    public private(set) var since: Int64?
    /// The first moment at which a result was written too late.
    public private(set) var until: Int64?
    /// True if a time without a zone was read, so that whoever answers names the zone.
    public private(set) var readsLocalTimes = false

    /// A filter that lets everything through.
    public init() {}

    /// Reads a filter.
    ///
    /// - Parameters:
    ///   - text: The filter as a person writes it. An empty one lets everything through.
    ///   - now: Milliseconds since 1970, against which `since:1h` counts.
    ///   - zone: The zone of times that name none.
    /// - Throws: `FilterError` that names the position and what is allowed there.
    public init(_ text: String, now: Int64, zone: LocalZone = .utc) throws(FilterError) {
        var parser = FilterParser(text, now: now, zone: zone)
        self = try parser.parse()
    }

    /// Adds a condition on a field: one of the words.
    public mutating func require(_ field: ResultField, among words: [String]) {
        add(Term(subject: .field(field), isNegated: false, values: words.map { .text(Array($0.utf8)) }))
    }

    /// Adds all that another filter demands.
    public mutating func add(_ other: ResultFilter) {
        terms += other.terms
        sought += other.sought
        if let since = other.since { add(since: since) }
        if let until = other.until { add(until: until) }
        readsLocalTimes = readsLocalTimes || other.readsLocalTimes
    }

    /// The filter under which the id of a large request stands for its parts as well.
    public var withParts: ResultFilter {
        var filter = self
        filter.terms = terms.map(\.withParts)
        return filter
    }

    /// True if it holds for the parts of a large request that it names.
    public var includesParts: Bool { terms.contains(where: \.includesParts) }

    mutating func add(_ term: Term) { terms.append(term) }

    /// Adds a condition on the request as it was published.
    public mutating func add(_ condition: Sought) { sought.append(condition) }

    /// Adds that a result was written at this moment or later, in milliseconds since 1970.
    public mutating func add(since moment: Int64) {
        let moment = Self.writable(moment)
        since = max(since ?? moment, moment)
    }

    /// Adds that a result was written before this moment, in milliseconds since 1970.
    public mutating func add(until moment: Int64) {
        let moment = Self.writable(moment)
        until = min(until ?? moment, moment)
    }

    mutating func addLocalTime() { readsLocalTimes = true }

    /// The moment that the text of the filter can have, which is the nearest one of the years 0 to 9999.
    private static func writable(_ moment: Int64) -> Int64 {
        min(max(moment, TimestampText.writable.lowerBound), TimestampText.writable.upperBound)
    }

    /// A term asks for this very word of a field.
    public func names(_ field: ResultField, word: String) -> Bool {
        terms.contains { $0.subject == .field(field) && !$0.isNegated && $0.values.contains(.text(Array(word.utf8))) }
    }

    /// A term is about this field.
    public func mentions(_ field: ResultField) -> Bool {
        terms.contains { $0.subject == .field(field) }
    }
}

extension ResultFilter: Equatable {
    /// True if both want the same. The way in which times were written is not looked at.
    public static func == (left: Self, right: Self) -> Bool {
        left.terms == right.terms && left.sought == right.sought && left.since == right.since && left.until == right.until
            && left.isByPublication == right.isByPublication
    }
}

extension ResultFilter: CustomStringConvertible {
    /// The filter as text that means the same at any time.
    public var description: String {
        var words = terms.map(\.description) + sought.map(\.description)
        if let since { words.append("since:" + Timestamp(milliseconds: since).text) }
        if let until { words.append("until:" + Timestamp(milliseconds: until).text) }
        return words.joined(separator: " ")
    }
}

extension ResultFilter.Term: CustomStringConvertible {
    /// The term as text.
    public var description: String {
        (isNegated ? "-" : "") + subject.name + ":" + values.map { $0.text(of: subject) }.joined(separator: ",")
    }
}

extension ResultFilter.Subject {
    /// The name in front of the colon.
    public var name: String {
        switch self {
        case .field(let field): field.rawValue
        case .label(let name): "label." + name
        }
    }

    /// The kind of its values.
    public var values: ResultField.Values {
        switch self {
        case .field(let field): field.values
        case .label: .text
        }
    }
}

extension ResultFilter.Value {
    /// True for a text with `*`.
    var isPattern: Bool { if case .pattern = self { true } else { false } }

    fileprivate func text(of subject: ResultFilter.Subject) -> String {
        switch self {
        case .pattern(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .number(let comparison, let number):
            let sign = comparison == .equal ? "" : comparison.rawValue
            return sign + String(number) + (subject.values == .duration ? "ms" : "")
        case .text(let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if case .words(let words) = subject.values, !words.contains(text) { return FilterParser.quoted(text) }
            return FilterParser.isPlain(text) ? text : FilterParser.quoted(text)
        }
    }
}

extension Sought: CustomStringConvertible {
    /// The condition as text.
    public var description: String {
        let name = subject == .anything ? "" : subject.rawValue + ":"
        return (isNegated ? "-" : "") + name + values.map(text).joined(separator: ",")
    }

    private func text(_ value: Value) -> String {
        if value.hasPattern { return value.text }
        let isPlain =
            switch subject {
            case .anything: FilterParser.isBareWord(value.text)
            case .audience: AudienceSummary.Kind(rawValue: value.text) != nil
            case .user, .device, .title: FilterParser.isPlain(value.text)
            }
        return isPlain ? value.text : FilterParser.quoted(value.text)
    }
}
