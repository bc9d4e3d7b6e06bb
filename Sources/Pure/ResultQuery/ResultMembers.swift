public import PushModel

/// A member of a result itself that a filter can ask for, or that has such members inside.
enum ResultMember: Int, CaseIterable {
    case state, outcome, kind, hub, hubState, safety, error, sends, parts
    case source, tenant, origin, labels
    case worker, replay
    case request, attempts, timings

    var name: StaticString {
        switch self {
        case .state: "state"
        case .outcome: "outcome"
        case .kind: "kind"
        case .hub: "hub"
        case .hubState: "hub_state"
        case .safety: "replay_safety"
        case .error: "error"
        case .sends: "sends"
        case .parts: "parts"
        case .source: "source"
        case .tenant: "tenant"
        case .origin: "origin"
        case .labels: "labels"
        case .worker: "worker"
        case .replay: "replay"
        case .request: "request_id"
        case .attempts: "attempt_count"
        case .timings: "timings"
        }
    }
}

/// A result and its members, which are found in one walk. To ask for a part or a value is no search then.
public struct ResultMembers: Sendable {
    private static let names = MemberNames(ResultMember.allCases.map(\.name))

    /// Each singular field has one place.
    private static let places = ResultField.singular.map { $0.places[0] }

    /// The result.
    public private(set) var document = JSONDocument()
    private var values = [JSONDocument.Node?](repeating: nil, count: ResultMember.allCases.count)

    /// No result yet.
    public init() {}

    /// Reads a record of the results topic.
    ///
    /// - Parameter json: The record's value.
    /// - Returns: True for a result, as of `JSONDocument.readResult`.
    public mutating func read(_ json: Span<UInt8>) -> Bool {
        do { try document.read(json, namingDuplicates: false) } catch { return false }
        Self.names.find(of: document.root, in: document, to: &values)
        return value(of: .request).map { document.kind(of: $0) == .string } ?? false
    }

    /// The value of a member, or nil when there is none.
    func value(of member: ResultMember) -> JSONDocument.Node? { values[member.rawValue] }

    /// The offset of the request in its partition, or nil when the result does not name it.
    public var originOffset: Int64? {
        value(of: .origin).flatMap { document.text("offset", of: $0) }.flatMap { Int64($0) }
    }

    /// The value of a singular field by its place in `ResultField.singular`, or nil where there is none.
    public func value(ofSingular index: Int) -> JSONDocument.Node? {
        var found: JSONDocument.Node?
        let place = Self.places[index]
        place.forEachValue(in: document, at: value(of: place.member)) { found = found ?? $0 }
        return found
    }
}
