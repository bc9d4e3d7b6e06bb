public import Kafka
import PushModel
import ResultQuery

/// One record of the results topic, as far as lists and waiters need it (page Results).
public struct ResultRecord: Sendable {
    /// The record's value.
    public let json: [UInt8]
    /// The partition in which the result stands.
    public let partition: Int32
    /// The result's offset there.
    public let offset: Int64
    /// The time of writing, in milliseconds since 1970.
    public let timestamp: Int64

    /// The request's id.
    public let requestID: String
    /// The publisher of the request. With the id it names the request.
    public let source: String?
    /// The tenant of the request.
    public let tenant: String?
    /// `final`, `interim` or `outcome`, or `unknown` in a record without it.
    public let kind: String
    /// The state of the request, or `unknown` in a record without it.
    public let state: String
    /// The class of the outcome, or `unknown` in a record without it.
    public let outcome: String
    /// The hub's name, empty in a record without it.
    public let hub: String
    /// The error's code.
    public let errorCode: String?
    /// The error in a sentence.
    public let errorMessage: String?
    /// The safety of a replay (`ReplaySafety`).
    public let replaySafety: String?
    /// The attempts of the call that had most, or 0 when no call was made.
    public let attemptCount: Int64
    /// The number of accepted calls that get an outcome each, or 0 where none is to come.
    public let followedCount: Int64
    /// The duration of the request, in milliseconds.
    public let totalMilliseconds: Int64?
    /// The platforms that were called, each once.
    public let platforms: [String]
    /// The worker's name.
    public let worker: String?
    /// The time of writing by the worker's clock, empty in a record without it.
    public let at: String

    /// Reads a record, or returns nil for one that is no result.
    public init?(_ record: borrowing ConsumedRecord) {
        guard let value = record.value else { return nil }
        let json = value.withUnsafeBufferPointer { Array($0) }
        self.init(json: json, partition: record.partition, offset: record.offset, timestamp: record.timestamp ?? 0)
    }

    /// Reads a value, or returns nil for one that is no result. Fields of later versions are kept in `json`.
    ///
    /// - Parameters:
    ///   - json: The record's value.
    ///   - partition: The partition in which it stands.
    ///   - offset: Its offset there.
    ///   - timestamp: The time of writing, in milliseconds since 1970.
    public init?(json: [UInt8], partition: Int32, offset: Int64, timestamp: Int64) {
        var document = JSONDocument()
        guard document.readResult(json.span) else { return nil }
        let root = document.root
        self.json = json
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        requestID = document.text("request_id", of: root) ?? ""
        source = document.text("source", of: root)
        tenant = document.text("tenant", of: root)
        kind = document.text("kind", of: root) ?? "unknown"
        state = document.text("state", of: root) ?? "unknown"
        outcome = document.text("outcome", of: root) ?? "unknown"
        hub = document.text("hub", of: root) ?? ""
        let error = document.member("error", of: root)
        errorCode = error.flatMap { document.text("code", of: $0) }
        errorMessage = error.flatMap { document.text("message", of: $0) }
        replaySafety = document.text("replay_safety", of: root)
        attemptCount = document.integer("attempt_count", of: root) ?? 0
        followedCount =
            document.isTrue("followed", of: root)
            ? document.member("targets", of: root).flatMap { document.integer("accepted", of: $0) } ?? 0 : 0
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

    /// The value on one line. Line ends can stand between JSON values only, never inside a string.
    public var line: [UInt8] { json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } }

    /// True if the request repeated another one and was not sent.
    public var isRepetition: Bool { state == ResultState.duplicate.rawValue }

    /// True if the request that it repeats has the same id, so that there is, or was, another final result of this id. The
    /// message names the field at fault.
    public var repeatsItsID: Bool { isRepetition && errorMessage?.hasPrefix("/id: ") == true }

    /// An earlier result, or of two that were written at the same moment, one of them always.
    public static func isOlder(_ left: ResultRecord, than right: ResultRecord) -> Bool {
        (left.timestamp, left.partition, left.offset) < (right.timestamp, right.partition, right.offset)
    }
}
