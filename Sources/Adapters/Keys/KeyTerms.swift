import Basics

/// The purpose and the lifetime of a key, which a person chooses.
public struct KeyTerms: Sendable, Equatable {
    /// The permitted operations, at least one.
    public var scopes: Set<Scope>
    /// The tenant of all that is published with it, or nil if requests name theirs.
    public var tenant: String?
    /// The source of all that is published with it, or nil for the key's own.
    public var source: String?
    /// Calls per second, or nil for no limit of its own.
    public var rate: Int?
    /// The time from which it is refused, in seconds since 1970, or nil for never.
    public var expiresAt: Int64?
    /// The owner, in words for people.
    public var comment: String?

    /// Terms with these scopes and nothing else.
    public init(_ scopes: Set<Scope>) { self.scopes = scopes }

    /// Calls per second that a key may have.
    public static let rates = 1...1_000_000
    /// The range of a key's times, in seconds since 1970. It ends with the year 9999.
    public static let moments: ClosedRange<Int64> = 0...253_402_300_799
    /// The rule for a tenant, for messages.
    public static let tenantRule = "1 to 63 lower-case letters, digits, '.', '_' and '-', of which the first is a letter or digit"
    /// The rule for a source, for messages.
    public static let sourceRule = "1 to 256 visible ASCII characters"
    /// The rule for a comment, for messages.
    public static let commentRule = UserName.addressableRule

    /// The first term that no key may have, or nil if all are right.
    public var fault: KeyField? {
        if scopes.isEmpty { return .scopes }
        if let tenant, !Self.isTenant(tenant) { return .tenant }
        if let source, !Self.isSource(source) { return .source }
        if let rate, !Self.rates.contains(rate) { return .rate }
        if let expiresAt, !Self.moments.contains(expiresAt) { return .expires }
        if let comment, !UserName.isAddressable(comment) { return .comment }
        return nil
    }

    private static func isTenant(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= 63, first.isSmallLetter || first.isDigit else { return false }
        return bytes.allSatisfy { $0.isSmallLetter || $0.isDigit || "._-".utf8.contains($0) }
    }

    private static func isSource(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// The fields of a key's line, in their order.
public enum KeyField: String, Sendable, CaseIterable {
    case id, sha256, scopes, created, tenant, source, rate, expires, revoked
    /// Last, because it may have blanks.
    case comment
}
