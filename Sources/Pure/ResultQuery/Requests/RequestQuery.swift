/// The question of a filter to an index of tokens: what a request must have to be found.
public struct RequestQuery: Sendable, Equatable {
    /// One condition, all of which hold.
    public struct Condition: Sendable, Equatable {
        /// One of them is enough, and of that all tokens.
        public let alternatives: [[RequestTokens.Token]]
        /// It holds for requests that have none of the alternatives.
        public let isNegated: Bool
        /// A person or a device may be meant, of whom a broad request says nothing.
        public let isPerson: Bool

        func isFound(in tokens: Set<RequestTokens.Token>) -> Bool { alternatives.contains(where: tokens.isSuperset) }
    }

    /// The conditions. None for a filter that lets everything through.
    public private(set) var conditions: [Condition]

    /// The question of a filter, or nil if it seeks values with `*`, which are in no index.
    ///
    /// The filter's terms are asked once more of what it finds: they mind capitals, and tokens do not.
    ///
    /// - Parameters:
    ///   - filter: The filter. Of its terms those are asked that have tokens: the request, the source, the tenant and labels.
    ///   - readsTitles: False for an asker who may not see titles: no word is one of a title.
    public init?(_ filter: ResultFilter, readingTitles readsTitles: Bool = true) {
        let sought = filter.sought.map { SoughtValues($0, readingTitles: readsTitles) }
        guard !sought.contains(where: \.hasPattern) else { return nil }
        conditions = sought.map(Condition.init) + filter.terms.compactMap(Condition.init)
    }

    /// True if tokens decide all of a filter but its times: each term has tokens, and of what is sought something has to be there.
    public static func decides(_ filter: ResultFilter) -> Bool {
        let isBound = !filter.terms.isEmpty || filter.sought.contains { !$0.isNegated }
        return filter.terms.allSatisfy { Condition($0) != nil } && (isBound || filter.sought.isEmpty)
    }

    /// The question for requests whose devices the hub alone knows, and that have all else which is sought.
    public var possible: RequestQuery {
        var query = self
        query.conditions = conditions.filter { $0.isNegated || !$0.isPerson }
        query.conditions.append(Condition(alternatives: [[RequestTokens.Token(.broad)]], isNegated: false, isPerson: false))
        return query
    }

    /// The relation of a request to what is sought, as far as tokens tell.
    public func match(_ tokens: RequestTokens) -> RequestMatcher.Match {
        var (isPossible, namesPerson) = (false, false)
        for condition in conditions {
            if condition.isNegated {
                if condition.isFound(in: tokens.all) { return .none }
            } else if condition.isFound(in: tokens.all) {
                namesPerson =
                    namesPerson
                    || condition.alternatives.contains { $0.allSatisfy(\.kind.isPerson) && tokens.all.isSuperset(of: $0) }
            } else if condition.isPerson, tokens.all.contains(RequestTokens.Token(.broad)) {
                isPossible = true
            } else {
                return .none
            }
        }
        return isPossible ? .possible : .named(asPerson: namesPerson)
    }
}

extension RequestQuery.Condition {
    init(_ sought: SoughtValues) {
        var alternatives: [[RequestTokens.Token]] = []
        for value in sought.values {
            for kind in RequestTokens.Kind.allCases where sought.kinds.contains(.init(kind)) {
                for form in kind == .handle ? value.handles : [value.text] {
                    alternatives.append([RequestTokens.Token(kind, text: form)])
                }
            }
            if !value.words.isEmpty { alternatives.append(value.words.map { RequestTokens.Token(.word, text: $0) }) }
        }
        self.init(alternatives: alternatives, isNegated: sought.isNegated, isPerson: sought.isPerson)
    }

    /// The condition of a term that has tokens. Of one that is negated or has patterns there are none.
    init?(_ term: ResultFilter.Term) {
        guard !term.isNegated else { return nil }
        var alternatives: [[RequestTokens.Token]] = []
        for value in term.values {
            guard case .text(let text) = value else { return nil }
            let folded = FoldedText.bytes(text.span)
            switch term.subject {
            case .field(.request): alternatives += [.id, .whole].map { [RequestTokens.Token($0, text: folded)] }
            case .field(.source): alternatives.append([RequestTokens.Token(.source, text: folded)])
            case .field(.tenant): alternatives.append([RequestTokens.Token(.tenant, text: folded)])
            case .label(let name):
                alternatives.append([RequestTokens.Token(.label, text: FoldedText.bytes(name + "=") + folded)])
            case .field: return nil
            }
        }
        self.init(alternatives: alternatives, isNegated: false, isPerson: false)
    }
}
