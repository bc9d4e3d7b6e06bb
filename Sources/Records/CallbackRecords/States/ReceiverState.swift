import Basics
import PushModel

/// The decision about a receiver, apart from its file: a record of the topic of states, whose key is the receiver's name.
public struct ReceiverState: Sendable, Equatable {
    /// True if it gets nothing until it is resumed.
    public var paused: Bool
    /// The moment since which it gets nothing because it said so itself, in milliseconds since 1970. Nil if it did not.
    public var disabledAt: Int64?
    /// The reason for it, in the words of whoever decided.
    public var reason: String?
    /// The user, or the process, that decided.
    public var by: String?
    /// The moment of the decision, in milliseconds since 1970.
    public var at: Int64

    /// The most characters of a reason, and of whoever decided, that are kept.
    public static let maximumTextLength = 200

    /// A state. Longer texts are cut.
    public init(paused: Bool, disabledAt: Int64? = nil, reason: String? = nil, by: String? = nil, at: Int64) {
        (self.paused, self.disabledAt, self.at) = (paused, disabledAt, at)
        self.reason = reason.map { String($0.prefix(Self.maximumTextLength)) }
        self.by = by.map { String($0.prefix(Self.maximumTextLength)) }
    }

    /// True if it gets results.
    public var isRunning: Bool { !paused && disabledAt == nil }
}

// The form in Kafka.
extension ReceiverState {
    /// Reads a record's value, or returns nil for one that is none.
    public init?(json: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(json) } catch { return nil }
        let root = document.root
        guard let at = document.moment("at", of: root) else { return nil }
        self.init(
            paused: document.isTrue("paused", of: root), disabledAt: document.moment("disabled_at", of: root)?.milliseconds,
            reason: document.text("reason", of: root), by: document.text("by", of: root), at: at.milliseconds)
    }

    /// The record's value.
    ///
    /// - Parameter receiver: The receiver's name, for whoever looks at the topic.
    /// - Returns: A JSON object.
    public func json(of receiver: String) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"schema_version\":1,\"receiver\":", json: receiver)
        json.append(paused ? ",\"paused\":true" : ",\"paused\":false")
        json.append(",\"disabled_at\":", moment: disabledAt.map { Timestamp(milliseconds: $0) })
        json.append(",\"reason\":", json: reason)
        json.append(",\"by\":", json: by)
        json.append(",\"at\":", moment: Timestamp(milliseconds: at))
        json.append("}")
        return json.bytes
    }
}
