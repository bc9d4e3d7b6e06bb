public import PushModel

/// The audience of a request in short: whom it was published to.
public struct AudienceSummary: Sendable, Equatable {
    /// The kinds of audiences.
    public enum Kind: String, Sendable, CaseIterable {
        case all, users, installations, devices, tags, expression
    }

    /// The most names that are kept.
    public static let nameLimit = 3

    /// The kind.
    public var kind: Kind
    /// The number of users, installations, devices or tags. 1 for all and for an expression.
    public var count: Int
    /// The first users, installations or tags, or the expression. Never handles of devices.
    public var names: [String]

    /// An audience.
    public init(_ kind: Kind, count: Int = 1, names: [String] = []) {
        (self.kind, self.count, self.names) = (kind, count, Array(names.prefix(Self.nameLimit)))
    }

    /// True if the hub alone knows whose devices it reaches.
    public var isBroad: Bool { kind == .all || kind == .tags || kind == .expression }
}

extension AudienceSummary {
    /// The most characters of an expression that a text shows.
    private static let expressionLimit = 128

    /// The audience as people say it: `alice`, `3 users`, `tags News, Sport and 3 more`. On one line.
    public var text: String {
        switch kind {
        case .all: return "all"
        case .users:
            if count == 1, let name = names.first { return DisplayText.line(name, limit: DisplayText.titleLimit) ?? "1 user" }
            return counted("user")
        case .installations: return counted("installation")
        case .devices: return counted("device")
        case .expression: return names.first.flatMap { DisplayText.line($0, limit: Self.expressionLimit) } ?? "an expression"
        case .tags: return tagText
        }
    }

    private func counted(_ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private var tagText: String {
        guard !names.isEmpty else { return counted("tag") }
        let shown = count <= Self.nameLimit ? names : Array(names.prefix(Self.nameLimit - 1))
        let more = count > shown.count ? " and \(count - shown.count) more" : ""
        return (count == 1 ? "tag " : "tags ") + shown.joined(separator: ", ") + more
    }

    /// The same without the names of users and installations, but for those that the asker named.
    ///
    /// - Parameter names: The names that the asker gave, in any case.
    /// - Returns: The audience that may be shown.
    public func masked(revealing names: [String]) -> AudienceSummary {
        guard kind == .users || kind == .installations else { return self }
        let given = Set(names.map { FoldedText.bytes($0) })
        var masked = self
        masked.names = self.names.filter { given.contains(FoldedText.bytes($0)) }
        return masked
    }

    /// The audience as JSON, with its text for people.
    public var json: [UInt8] { json(withText: true) }

    func json(withText hasText: Bool) -> [UInt8] {
        JSONObject(["kind": kind.rawValue, "count": count, "names": names, "text": hasText ? text : nil]).bytes
    }

    /// Reads what `json` has written. Nil for anything else.
    public init?(_ document: JSONDocument, at node: JSONDocument.Node) {
        guard let kind = document.text("kind", of: node).flatMap(Kind.init(rawValue:)),
            let count = document.integer("count", of: node).flatMap({ Int(exactly: $0) }), count >= 0
        else { return nil }
        var names: [String] = []
        if let list = document.member("names", of: node) {
            document.forEachElement(of: list) { name in
                if names.count < Self.nameLimit, document.kind(of: name) == .string {
                    names.append(document.string(document.text(of: name)))
                }
            }
        }
        self.init(kind, count: count, names: names)
    }

    /// Reads the audience of a request.
    init(of request: borrowing PushRequest) {
        let document = request.document
        func list(_ kind: Kind, of node: PushRequest.Node, named: Bool = true) -> AudienceSummary {
            var names: [String] = []
            var elements = document.children(of: node)
            while named, names.count < Self.nameLimit, let (_, name) = elements.next(in: document) {
                names.append(document.string(document.text(of: name)))
            }
            return AudienceSummary(kind, count: document.childCount(of: node), names: names)
        }
        switch request.audience {
        case .none: self.init(.users, count: 0)
        case .broadcast: self.init(.all)
        case .users(let node): self = list(.users, of: node)
        case .installations(let node): self = list(.installations, of: node)
        case .categories(let node): self = list(.tags, of: node)
        case .devices(let node): self = list(.devices, of: node, named: false)
        case .tagExpression(let text):
            let expression = DisplayText.line(document.string(text), limit: DisplayText.titleLimit)
            self.init(.expression, names: expression.map { [$0] } ?? [])
        }
    }
}
