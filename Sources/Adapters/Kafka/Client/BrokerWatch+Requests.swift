import CRDKafka

extension BrokerWatch {
    /// Hears of every request and answer of the client that is made with `conf`. The watch is not retained: the client's handle holds it and
    /// destroys the client first.
    func register(in conf: OpaquePointer) {
        rd_kafka_conf_interceptor_add_on_new(conf, "pushfan-watch", watchAnswers, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate static func from(_ opaque: UnsafeMutableRawPointer) -> BrokerWatch {
        Unmanaged<BrokerWatch>.fromOpaque(opaque).takeUnretainedValue()
    }
}

private func watchAnswers(
    _ client: OpaquePointer?, configuration: OpaquePointer?, opaque: UnsafeMutableRawPointer?,
    reason: UnsafeMutablePointer<CChar>?, size: Int
) -> rd_kafka_resp_err_t {
    let sent = rd_kafka_interceptor_add_on_request_sent(client, "pushfan-watch", hearRequest, opaque)
    let received = rd_kafka_interceptor_add_on_response_received(client, "pushfan-watch", hearResponse, opaque)
    return sent == RD_KAFKA_RESP_ERR_NO_ERROR ? received : sent
}

private func hearRequest(
    _ client: OpaquePointer?, socket: Int32, name: UnsafePointer<CChar>?, broker: Int32, kind: Int16, version: Int16,
    number: Int32, size: Int, opaque: UnsafeMutableRawPointer?
) -> rd_kafka_resp_err_t {
    if let opaque { BrokerWatch.from(opaque).noteRequest(kind: kind) }
    return RD_KAFKA_RESP_ERR_NO_ERROR
}

/// Hears also of requests that the library answers itself, when a connection breaks or time is up.
private func hearResponse(
    _ client: OpaquePointer?, socket: Int32, name: UnsafePointer<CChar>?, broker: Int32, kind: Int16, version: Int16,
    number: Int32, size: Int, roundTrip: Int64, error: rd_kafka_resp_err_t, opaque: UnsafeMutableRawPointer?
) -> rd_kafka_resp_err_t {
    guard let opaque else { return RD_KAFKA_RESP_ERR_NO_ERROR }
    switch error {
    case RD_KAFKA_RESP_ERR_NO_ERROR: BrokerWatch.from(opaque).noteResponse(kind: kind)
    case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TIMED_OUT: BrokerWatch.from(opaque).noteUnanswered()
    default: break
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR
}
