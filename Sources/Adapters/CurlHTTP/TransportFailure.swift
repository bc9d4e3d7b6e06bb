public import HTTP1

/// The reason that an exchange ended without an answer, and how much of its request had left by then.
///
/// Holds no byte of a request or an answer.
public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause. Its `label` is bounded, so it may label a metric.
    public enum Cause: Hashable, Sendable {
        /// The host's name has no address.
        case resolve
        /// The host has only addresses that may not be called.
        case addressRefused
        /// The proxy cannot be found or refuses.
        case proxy
        /// No address accepts a connection.
        case connect
        /// Connecting took longer than `ConnectionPoolConfiguration.connectTimeout`.
        case connectTimeout
        /// The TLS handshake failed for another reason than the certificate.
        case tls
        /// The certificate is not of a trusted issuer, not of this host, or out of date.
        case certificate
        /// A new connection took no byte of the request.
        case sendFailed
        /// The exchange's deadline came.
        case timeout
        /// The peer or the network broke the connection.
        case reset
        /// The peer closed the connection in order, before a byte of the answer.
        case closedBeforeAnswer
        /// The answer is not valid HTTP.
        case invalidAnswer(AnswerFault)
        /// The answer is above the limits.
        case answerTooLarge
        /// The caller cancelled the exchange or closed the pool.
        case cancelled

        /// A short name in snake case.
        public var label: String {
            switch self {
            case .resolve: "resolve"
            case .addressRefused: "address_refused"
            case .proxy: "proxy"
            case .connect: "connect"
            case .connectTimeout: "connect_timeout"
            case .tls: "tls"
            case .certificate: "certificate"
            case .sendFailed: "send_failed"
            case .timeout: "timeout"
            case .reset: "reset"
            case .closedBeforeAnswer: "closed_before_answer"
            case .invalidAnswer: "invalid_answer"
            case .answerTooLarge: "answer_too_large"
            case .cancelled: "cancelled"
            }
        }
    }

    /// The cause.
    public let reason: Cause
    /// libcurl's error number (libcurl-errors(3)), or 0 when the fault was not found by libcurl.
    public let curlCode: Int32
    /// True if any byte of this request may have reached the peer. False: it is safe to send it again.
    public let requestBytesSent: Bool
    /// True if the whole request was handed to the connection.
    public let bodySent: Bool
    /// Host, port and what happened, for people, in at most 300 characters.
    public let detail: String

    /// A failure. Tests of other modules make them too.
    public init(reason: Cause, curlCode: Int32 = 0, requestBytesSent: Bool = false, bodySent: Bool = false, detail: String = "") {
        self.reason = reason
        self.curlCode = curlCode
        self.requestBytesSent = requestBytesSent
        self.bodySent = bodySent
        self.detail = detail
    }

    /// The reason's label and the detail.
    public var description: String { "\(reason.label): \(detail)" }
}
