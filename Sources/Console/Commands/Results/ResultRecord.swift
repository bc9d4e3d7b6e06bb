import Kafka
import PushModel
import ResultQuery

/// One record of the results topic, as far as lists need it (message contract, section 3.6).
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
    let replaySafety: String?
    let attemptCount: Int64
    let totalMilliseconds: Int64?
    /// The platforms that were called, each once.
    let platforms: [String]
    let worker: String?
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
        guard document.readResult(json.span) else { return nil }
        let root = document.root
        self.json = json
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        requestID = document.text("request_id", of: root) ?? ""
        kind = document.text("kind", of: root) ?? "unknown"
        state = document.text("state", of: root) ?? "unknown"
        outcome = document.text("outcome", of: root) ?? "unknown"
        hub = document.text("hub", of: root) ?? ""
        let error = document.member("error", of: root)
        errorCode = error.flatMap { document.text("code", of: $0) }
        errorMessage = error.flatMap { document.text("message", of: $0) }
        replaySafety = document.text("replay_safety", of: root)
        attemptCount = document.integer("attempt_count", of: root) ?? 0
        totalMilliseconds = document.member("timings", of: root).flatMap { document.integer("total_ms", of: $0) }
        platforms = Self.platforms(document)
        worker = document.member("worker", of: root).flatMap { document.text("id", of: $0) }
        at = document.text("at", of: root) ?? ""
    }

    private static func platforms(_ document: JSONDocument) -> [String] {
        var platforms: [String] = []
        guard let sends = document.member("sends", of: document.root) else { return [] }
        document.forEachElement(of: sends) { send in
            if let platform = document.text("platform", of: send), !platforms.contains(platform) { platforms.append(platform) }
        }
        return platforms
    }

    /// The value on one line; line ends can stand between JSON values only, never inside a string.
    var line: [UInt8] { json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } }

    /// An earlier result, or of two that were written at the same moment, one of them always.
    static func isOlder(_ left: ResultRecord, _ right: ResultRecord) -> Bool {
        (left.timestamp, left.partition, left.offset) < (right.timestamp, right.partition, right.offset)
    }
}
