public import PushModel

/// The reason why no body could be made of a request's content, found before any call.
public struct PayloadError: Error, Sendable, Equatable {
    /// `payloadTooLarge` when there are more bytes than the platform or the hub takes, else `payloadRejected`.
    public var code: ErrorCode
    /// The JSON Pointer (RFC 6901) of the faulty field in the request.
    public var pointer: String
    /// A plain sentence that never holds the value of a field.
    public var sentence: String
    /// The bytes that were counted, if it is too large.
    public var measuredByteCount: Int?
    /// The bytes that are allowed, if it is too large.
    public var allowedByteCount: Int?

    /// Content that cannot be sent as it is.
    static func rejected(_ pointer: String, because sentence: String) -> Self {
        Self(code: .payloadRejected, pointer: pointer, sentence: sentence)
    }

    /// Content of more bytes than allowed.
    static func tooLarge(_ pointer: String, what: String, measured: Int, allowed: Int) -> Self {
        Self(
            code: .payloadTooLarge, pointer: pointer,
            sentence: "\(what) has \(measured) bytes; at most \(allowed) are allowed.",
            measuredByteCount: measured, allowedByteCount: allowed)
    }
}
