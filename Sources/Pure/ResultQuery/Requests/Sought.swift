/// A condition on a request as it was published, of which its result says nothing.
public struct Sought: Sendable, Equatable {
    /// The part of a request in which the values are sought.
    public enum Subject: String, Sendable, CaseIterable {
        /// A word without a name: a user, an id, a device, a label's value, a tag, or a word of the title.
        case anything = ""
        /// A user that the audience names.
        case user
        /// A device or an installation that the audience names.
        case device
        /// Words of the title.
        case title
        /// The kind of the audience, one of ``AudienceSummary/Kind``.
        case audience = "to"
    }

    /// The part of the request.
    public let subject: Subject
    /// It holds for requests that have none of the values.
    public let isNegated: Bool
    /// The values as they were written, one of which is enough. `*` stands for any characters in a value that `hasPattern`.
    public let values: [Value]
    /// False for whoever may not read titles: their words match nothing then.
    public var matchesTitles = true

    /// One of the values.
    public struct Value: Sendable, Equatable {
        /// The text as it was written, without quotes.
        public let text: String
        /// True if `*` in it stands for any characters.
        public let hasPattern: Bool

        /// A value.
        public init(_ text: String, hasPattern: Bool = false) { (self.text, self.hasPattern) = (text, hasPattern) }
    }

    /// A condition.
    public init(_ subject: Subject, isNegated: Bool = false, values: [Value]) {
        (self.subject, self.isNegated, self.values) = (subject, isNegated, values)
    }

    /// True if a person or a device may be meant, of whom a send by tag or to all says nothing.
    public var mayBePerson: Bool { subject == .user || subject == .device || subject == .anything }

    /// The form in which texts are compared: small letters.
    public static func folded(_ text: String) -> String { text.lowercased() }
}

extension ResultFilter {
    /// The names of users and installations that an asker gave in full, and may therefore see.
    public var givenNames: [String] {
        sought.filter { $0.mayBePerson && !$0.isNegated }.flatMap(\.values).filter { !$0.hasPattern }.map(\.text)
    }

    /// The same filter for whoever may not read titles.
    public var withoutTitles: ResultFilter {
        seeking(
            sought.map { condition in
                var condition = condition
                condition.matchesTitles = false
                return condition
            })
    }

    /// The filter for sends to tags and to all that may have reached the persons whom this one seeks.
    public var ofBroadSends: ResultFilter {
        let kinds: [AudienceSummary.Kind] = [.all, .tags, .expression]
        return seeking(
            sought.filter { $0.isNegated || !$0.mayBePerson } + [Sought(.audience, values: kinds.map { .init($0.rawValue) })])
    }

    /// The same filter with other conditions on requests.
    private func seeking(_ conditions: [Sought]) -> ResultFilter {
        var filter = ResultFilter()
        for term in terms { filter.add(term) }
        for condition in conditions { filter.add(condition) }
        if let since { filter.add(since: since) }
        if let until { filter.add(until: until) }
        return filter
    }

    /// True if names of users or devices are sought by a pattern, which can guess what it does not know.
    public var guessesNames: Bool {
        sought.contains { $0.mayBePerson && $0.values.contains(where: \.hasPattern) }
    }

    /// True if words of titles alone are sought by name.
    public var asksForTitles: Bool { sought.contains { $0.subject == .title } }
}
