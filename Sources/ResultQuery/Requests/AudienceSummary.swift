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
