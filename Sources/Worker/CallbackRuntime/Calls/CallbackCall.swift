import Basics
import Crypto
import CurlHTTP
import Delivery
import HTTP1
import PushModel
import ResultFeed
import Webhooks

/// Calls of receivers: the bytes of a request, and what its end came to.
struct CallbackCall: Sendable {
    /// The product and version that requests name.
    let userAgent: String

    /// Writes the request with which a result goes to a receiver, signed with each of its secrets (Standard Webhooks 1.0).
    ///
    /// - Parameters:
    ///   - record: The result.
    ///   - receiver: The receiver.
    ///   - time: The present moment, in milliseconds since 1970.
    /// - Returns: The request with its body.
    /// - Throws: A part that a head cannot have, or a signature that could not be made.
    func request(for record: FeedRecord, to receiver: Receiver, at time: Int64) throws -> [UInt8] {
        let (mediaType, body) = CallbackBody.make(
            result: record.line, resultID: record.resultID, requestID: record.requestID, source: record.source, kind: record.kind,
            at: record.timestamp, form: receiver.form)
        let id = Self.id(record.resultID)
        let content = WebhookSignature.content(id: id, timestamp: time / 1000, body: body)
        let macs = try receiver.secrets.map { secret in try HMACSHA256.code(of: content, key: secret.key) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + 512)
        try RequestHead.begin(method: "POST", target: receiver.url.target.utf8, host: receiver.url.authority, into: &bytes)
        try RequestHead.field("User-Agent", value: userAgent, into: &bytes)
        try RequestHead.field("Content-Type", value: mediaType, into: &bytes)
        try RequestHead.field("webhook-id", value: id, into: &bytes)
        try RequestHead.field("webhook-timestamp", value: "\(time / 1000)", into: &bytes)
        try RequestHead.field("webhook-signature", value: WebhookSignature.header(macs), into: &bytes)
        RequestHead.end(contentLength: body.count, into: &bytes)
        bytes.append(contentsOf: body)
        return bytes
    }

    /// The id of a result as a head can have it. The ids that pushfan makes stay as they are.
    private static func id(_ resultID: String) -> String {
        resultID.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? resultID : PercentEncoding.encoded(resultID)
    }
}

extension ReceiverURL {
    /// The scheme.
    var scheme: ConnectionPoolConfiguration.Scheme { isSecure ? .https : .http }
}

extension CallbackAnswer {
    /// The answer that a receiver gave, at a moment by which a date in it is read.
    init(_ answer: borrowing Answer, at time: Int64) {
        let wait = answer.value(of: "Retry-After").flatMap {
            RetryAfter.milliseconds(answer.bytes[$0], now: Timestamp(milliseconds: time))
        }
        self = .status(answer.status, retryAfter: wait)
    }

    /// The end of a call without an answer.
    init(_ failure: TransportFailure) {
        self = .failed(reason: failure.reason.label, mayHaveArrived: failure.requestBytesSent)
    }

    /// The word for it in metrics.
    var word: String {
        switch self {
        case .status(410, _): "410"
        case .status(429, _): "429"
        case .status(let status, _): "\(min(max(status / 100, 2), 5))xx"
        case .failed("timeout", _), .failed("connect_timeout", _): "timeout"
        case .failed: "failed"
        }
    }

    /// The words for a person.
    var text: String {
        switch self {
        case .status(let status, _): "status \(status)"
        case .failed(let reason, _): reason
        }
    }
}
