/// A record of the control topic that cancels a request.
///
/// Its key is `cancel/` and the request's id, its value a JSON object that says why, its timestamp the moment: the request is meant that was
/// published until then. It stands in the topic's first partition, which every loop of every worker reads as a whole.
public struct CancelRecord: Sendable, Equatable {
    /// The partition of the control topic that holds such records.
    public static let partition: Int32 = 0
    /// The most bytes of a request's id: `TOPIC:PARTITION:OFFSET` is the longest.
    public static let maximumIDByteCount = 288

    /// The most characters of a reason that are kept.
    public static let maximumReasonLength = 100

    private static let prefix = "cancel/"

    /// The request's id.
    public var requestID: String
    /// The reason why it is cancelled.
    public var reason: String?

    /// Cancels a request.
    public init(requestID: String, reason: String? = nil) {
        self.requestID = requestID
        self.reason = reason
    }

    /// Reads a record. Nil for one that is about something else, and for a tombstone, which takes nothing back.
    ///
    /// What the value says beside the reason does not matter: whoever writes the key means it.
    public init?(key: Span<UInt8>, value: Span<UInt8>) {
        guard key.count > Self.prefix.utf8.count, key.count <= Self.prefix.utf8.count + Self.maximumIDByteCount else {
            return nil
        }
        var bytes = ByteWriter()
        bytes.append(key)
        guard let text = String(validating: bytes.bytes, as: UTF8.self), text.hasPrefix(Self.prefix) else { return nil }
        requestID = String(text.dropFirst(Self.prefix.count))
        reason = Self.reason(value)
    }

    private static func reason(_ value: Span<UInt8>) -> String? {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        guard let reason = document.member("reason", of: document.root), document.kind(of: reason) == .string else { return nil }
        return document.string(document.text(of: reason))
    }

    /// The record's key.
    public var key: [UInt8] { Array((Self.prefix + requestID).utf8) }

    /// The record's value, written at `moment`.
    public func value(at moment: Timestamp) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"schema_version\":1,\"request_id\":")
        json.append(json: requestID)
        if let reason {
            json.append(",\"reason\":")
            json.append(json: reason)
        }
        json.append(",\"at\":\"")
        json.append(moment)
        json.append("\"}")
        return json.bytes
    }
}
