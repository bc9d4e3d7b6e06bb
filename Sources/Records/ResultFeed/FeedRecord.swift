import Kafka
import PushModel
import ResultQuery

/// One record of the results topic, or of another topic of results, as feeds and callbacks give it on. Immutable, and shared by all who get it.
public final class FeedRecord: Sendable {
    /// The record's key: the id of the request on the results topic.
    public let key: String
    /// The value on one line.
    public let line: [UInt8]
    /// The partition in which it stands.
    public let partition: Int32
    /// Its offset there.
    public let offset: Int64
    /// The time of writing, in milliseconds since 1970.
    public let timestamp: Int64
    /// The id of the result, which is the same for each repetition.
    public let resultID: String
    /// The id of the request.
    public let requestID: String
    /// The publisher of the request.
    public let source: String?
    /// The tenant of the request.
    public let tenant: String?
    /// `final`, `interim` or `outcome`.
    public let kind: String
    /// The state of the request.
    public let state: String
    /// The class of the outcome.
    public let outcome: String
    /// The hub's name.
    public let hub: String

    /// Reads a record, or returns nil for one that is no result. Fields of later versions are kept in `line`.
    ///
    /// - Parameters:
    ///   - key: The record's key.
    ///   - json: The record's value.
    ///   - partition: The partition in which it stands.
    ///   - offset: Its offset there.
    ///   - timestamp: The time of writing, in milliseconds since 1970.
    public init?(key: String, json: [UInt8], partition: Int32, offset: Int64, timestamp: Int64) {
        var document = JSONDocument()
        guard document.readResult(json.span) else { return nil }
        let root = document.root
        self.key = key
        line = json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        resultID = document.text("result_id", of: root) ?? ""
        requestID = document.text("request_id", of: root) ?? ""
        source = document.text("source", of: root)
        tenant = document.text("tenant", of: root)
        kind = document.text("kind", of: root) ?? "unknown"
        state = document.text("state", of: root) ?? "unknown"
        outcome = document.text("outcome", of: root) ?? "unknown"
        hub = document.text("hub", of: root) ?? ""
    }

    /// Reads a record of Kafka, or returns nil for one that is no result.
    convenience init?(_ record: borrowing ConsumedRecord) {
        guard let key = record.key, let value = record.value else { return nil }
        self.init(
            key: key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) },
            json: value.withUnsafeBufferPointer { Array($0) }, partition: record.partition, offset: record.offset,
            timestamp: record.timestamp ?? 0)
    }

    /// The bytes that it takes in memory, roughly.
    var byteCount: Int { line.count + key.utf8.count + 512 }
}
