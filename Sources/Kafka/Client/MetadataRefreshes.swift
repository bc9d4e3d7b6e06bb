import CRDKafka
import Synchronization

/// Notices that a client asks brokers for its topics, beside what its owner asks.
///
/// The library does so when a broker says that a partition is not there, or not led by it, and says nothing (librdkafka 2.0.2,
/// `rd_kafka_fetch_reply_handle_partition_error`). A topic that is deleted and made again at once, and is soon longer than before, shows
/// itself by nothing else. It does so, too, when a broker connects, and once in `topic.metadata.refresh.interval.ms`.
final class MetadataRefreshes: Sendable {
    private struct State {
        /// The requests that were sent, and those of them that the owner asked for.
        var (sent, own) = (0, 0)
        /// The questions of the owner that have no answer yet.
        var open = 0
        /// The requests of the library that were taken.
        var taken = 0
    }

    /// Protects the counts. Nothing else is locked while it is held.
    private let state = Mutex(State())

    /// Watches the client that is made of `conf`. It is not retained: the client's handle holds it and destroys the client first.
    func register(in conf: OpaquePointer) {
        rd_kafka_conf_interceptor_add_on_new(conf, "pushfan", watchMetadata, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Counts a request. Called by the library's threads.
    fileprivate func noteSent() { state.withLock { $0.sent += 1 } }

    /// Asks a question of the owner's, which sends one request if it is answered.
    func asking(_ body: () -> rd_kafka_resp_err_t) -> rd_kafka_resp_err_t {
        state.withLock { $0.open += 1 }
        let code = body()
        state.withLock {
            $0.open -= 1
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { $0.own += 1 }
        }
        return code
    }

    /// Takes the requests of the library since the last call. Returns whether there was one.
    func take() -> Bool {
        state.withLock {
            let count = $0.sent - $0.own
            guard $0.open == 0, count > $0.taken else { return false }
            $0.taken = count
            return true
        }
    }
}

/// Kafka's number of a request for metadata (Kafka protocol, API keys).
private let metadataKey: Int16 = 3

private func watchMetadata(
    _ client: OpaquePointer?, configuration: OpaquePointer?, opaque: UnsafeMutableRawPointer?,
    reason: UnsafeMutablePointer<CChar>?, size: Int
) -> rd_kafka_resp_err_t {
    rd_kafka_interceptor_add_on_request_sent(client, "pushfan", noteRequest, opaque)
}

private func noteRequest(
    _ client: OpaquePointer?, socket: Int32, name: UnsafePointer<CChar>?, broker: Int32, kind: Int16, version: Int16,
    number: Int32, size: Int, opaque: UnsafeMutableRawPointer?
) -> rd_kafka_resp_err_t {
    if kind == metadataKey, let opaque { Unmanaged<MetadataRefreshes>.fromOpaque(opaque).takeUnretainedValue().noteSent() }
    return RD_KAFKA_RESP_ERR_NO_ERROR
}
