import PushModel

/// The standing of a receiver at a moment.
struct ReceiverStatus: Sendable {
    var name: String
    /// The host that is called.
    var host: String
    /// `running`, `paused`, `disabled`, `away` or `waiting`.
    var state: String
    /// The partitions that this process reads for it.
    var partitions: Int
    var inFlight: Int
    /// Results that wait for another attempt.
    var waiting: Int
    /// The time since the oldest result in memory was written.
    var oldestMilliseconds: Int64
    /// Results behind its position in this process's partitions, or nil where that is not known.
    var behind: Int64?
    /// The end of the last call that was in vain, and its moment, or nil while there was none.
    var lastFailure: (words: String, at: Int64)?
    /// The calls so far, by the word of their answers.
    var calls: [(name: String, count: Int)]

    /// The standing as a JSON object.
    var json: [UInt8] {
        var object = JSONObject([
            "name": name, "host": host, "state": state, "partitions": partitions, "in_flight": inFlight, "waiting": waiting,
            "oldest_waiting_seconds": Int(oldestMilliseconds / 1000), "behind": behind.map { Int(clamping: $0) },
            "last_failure": lastFailure?.words, "last_failure_at": lastFailure.map { Self.moment($0.at) },
        ])
        object.add("calls", counts: calls)
        return object.bytes
    }

    private static func moment(_ milliseconds: Int64) -> String {
        var writer = ByteWriter()
        writer.append(Timestamp(milliseconds: milliseconds))
        return writer.text
    }
}
