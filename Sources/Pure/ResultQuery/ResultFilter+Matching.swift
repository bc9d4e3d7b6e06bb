public import PushModel

extension ResultFilter {
    /// True if a request that is due at this moment, in milliseconds since 1970, can be wanted for that.
    public func coversDue(_ moment: Int64) -> Bool { !isByPublication && covers(moment) }

    /// True if a result written at this moment, in milliseconds since 1970, can be wanted.
    public func covers(_ moment: Int64) -> Bool {
        moment >= since ?? .min && moment < until ?? .max
    }

    /// True if every term holds for the result in `document`. The time is not looked at.
    public func matches(_ document: JSONDocument) -> Bool {
        terms.allSatisfy { $0.holds(for: document) }
    }
}

extension ResultFilter.Term {
    /// True if the term holds for a result.
    func holds(for document: JSONDocument) -> Bool {
        var isFound = false
        subject.forEachValue(in: document) { node in
            isFound = isFound || accepts(node, in: document)
        }
        if !isFound, includesParts, let whole = document.member("parent", of: document.root),
            let id = document.member("id", of: whole)
        {
            isFound = accepts(id, in: document)
        }
        return isFound != isNegated
    }

    /// True if one of the values is this text. Whether the term is negated is not looked at.
    func accepts(_ text: Span<UInt8>) -> Bool {
        for value in values {
            switch value {
            case .text(let wanted): if text.equals(wanted.span) { return true }
            case .pattern(let pattern): if text.matches(pattern.span) { return true }
            case .number: continue
            }
        }
        return false
    }

    /// The same for the text or the number at a node.
    func accepts(_ node: JSONDocument.Node, in document: JSONDocument) -> Bool {
        if document.kind(of: node) == .string { return accepts(document.span(document.text(of: node))) }
        return document.integer(at: node).map(accepts) ?? false
    }

    /// The same for a number.
    func accepts(_ number: Int64) -> Bool {
        values.contains { value in
            if case .number(let comparison, let limit) = value { comparison.holds(number, against: limit) } else { false }
        }
    }
}

extension ResultFilter.Comparison {
    fileprivate func holds(_ number: Int64, against limit: Int64) -> Bool {
        switch self {
        case .equal: number == limit
        case .more: number > limit
        case .atLeast: number >= limit
        case .less: number < limit
        case .atMost: number <= limit
        }
    }
}

extension ResultFilter.Subject {
    /// Calls `body` with every value that a record has for the subject.
    fileprivate func forEachValue(in document: JSONDocument, perform body: (JSONDocument.Node) -> Void) {
        switch self {
        case .field(let field):
            for place in field.places { place.forEachValue(in: document, perform: body) }
        case .label(let name):
            guard let labels = document.member("labels", of: document.root) else { return }
            var isFound = false
            document.forEachMember(of: labels) { key, value in
                guard !isFound, document.isEqual(key, to: name) else { return }
                isFound = true
                body(value)
            }
        }
    }
}

extension ResultField.Place {
    func forEachValue(in document: JSONDocument, perform body: (JSONDocument.Node) -> Void) {
        forEachValue(in: document, at: document.member(member.name, of: document.root), perform: body)
    }

    /// The same for a record of which the member is known: its value, or nil for none.
    func forEachValue(in document: JSONDocument, at value: JSONDocument.Node?, perform body: (JSONDocument.Node) -> Void) {
        guard let value else { return }
        switch self {
        case .member: body(value)
        case .inner(_, let name): if let inner = document.member(name, of: value) { body(inner) }
        case .each(_, let name):
            document.forEachElement(of: value) { element in
                if let inner = document.member(name, of: element) { body(inner) }
            }
        }
    }
}
