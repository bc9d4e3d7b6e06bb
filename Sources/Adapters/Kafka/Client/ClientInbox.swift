import CRDKafka
import Synchronization

/// Collects what a producer's callbacks report, for whoever asks next.
///
/// The callbacks run in the thread that polls, flushes or commits; the lock makes it right from any other too. Bounded: without a reader,
/// the oldest events go and are counted.
final class ClientInbox: Sendable {
    private struct State {
        var events: [ClientEvent] = []
        var droppedCount = 0
        var failures = DeliveryFailures()
    }

    private static let capacity = 256
    /// The delivery reports that are still to come.
    let reports = OpenReports()
    private let diagnosis: Diagnosis
    /// The requests with records that have left the client.
    private let sentRequests = Atomic<UInt64>(0)
    /// Protects events and failures. Nothing else is locked while it is held.
    private let state = Mutex(State())

    init(_ diagnosis: Diagnosis) { self.diagnosis = diagnosis }

    /// The inbox behind the library's opaque pointer.
    static func from(_ opaque: UnsafeMutableRawPointer) -> ClientInbox {
        Unmanaged<ClientInbox>.fromOpaque(opaque).takeUnretainedValue()
    }

    /// Puts the callbacks into `conf`. The inbox is not retained: the client's handle holds it and destroys the client first.
    func register(in conf: OpaquePointer) {
        rd_kafka_conf_set_opaque(conf, Unmanaged.passUnretained(self).toOpaque())
        rd_kafka_conf_set_dr_msg_cb(conf, receiveDeliveryReport)
        rd_kafka_conf_set_error_cb(conf, receiveError)
        rd_kafka_conf_set_stats_cb(conf, receiveStatistics)
        rd_kafka_conf_interceptor_add_on_new(conf, "pushfan", watchRequests, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The requests with records that have left the client by now. The one of a record is counted before the record's report comes.
    var sentCount: UInt64 { sentRequests.load(ordering: .acquiring) }

    /// Counts a request with records. Called by the library's threads.
    func noteSent() { sentRequests.add(1, ordering: .releasing) }

    /// Notes the id of the cluster that the client works with now.
    func saw(cluster id: String) { diagnosis.watch?.saw(cluster: id) }

    func receive(_ event: ClientEvent) {
        guard let event = redacted(event) else { return }
        state.withLock {
            // Nobody wants old statistics when there are new ones.
            if event.isStatistics { $0.events.removeAll(where: \.isStatistics) }
            if $0.events.count >= Self.capacity {
                $0.events.removeFirst()
                $0.droppedCount += 1
            }
            $0.events.append(event)
        }
    }

    func receive(failure code: rd_kafka_resp_err_t, topic: String) {
        let error = KafkaError(
            code, message: "a record for '\(topic)' was not written: \(String(cString: rd_kafka_err2str(code)))")
        state.withLock {
            $0.failures.count += 1
            if $0.failures.first == nil { $0.failures.first = error }
        }
    }

    /// Tells the report `number` what became of its record (`rd_kafka_message_status`, rdkafka.h).
    func receive(
        report number: UInt, of message: UnsafePointer<rd_kafka_message_t>, in topic: String, by client: OpaquePointer
    ) {
        let status = rd_kafka_message_status(message)
        guard status != RD_KAFKA_MSG_STATUS_PERSISTED else {
            let partition = TopicPartition(topic: topic, partition: message.pointee.partition)
            return reports.complete(number, persistedIn: partition, at: message.pointee.offset)
        }
        let reason = diagnosis.explain(.reported(message.pointee.err, message: nil, by: client, isFatal: false))
        // The library takes NOT_LEADER for a proof. A broker that stops gives that answer for a record that it has written.
        let isRefused =
            reason.refusesRecords || reason.isAuthorization || reason.isUnknownTopicOrPartition || reason.isNotEnoughReplicas
        if status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED, isRefused || reports.isUnsent(number, sentCount: sentCount) {
            let error = reason.saying("a record for '\(topic)' was not written: \(reason.message)")
            reports.complete(number, delivery: .notPersisted(error))
        } else {
            let error = reason.saying("a record for '\(topic)' was perhaps not written: \(reason.message)")
            reports.complete(number, delivery: .possiblyPersisted(error))
        }
    }

    /// Removes and returns the oldest event.
    func next() -> ClientEvent? {
        state.withLock { state in
            if state.droppedCount > 0 {
                let message = "\(state.droppedCount) older events were dropped unread"
                state.droppedCount = 0
                return .log(LibraryLine(level: 4, facility: "INBOX", message: message))
            }
            return state.events.isEmpty ? nil : state.events.removeFirst()
        }
    }

    /// The error among the events that says most about why no broker answers. The events stay.
    var worstError: KafkaError? { state.withLock { KafkaError.worst(of: $0.events) } }

    /// The records that were not written since the last `resetFailures`.
    var failures: DeliveryFailures { state.withLock { $0.failures } }

    func resetFailures() { state.withLock { $0.failures = DeliveryFailures() } }

    private func redacted(_ event: ClientEvent) -> ClientEvent? {
        switch event {
        case .error(let error): .error(diagnosis.explain(error))
        case .statistics: event
        case .log(let line):
            line.isAboutTheOtherSide
                ? nil : .log(LibraryLine(level: line.level, facility: line.facility, message: diagnosis.redact(line.message)))
        }
    }
}

private func receiveDeliveryReport(
    _ client: OpaquePointer?, message: UnsafePointer<rd_kafka_message_t>?, opaque: UnsafeMutableRawPointer?
) {
    guard let client, let message, let opaque else { return }
    let record = message.pointee
    // Nothing is to be said of a record that was written and has no report, as most have none.
    guard record.err != RD_KAFKA_RESP_ERR_NO_ERROR || record._private != nil else { return }
    let inbox = ClientInbox.from(opaque)
    let topic = record.rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? "?"
    if record.err != RD_KAFKA_RESP_ERR_NO_ERROR { inbox.receive(failure: record.err, topic: topic) }
    guard let number = record._private else { return }
    inbox.receive(report: UInt(bitPattern: number), of: message, in: topic, by: client)
}

private func watchRequests(
    _ client: OpaquePointer?, configuration: OpaquePointer?, opaque: UnsafeMutableRawPointer?,
    reason: UnsafeMutablePointer<CChar>?,
    size: Int
) -> rd_kafka_resp_err_t {
    rd_kafka_interceptor_add_on_request_sent(client, "pushfan", receiveSentRequest, opaque)
}

private func receiveSentRequest(
    _ client: OpaquePointer?, socket: Int32, name: UnsafePointer<CChar>?, broker: Int32, kind: Int16, version: Int16,
    number: Int32,
    size: Int, opaque: UnsafeMutableRawPointer?
) -> rd_kafka_resp_err_t {
    // The number of Produce (Kafka protocol guide, API keys).
    if kind == 0, let opaque { ClientInbox.from(opaque).noteSent() }
    return RD_KAFKA_RESP_ERR_NO_ERROR
}

private func receiveError(
    _ client: OpaquePointer?, code: Int32, reason: UnsafePointer<CChar>?, opaque: UnsafeMutableRawPointer?
) {
    guard let client, let opaque else { return }
    let error = KafkaError.reported(
        rd_kafka_resp_err_t(code), message: reason.map { String(cString: $0) }, by: client, isFatal: false)
    ClientInbox.from(opaque).receive(.error(error))
}

private func receiveStatistics(
    _ client: OpaquePointer?, json: UnsafeMutablePointer<CChar>?, size: Int, opaque: UnsafeMutableRawPointer?
) -> Int32 {
    guard let json, let opaque else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: json, count: size)
    ClientInbox.from(opaque).receive(.statistics(Array(bytes)))
    return 0  // The library frees the text.
}
