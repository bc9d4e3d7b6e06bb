/// A record of the control topic that cancels a request.
///
/// Its key says which, its value is a JSON object that says why, its timestamp is the moment: the request is meant that was published until
/// then. It stands in the topic's first partition, which every loop of every worker reads as a whole.
///
/// An operator's key is `cancel/` and the request's id: that cancels whatever has the id. That of anybody else is `cancel-own/` and a JSON
/// object with `id`, and with `source` or `tenant` or both, which a request must have as well. Whose it is belongs to the key, because
/// compaction keeps the last record of a key: a stranger's must not take the place of another's.
public struct CancelRecord: Sendable, Equatable {
    /// The partition of the control topic that holds such records.
    public static let partition: Int32 = 0
    /// The most bytes of a request's id: `TOPIC:PARTITION:OFFSET` is the longest.
    public static let maximumIDByteCount = 288

    /// The most bytes of a key: with an id, a source and a tenant, each as long as it may be, it is shorter.
    public static let maximumKeyByteCount = 2048

    /// The most characters of a reason that are kept.
    public static let maximumReasonLength = 100

    private static let prefix = "cancel/"
    private static let ownPrefix = "cancel-own/"

    /// The request's id.
    public var requestID: String
    /// Whose request it must be.
    public var scope: Scope
    /// The reason why it is cancelled.
    public var reason: String?

    /// Cancels a request.
    public init(requestID: String, scope: Scope = .all, reason: String? = nil) {
        self.requestID = requestID
        self.scope = scope
        self.reason = reason
    }

    /// Reads a record. Nil for one that is about something else, and for a tombstone, which takes nothing back.
    ///
    /// What the value says beside the reason does not matter: whoever writes the key means it. A key `cancel-own/` counts only as this
    /// version writes it: with a member unknown here it may mean fewer requests.
    public init?(key: Span<UInt8>, value: Span<UInt8>) {
        guard key.count <= Self.maximumKeyByteCount else { return nil }
        var bytes = ByteWriter()
        bytes.append(key)
        guard let text = String(validating: bytes.bytes, as: UTF8.self) else { return nil }
        if text.hasPrefix(Self.prefix) {
            self.init(requestID: String(text.dropFirst(Self.prefix.count)))
        } else if text.hasPrefix(Self.ownPrefix) {
            self.init(own: String(text.dropFirst(Self.ownPrefix.count)))
            guard self.key == bytes.bytes else { return nil }
        } else {
            return nil
        }
        guard (1...Self.maximumIDByteCount).contains(requestID.utf8.count) else { return nil }
        reason = Self.reason(value)
    }

    private init?(own text: String) {
        var document = JSONDocument()
        do { try document.read(text.utf8Span.span) } catch { return nil }
        let root = document.root
        guard let id = document.text("id", of: root) else { return nil }
        let scope = Scope(source: document.text("source", of: root), tenant: document.text("tenant", of: root))
        self.init(requestID: id, scope: scope)
    }

    private static func reason(_ value: Span<UInt8>) -> String? {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        return document.text("reason", of: document.root)
    }

    /// The record's key.
    public var key: [UInt8] {
        guard scope != .all else { return Array((Self.prefix + requestID).utf8) }
        var key = ByteWriter()
        key.append(Self.ownPrefix.utf8Span.span)
        key.append("{\"id\":", json: requestID)
        appendScope(to: &key)
        key.append("}")
        return key.bytes
    }

    /// The record's value, written at `moment`.
    public func value(at moment: Timestamp) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"schema_version\":1,\"request_id\":", json: requestID)
        appendScope(to: &json)
        json.append(",\"reason\":", json: reason)
        json.append(",\"at\":", moment: moment)
        json.append("}")
        return json.bytes
    }

    private func appendScope(to json: inout ByteWriter) {
        json.append(",\"source\":", json: scope.source)
        json.append(",\"tenant\":", json: scope.tenant)
    }
}
