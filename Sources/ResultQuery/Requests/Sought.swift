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
}
