import CRDKafka

/// A client's report about itself.
public enum ClientEvent: Sendable {
    /// Information unless `isFatal`: the library goes on trying by itself.
    case error(KafkaError)
    /// The library's statistics, JSON as its `STATISTICS.md` describes it, every `statistics.interval.ms`.
    case statistics([UInt8])
    /// A line of the library's log.
    case log(LibraryLine)
}

/// A line of the library's log.
public struct LibraryLine: Sendable, Equatable {
    /// The severity as in syslog: 3 is an error, 4 a warning, 6 information, 7 debugging.
    public let level: Int
    /// The library's short name for the kind of line, such as `FAIL`.
    public let facility: String
    /// The line itself, without secrets.
    public let message: String
}

extension ClientEvent {
    var isStatistics: Bool {
        if case .statistics = self { true } else { false }
    }

    /// The client event that `event` holds, if it is one. The caller destroys `event`.
    init?(_ event: OpaquePointer, of client: ClientHandle) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_ERROR: self = .error(Self.error(event, of: client))
        case RD_KAFKA_EVENT_STATS:
            guard let json = rd_kafka_event_stats(event) else { return nil }
            self = .statistics(Array(String(cString: json).utf8))
        case RD_KAFKA_EVENT_LOG:
            guard let line = Self.logLine(event, of: client) else { return nil }
            if line.facility == "CLUSTERID", let error = client.clusterFailure { self = .error(error) } else { self = .log(line) }
        default: return nil
        }
    }

    private static func error(_ event: OpaquePointer, of client: ClientHandle) -> KafkaError {
        let code = rd_kafka_event_error(event)
        let message = rd_kafka_event_error_string(event).map { String(cString: $0) }
        return client.diagnosis.explain(
            .reported(code, message: message, by: client.pointer, isFatal: rd_kafka_event_error_is_fatal(event) != 0))
    }

    private static func logLine(_ event: OpaquePointer, of client: ClientHandle) -> LibraryLine? {
        var facility: UnsafePointer<CChar>?
        var message: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard rd_kafka_event_log(event, &facility, &message, &level) == 0, let facility, let message else { return nil }
        let line = LibraryLine(
            level: Int(level), facility: String(cString: facility), message: client.diagnosis.redact(String(cString: message)))
        return line.isAboutTheOtherSide ? nil : line
    }
}

extension LibraryLine {
    /// The partition that a consumer reads and that is missing, if the line says so: the library has no other word for it (librdkafka 2.0.2,
    /// `rd_kafka_toppar_enq_error`). Nil for any other line.
    public var missingPartition: TopicPartition? {
        guard facility == "ERROR",
            let end = [": topic does not exist", ": desired partition is "].lazy.compactMap({ message.firstRange(of: $0) }).first
        else { return nil }
        let name = message[..<end.lowerBound].split(separator: " ").suffix(2)
        guard name.count == 2, let topic = name.first, let number = name.last, number.first == "[", number.last == "]",
            let partition = Int32(number.dropFirst().dropLast())
        else { return nil }
        return TopicPartition(topic: String(topic), partition: partition)
    }

    /// True if the library complains of a property that only the other kind of client has. The user's properties serve both, so
    /// it is no news.
    var isAboutTheOtherSide: Bool {
        facility == "CONFWARN" && message.contains("property and will be ignored by this")
    }
}

extension KafkaError {
    /// Among `events` the error that says most about why no broker answers: a refusal, or else the last that is more than "all are down".
    static func worst(of events: [ClientEvent]) -> KafkaError? {
        var worst: KafkaError?
        for case .error(let error) in events {
            if error.isAuthentication || error.isFatal { return error }
            if !error.isAllBrokersDown || worst == nil { worst = error }
        }
        return worst
    }

    /// An error that the library reported by itself. A fatal one is replaced by its cause (`rd_kafka_fatal_error`, rdkafka.h).
    static func reported(_ code: rd_kafka_resp_err_t, message: String?, by client: OpaquePointer, isFatal: Bool) -> KafkaError {
        guard isFatal || code == RD_KAFKA_RESP_ERR__FATAL else { return KafkaError(code, message: message) }
        var reason = [CChar](repeating: 0, count: 512)
        let cause = rd_kafka_fatal_error(client, &reason, reason.count)
        guard cause != RD_KAFKA_RESP_ERR_NO_ERROR else { return KafkaError(code, message: message, isFatal: true) }
        return KafkaError(cause, message: text(reason), isFatal: true)
    }
}
