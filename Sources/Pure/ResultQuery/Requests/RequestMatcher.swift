public import PushModel

/// Compares requests as they were published with the conditions of a filter. A matcher is made once and used for many records.
public struct RequestMatcher: Sendable {
    /// The relation of a request to what is sought.
    public enum Match: Sendable, Equatable {
        /// It is another one.
        case none
        /// It went to a tag or to all, and fits but for whom it went to, which the hub alone knows.
        case possible
        /// It fits. `asPerson` is true if a user, an installation or a device that was sought is named by its audience.
        case named(asPerson: Bool)
    }

    /// The filter.
    public let filter: ResultFilter
    private let sought: [SoughtValues]
    private let glance: RequestGlance

    /// A matcher for a filter.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - readsTitles: False for an asker who may not see titles: no word is one of a title.
    ///   - seeksPossible: False to rule out requests that are only possible as well.
    public init(_ filter: ResultFilter, readingTitles readsTitles: Bool = true, seekingPossible seeksPossible: Bool = true) {
        self.filter = filter
        sought = filter.sought.map { SoughtValues($0, readingTitles: readsTitles) }
        glance = RequestGlance(filter, readingTitles: readsTitles, seekingPossible: seeksPossible)
    }

    /// True if a record cannot match, as its bytes show without reading it. False in every doubt.
    ///
    /// Its headers may say its id and its source, so that conditions on these rule out nothing here.
    public func rulesOut(_ json: Span<UInt8>) -> Bool { glance.rulesOut(json, mayHaveHeaders: true) }

    /// True if a record cannot match, as its bytes and its headers show without reading it.
    ///
    /// - Parameters:
    ///   - json: The record's value.
    ///   - headers: The headers of the record that are known.
    /// - Returns: False in every doubt.
    public func rulesOut(_ json: Span<UInt8>, headers: borrowing RecordHeaders) -> Bool {
        glance.rulesOut(json, mayHaveHeaders: headers.value(.ceID) != nil || headers.value(.ceSource) != nil)
    }

    /// The relation of a request to the filter's `sought`, and to its terms that a request alone decides: its id, source, tenant, topic,
    /// partition, labels and replay. All others, times included, are not looked at.
    public func match(_ request: borrowing PushRequest, from topic: String, partition: Int32) -> Match {
        for term in filter.terms where !term.mayHold(for: request, from: topic, partition: partition) { return .none }
        guard !sought.isEmpty else { return .named(asPerson: false) }
        // At each condition, its bit.
        var found = [Bool](repeating: false, count: sought.count)
        var namesPerson = false
        let kinds = sought.reduce(into: RequestTokens.Kinds()) { $0.formUnion($1.kinds) }
        RequestTexts.forEach(of: request, among: kinds) { kind, text in
            for index in sought.indices
            where !found[index] && sought[index].accepts(text, of: kind) {
                found[index] = true
                if kind.isPerson, !sought[index].isNegated { namesPerson = true }
            }
        }
        if sought.contains(where: \.hasWords) {
            let words = RequestTexts.words(of: request)
            for index in sought.indices where !found[index] && sought[index].hasWords {
                found[index] = sought[index].accepts(words: words)
            }
        }
        var isPossible = false
        let isBroad = RequestTexts.isBroad(request)
        for index in sought.indices where found[index] == sought[index].isNegated {
            guard !sought[index].isNegated, sought[index].isPerson, isBroad else { return .none }
            isPossible = true
        }
        return isPossible ? .possible : .named(asPerson: namesPerson)
    }
}

extension ResultFilter.Term {
    /// False if a request shows that the term does not hold for it.
    fileprivate func mayHold(for request: borrowing PushRequest, from topic: String, partition: Int32) -> Bool {
        let document = request.document
        var isFound = false
        func compare(with text: JSONDocument.Text?) {
            if let text { isFound = isFound || accepts(document.span(text)) }
        }
        func compare(with name: StaticString, of object: JSONDocument.Node?) {
            guard let node = object.flatMap({ document.member(name, of: $0) }) else { return }
            isFound = isFound || accepts(node, in: document)
        }
        switch subject {
        case .field(.request):
            compare(with: request.id)
            compare(with: "id", of: request.parent)
        case .field(.source): compare(with: request.source)
        case .field(.tenant): compare(with: request.tenant)
        case .field(.topic): isFound = accepts(topic.utf8Span.span)
        case .field(.partition): isFound = accepts(Int64(partition))
        case .field(.root): compare(with: "root_request_id", of: request.replay)
        case .field(.parent): compare(with: "parent_request_id", of: request.replay)
        case .field(.job): compare(with: "job_id", of: request.replay)
        case .field(.actor): compare(with: "actor", of: request.replay)
        case .field(.generation): compare(with: "generation", of: request.replay)
        case .label(let name):
            guard let labels = request.labels else { break }
            document.forEachMember(of: labels) { key, value in
                if document.isEqual(key, to: name) { isFound = isFound || accepts(value, in: document) }
            }
        case .field: return true
        }
        return isFound != isNegated
    }
}
