/// A back end that has shown an API key.
struct Publisher: Sendable {
    /// The key's id, which is no secret.
    let keyID: String
    /// The tenant whose requests it publishes; nil where its requests name theirs.
    let tenant: String?
    /// The source of its requests.
    let source: String
    /// What it may do.
    let scopes: Set<Scope>
}

/// Something that a key may allow.
enum Scope: String, CaseIterable, Sendable {
    /// To publish to users, tags and devices.
    case publish = "publish"
    /// To publish to every device as well.
    case broadcast = "publish:broadcast"
    /// To read requests and results.
    case read = "read"
}
