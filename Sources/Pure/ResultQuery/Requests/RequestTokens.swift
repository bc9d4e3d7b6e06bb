public import PushModel

/// All by which a request is found, for an index that answers what ``RequestMatcher`` would.
public struct RequestTokens: Sendable, Equatable {
    /// The kinds of texts. The numbers are kept by indexes.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case user = 1, installation, handle, tag, id, whole
        /// A label's name and value with `=` between them.
        case label
        /// A label's value.
        case value
        /// A word of the title, the subtitle or the body.
        case word
        case source, tenant
        /// The kind of the audience.
        case audience
        /// A mark without text that a request has whose devices the hub alone knows.
        case broad
        /// A mark without text that every request has.
        case all

        /// True if it names a person or a device.
        public var isPerson: Bool { self == .user || self == .installation || self == .handle }
    }

    /// A text of one kind.
    public struct Token: Sendable, Hashable {
        /// The kind.
        public let kind: Kind
        /// The folded text in UTF-8.
        public let text: [UInt8]

        /// A text, which is folded already.
        public init(_ kind: Kind, text: [UInt8] = []) { (self.kind, self.text) = (kind, text) }
    }

    /// The tokens, each once.
    public let all: Set<Token>

    /// Tokens that are known already.
    public init(_ all: Set<Token>) { self.all = all }

    /// Finds the tokens of a request.
    public init(of request: borrowing PushRequest) {
        var all: Set<Token> = []
        Self.forEach(of: request) { kind, text in all.insert(Token(kind, text: text)) }
        self.all = all
    }

    /// Calls `body` with each token of a request, with some more than once.
    public static func forEach(of request: borrowing PushRequest, perform body: (Kind, [UInt8]) -> Void) {
        body(.all, [])
        RequestTexts.forEach(of: request) { kind, text in body(kind, FoldedText.bytes(text)) }
        for word in RequestTexts.words(of: request) { body(.word, word) }
        if RequestTexts.isBroad(request) { body(.broad, []) }
    }
}

extension RequestTokens {
    /// Some kinds of texts.
    struct Kinds: OptionSet {
        let rawValue: UInt32

        init(rawValue: UInt32) { self.rawValue = rawValue }

        init(_ kind: Kind) { rawValue = 1 << UInt32(kind.rawValue) }

        static let user = Kinds(.user)
        static let installation = Kinds(.installation)
        static let handle = Kinds(.handle)
        static let tag = Kinds(.tag)
        static let label = Kinds(.label)
        static let value = Kinds(.value)
        static let audience = Kinds(.audience)
        /// The kinds of persons and devices.
        static let persons: Kinds = [.user, .installation, .handle]
        /// The kinds of those whom an audience names.
        static let receivers: Kinds = [.persons, .tag]
        /// The kinds that a word without a name is compared with.
        static let anything: Kinds = [.receivers, .label, .value, Kinds(.id), Kinds(.whole), Kinds(.source)]
        static let all = Kinds(rawValue: .max)
    }
}
