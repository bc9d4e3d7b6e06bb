import ResultQuery

/// The records that a search reads for a filter, and in which order. Without effects.
enum SearchPlan: Equatable {
    /// The results, by the moments of results.
    case results
    /// Everything that was published, by the moments of publication.
    case requests
    /// The requests alone that have no result and are in one of these states, by the moments of publication.
    case open(Set<RequestWhereabouts.State>)
    /// The dead letters, by the moments at which they were given up.
    case deadLetters

    /// The word of a row for a dead letter.
    static let deadLetter = "dead_letter"
    /// The states in which a request has a record that waits.
    private static let openStates: Set<RequestWhereabouts.State> = [.published, .inWork, .delayed, .held, .inParts]
    /// The words for requests without a result.
    private static let openWords = Set(openStates.map(\.rawValue) + [RequestWhereabouts.State.done.rawValue, deadLetter])
    /// The fields of which a result alone says something.
    private static let resultFields: [ResultField] = [
        .state, .outcome, .error, .status, .safety, .platform, .attempts, .took, .queued, .kind, .hubState, .worker,
    ]

    /// The plan for a filter.
    init(_ filter: ResultFilter) {
        let states = filter.terms.filter { $0.subject == .field(.state) }.map { (term: $0, words: Self.openWords(of: $0)) }
        let isOpen = states.contains { !$0.words.isEmpty }
        if filter.sought.isEmpty, !isOpen, Self.resultFields.contains(where: { filter.mentions($0) }) {
            self = .results
            return
        }
        // Each of these terms names nothing but states without a result, and all of them hold.
        let narrow = states.filter { !$0.term.isNegated && $0.words.count == $0.term.values.count }.map { Set($0.words) }
        guard let first = narrow.first else {
            self = .requests
            return
        }
        let words = narrow.dropFirst().reduce(first) { $0.intersection($1) }
        let open = Set(words.compactMap { RequestWhereabouts.State(rawValue: $0) })
        if words == [Self.deadLetter] {
            self = .deadLetters
        } else {
            self = words.count == open.count && open.isSubset(of: Self.openStates) ? .open(open) : .requests
        }
    }

    /// The words of a term for requests without a result.
    private static func openWords(of term: ResultFilter.Term) -> [String] {
        term.values.compactMap { value in
            guard case .text(let bytes) = value else { return nil }
            let word = String(decoding: bytes, as: UTF8.self)
            return openWords.contains(word) ? word : nil
        }
    }
}

extension ResultFilter {
    /// True if some of its terms must be asked of the result of a request, or of where it is.
    var asksResults: Bool { terms.contains { !$0.isOfRequest } }

    /// True if a request alone shows of most that they are not wanted.
    var isSelective: Bool {
        sought.contains { !$0.isNegated } || terms.contains { !$0.isNegated && $0.isOfRequest }
    }

    /// True if a person or a device may be sought, of whom a send to a tag or to all says nothing.
    var seeksPerson: Bool {
        sought.contains { !$0.isNegated && [.user, .device, .anything].contains($0.subject) }
    }

    /// True if nothing matches that has no tenant.
    var requiresTenant: Bool { terms.contains { $0.subject == .field(.tenant) && !$0.isNegated } }

    /// True if an id is asked for as such.
    func namesRequest(_ id: String) -> Bool {
        names(.request, word: id)
            || sought.contains { condition in
                condition.subject == .anything && !condition.isNegated
                    && condition.values.contains { Sought.folded($0.text) == Sought.folded(id) }
            }
    }
}

extension ResultFilter.Term {
    /// True if a request alone decides it.
    fileprivate var isOfRequest: Bool {
        guard case .field(let field) = subject else { return true }
        switch field {
        case .request, .source, .tenant, .topic, .partition, .root, .parent, .job, .actor, .generation: return true
        default: return false
        }
    }
}

/// Compares values that are no requests with what is sought, by their bytes.
struct ByteMatcher {
    private struct Condition {
        let isNegated: Bool
        /// The pieces of each value, all of which have to be there.
        let values: [[[UInt8]]]
    }

    private let conditions: [Condition]

    /// A matcher for some conditions.
    init(_ sought: [Sought]) {
        conditions = sought.map { condition in
            // Nobody knows the kind of an audience that cannot be read.
            let values = condition.subject == .audience ? [] : condition.values
            return Condition(
                isNegated: condition.isNegated,
                values: values.map { value in
                    value.hasPattern
                        ? value.text.split(separator: "*").map { Self.folded(Array($0.utf8)) }
                        : [Self.folded(Array(value.text.utf8))]
                })
        }
    }

    /// True if every condition holds for a value.
    func matches(_ bytes: [UInt8]) -> Bool {
        guard !conditions.isEmpty else { return true }
        let text = Self.folded(bytes)
        return conditions.allSatisfy { condition in
            condition.isNegated
                != condition.values.contains { pieces in pieces.allSatisfy { $0.isEmpty || text.firstRange(of: $0) != nil } }
        }
    }

    /// The bytes with small letters of ASCII.
    private static func folded(_ bytes: [UInt8]) -> [UInt8] { bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}
