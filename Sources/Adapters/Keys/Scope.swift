/// An operation that a key permits.
public enum Scope: String, CaseIterable, Sendable {
    /// Publish requests, and read their outcomes.
    case publish = "publish"
    /// Publish to every device, or to all of a platform.
    case broadcast = "publish:broadcast"
    /// Read results that others' requests have, too.
    case read = "read"
    /// Read what requests and dead letters contain, too.
    case payload = "read:payload"
    /// Plan, run, pause, resume and stop replays.
    case replay = "replay"
    /// Hold, limit and cancel requests.
    case operate = "operate"
    /// Register, change, list and remove devices of any user.
    case register = "register"
    /// Read the handles of devices, too.
    case handles = "register:handles"

    /// Reads scopes that commas separate, or returns nil for none, an unknown one, or the same one twice.
    public static func set(_ text: some StringProtocol) -> Set<Scope>? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let scopes = Set(words.compactMap { Scope(rawValue: String($0)) })
        return scopes.count == words.count ? scopes : nil
    }

    /// Scopes as text, in the order of the cases.
    public static func text(_ scopes: Set<Scope>) -> String {
        allCases.filter(scopes.contains).map(\.rawValue).joined(separator: ",")
    }
}
