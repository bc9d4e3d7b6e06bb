import Kafka
import PushModel

/// One record of the results topic, as far as lists and filters need it (message contract, section 3.6).
struct ResultRecord: Sendable {
    /// The record's value.
    let json: [UInt8]
    /// Where the result stands.
    let partition: Int32
    let offset: Int64
    /// When it was written, in milliseconds since 1970.
    let timestamp: Int64

    let requestID: String
    let kind: String
    let state: String
    let outcome: String
    let hub: String
    let errorCode: String?
    let errorMessage: String?
    let attemptCount: Int64
    let at: String

    /// Reads a record; nil for one that is no result.
    init?(_ record: borrowing ConsumedRecord) {
        guard let value = record.value else { return nil }
        let json = value.withUnsafeBufferPointer { Array($0) }
        self.init(json: json, partition: record.partition, offset: record.offset, timestamp: record.timestamp ?? 0)
    }

    /// Reads a value; nil for one that is no result. What a later version adds is kept in `json`.
    init?(json: [UInt8], partition: Int32, offset: Int64, timestamp: Int64) {
        var document = JSONDocument()
        do { try document.read(json.span) } catch { return nil }
        let root = document.root
        guard document.kind(of: root) == .object, let id = document.text("request_id", of: root) else { return nil }
        self.json = json
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        requestID = id
        kind = document.text("kind", of: root) ?? "unknown"
        state = document.text("state", of: root) ?? "unknown"
        outcome = document.text("outcome", of: root) ?? "unknown"
        hub = document.text("hub", of: root) ?? ""
        let error = document.member("error", of: root)
        errorCode = error.flatMap { document.text("code", of: $0) }
        errorMessage = error.flatMap { document.text("message", of: $0) }
        attemptCount = document.integer("attempt_count", of: root) ?? 0
        at = document.text("at", of: root) ?? ""
    }

    /// The value on one line; line ends can stand between JSON values only, never inside a string.
    var line: [UInt8] { json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } }
}

extension JSONDocument {
    /// The string member `name`, or nil.
    func text(_ name: StaticString, of node: Node) -> String? {
        guard let value = member(name, of: node), kind(of: value) == .string else { return nil }
        return string(text(of: value))
    }

    /// The integer member `name`, or nil.
    func integer(_ name: StaticString, of node: Node) -> Int64? {
        member(name, of: node).flatMap { integer(at: $0) }
    }
}
