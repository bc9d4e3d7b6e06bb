public import PushModel

/// A part of a result that many results have alike.
///
/// A million results have a few hundred endings. An index keeps each of these parts once, as an object with the members that make it,
/// and a filter is asked about the part instead of about every result. What is left of a filter are the terms about fields that differ
/// from result to result: ids and numbers.
public enum ResultFacet: Int64, Sendable, CaseIterable {
    /// The fate of the request, and the place of it.
    case ending = 1
    /// The publisher of it and the purpose, labels included.
    case sender = 2
    /// The worker that handled it, and the replay that it belongs to.
    case handling = 3

    /// Writes this part of a result: a result itself, as far as filters about the part go.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - writer: Gets one JSON object, the same bytes for the same part.
    public func write(of result: borrowing ResultMembers, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "{"))
        switch self {
        case .ending:
            result.copy([.state, .outcome, .kind, .hub, .hubState, .safety], to: &writer)
            result.copy(.error, names: ["code", "http_status"], to: &writer)
            result.copy(each: .sends, names: ["platform", "outcome", "http_status"], to: &writer)
            result.copy(.parts, names: [], to: &writer)
        case .sender:
            result.copy([.source, .tenant], to: &writer)
            result.copy(.origin, names: ["topic"], to: &writer)
            result.copy(whole: .labels, to: &writer)
        case .handling:
            result.copy(.worker, names: ["id"], to: &writer)
            result.copy(.replay, names: ["job_id", "actor", "generation"], to: &writer)
        }
        writer.append(UInt8(ascii: "}"))
    }
}

extension ResultField {
    /// The part of a result that decides about the field, or nil for one that differs from result to result.
    public var facet: ResultFacet? {
        switch self {
        case .state, .outcome, .error, .status, .safety, .hub, .platform, .kind, .hubState: .ending
        case .source, .tenant, .topic: .sender
        case .worker, .job, .actor, .generation: .handling
        case .request, .attempts, .took, .queued, .partition, .root, .parent: nil
        }
    }

    /// The fields that differ from result to result, each in one place.
    public static let singular = allCases.filter { $0.facet == nil }
}

extension ResultFilter {
    /// True if a term is about this part of a result.
    public func asks(about facet: ResultFacet) -> Bool {
        terms.contains { $0.subject.facet == facet }
    }

    /// True if the terms about a part of a result hold for it.
    ///
    /// - Parameters:
    ///   - part: What `ResultFacet.write` wrote.
    ///   - facet: Which part it is.
    /// - Returns: True also when there are none.
    public func matches(_ part: JSONDocument, as facet: ResultFacet) -> Bool {
        terms.allSatisfy { $0.subject.facet != facet || $0.holds(for: part) }
    }

    /// The terms about singular fields, each with its field.
    public var singularTerms: [(field: ResultField, term: Term)] {
        terms.compactMap { term in
            guard case .field(let field) = term.subject, field.facet == nil else { return nil }
            return (field, term)
        }
    }
}

extension ResultFilter.Subject {
    fileprivate var facet: ResultFacet? {
        switch self {
        case .field(let field): field.facet
        case .label: .sender
        }
    }
}

/// Copies some members of a result into another object: texts and numbers, of which alone a filter can ask.
extension ResultMembers {
    fileprivate func copy(_ members: [ResultMember], to writer: inout ByteWriter) {
        for member in members {
            if let value = value(of: member) { copy(value, as: member.name, to: &writer) }
        }
    }

    /// Members of an object in the result.
    fileprivate func copy(_ member: ResultMember, names: [StaticString], to writer: inout ByteWriter) {
        guard let object = begin(member, as: .object, in: &writer) else { return }
        copyObject(names, of: object, to: &writer)
    }

    /// Members of the objects of an array. Of equal ones, the first.
    fileprivate func copy(each member: ResultMember, names: [StaticString], to writer: inout ByteWriter) {
        guard let array = begin(member, as: .array, in: &writer) else { return }
        writer.append(UInt8(ascii: "["))
        var seen: [Range<Int>] = []
        document.forEachElement(of: array) { element in
            let end = writer.count
            if !seen.isEmpty { writer.append(UInt8(ascii: ",")) }
            let start = writer.count
            copyObject(names, of: element, to: &writer)
            let part = start..<writer.count
            if seen.contains(where: { writer.span.extracting($0).equals(writer.span.extracting(part)) }) {
                writer.cut(to: end)
            } else {
                seen.append(part)
            }
        }
        writer.append(UInt8(ascii: "]"))
    }

    /// A whole object of the result, as it was received.
    fileprivate func copy(whole member: ResultMember, to writer: inout ByteWriter) {
        guard let object = begin(member, as: .object, in: &writer) else { return }
        writer.append(document.span(document.text(of: object)))
    }

    /// Writes the name of a container, unless the result has none of that kind.
    private func begin(
        _ member: ResultMember, as kind: JSONDocument.Kind, in writer: inout ByteWriter
    ) -> JSONDocument.Node? {
        guard let node = value(of: member), document.kind(of: node) == kind else { return nil }
        writer.append(key: member.name)
        return node
    }

    private func copyObject(_ names: [StaticString], of object: JSONDocument.Node, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "{"))
        for name in names {
            if let value = document.member(name, of: object) { copy(value, as: name, to: &writer) }
        }
        writer.append(UInt8(ascii: "}"))
    }

    /// Copies what is text or number.
    private func copy(_ value: JSONDocument.Node, as name: StaticString, to writer: inout ByteWriter) {
        let kind = document.kind(of: value)
        guard kind == .string || kind == .number else { return }
        writer.append(key: name)
        writer.append(verbatim: value, in: document)
    }
}
