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
    public func write(of result: JSONDocument, to writer: inout ByteWriter) {
        var members = FacetMembers(of: result)
        writer.append(UInt8(ascii: "{"))
        switch self {
        case .ending:
            members.add(["state", "outcome", "kind", "hub", "hub_state", "replay_safety"], to: &writer)
            members.add("error", names: ["code", "http_status"], to: &writer)
            members.add(each: "sends", names: ["platform", "outcome", "http_status"], to: &writer)
            members.add("parts", names: [], to: &writer)
        case .sender:
            members.add(["source", "tenant"], to: &writer)
            members.add("origin", names: ["topic"], to: &writer)
            members.addAll("labels", to: &writer)
        case .handling:
            members.add("worker", names: ["id"], to: &writer)
            members.add("replay", names: ["job_id", "actor", "generation"], to: &writer)
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

    /// The value of a singular field, or nil where there is none.
    public func value(in result: JSONDocument) -> JSONDocument.Node? {
        var found: JSONDocument.Node?
        for place in places { place.forEachValue(in: result) { found = found ?? $0 } }
        return found
    }
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
private struct FacetMembers {
    let result: JSONDocument
    private var isFirst = true

    init(of result: JSONDocument) { self.result = result }

    mutating func add(_ names: [StaticString], to writer: inout ByteWriter) {
        isFirst = copy(names, of: result.root, to: &writer, isFirst: isFirst)
    }

    /// Members of an object in the result.
    mutating func add(_ name: StaticString, names: [StaticString], to writer: inout ByteWriter) {
        guard let object = begin(name, as: .object, in: &writer) else { return }
        copyObject(names, of: object, to: &writer)
    }

    /// Members of the objects of an array. Of equal ones, the first.
    mutating func add(each name: StaticString, names: [StaticString], to writer: inout ByteWriter) {
        guard let array = begin(name, as: .array, in: &writer) else { return }
        writer.append(UInt8(ascii: "["))
        var seen: [[UInt8]] = []
        result.forEachElement(of: array) { element in
            var part = ByteWriter(capacity: 128)
            copyObject(names, of: element, to: &part)
            let bytes = part.bytes
            guard !seen.contains(bytes) else { return }
            if !seen.isEmpty { writer.append(UInt8(ascii: ",")) }
            writer.append(bytes.span)
            seen.append(bytes)
        }
        writer.append(UInt8(ascii: "]"))
    }

    /// A whole object of the result, as it was received.
    mutating func addAll(_ name: StaticString, to writer: inout ByteWriter) {
        guard let object = begin(name, as: .object, in: &writer) else { return }
        writer.append(result.span(result.text(of: object)))
    }

    /// Writes the name of a container, unless the result has none of that kind.
    private mutating func begin(
        _ name: StaticString, as kind: JSONDocument.Kind, in writer: inout ByteWriter
    ) -> JSONDocument.Node? {
        guard let node = result.member(name, of: result.root), result.kind(of: node) == kind else { return nil }
        append(name, to: &writer, isFirst: isFirst)
        isFirst = false
        return node
    }

    private func copyObject(_ names: [StaticString], of object: JSONDocument.Node, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "{"))
        _ = copy(names, of: object, to: &writer, isFirst: true)
        writer.append(UInt8(ascii: "}"))
    }

    /// Copies what is text or number of the named members. Says whether none was there.
    private func copy(
        _ names: [StaticString], of object: JSONDocument.Node, to writer: inout ByteWriter, isFirst: Bool
    ) -> Bool {
        var isFirst = isFirst
        for name in names {
            guard let value = result.member(name, of: object) else { continue }
            let kind = result.kind(of: value)
            guard kind == .string || kind == .number else { continue }
            append(name, to: &writer, isFirst: isFirst)
            isFirst = false
            let text = result.span(result.text(of: value))
            if kind == .string { writer.append(json: text) } else { writer.append(text) }
        }
        return isFirst
    }

    private func append(_ name: StaticString, to writer: inout ByteWriter, isFirst: Bool) {
        if !isFirst { writer.append(UInt8(ascii: ",")) }
        writer.append(UInt8(ascii: "\""))
        writer.append(name)
        writer.append("\":")
    }
}
