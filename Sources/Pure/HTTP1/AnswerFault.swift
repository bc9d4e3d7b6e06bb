/// The reason why the bytes of a peer are not one valid HTTP/1.1 answer (RFC 9112). The names are bounded, so they may label a
/// metric.
public enum AnswerFault: String, Error, Hashable, Sendable, CaseIterable {
    /// The first line is not `HTTP-version SP status-code [SP [reason]]` (section 4).
    case invalidStatusLine
    /// The version is neither HTTP/1.0 nor HTTP/1.1 (section 2.3).
    case unsupportedVersion
    /// 101 Switching Protocols, which no request asked for (RFC 9110, section 15.2.2).
    case unexpectedUpgrade
    /// A CR without LF (section 2.2).
    case bareCarriageReturn
    /// A line that ends in LF alone (section 2.2). Tolerance is optional: what one reader takes for a value, another takes for two fields.
    case bareLineFeed
    /// A field name with no character, or with one that is not a token's (section 5).
    case invalidFieldName
    /// Whitespace between a field's name and its colon (section 5.1).
    case whitespaceBeforeColon
    /// A line that goes on with the one before (section 5.2), and is of blanks alone, or goes on with no field, or with one that says
    /// where the answer or the connection ends.
    case foldedField
    /// A control character in a field's value or a line without a colon (RFC 9110, section 5.5).
    case invalidFieldValue
    /// A Content-Length that is not digits, or too long for 64 bits (section 6.3).
    case invalidContentLength
    /// More than one Content-Length, and not all equal (section 6.3).
    case differingContentLengths
    /// Content-Length and Transfer-Encoding in one answer (section 6.1).
    case lengthAndTransferCoding
    /// A transfer coding other than one `chunked`, or any in an HTTP/1.0 answer (section 6.1).
    case unknownTransferCoding
    /// A chunk's size line or end that is not as section 7.1 says.
    case invalidChunk
    /// Status line and fields, interim answers included, above `AnswerLimits.headByteCount`.
    case headTooLarge
    /// More fields than `AnswerLimits.fieldCount`.
    case tooManyFields
    /// A body above `AnswerLimits.bodyByteCount`.
    case bodyTooLarge
    /// A chunk's size line above `AnswerLimits.chunkLineByteCount`.
    case chunkLineTooLong
    /// Trailer fields above `AnswerLimits.headByteCount`.
    case trailersTooLarge
    /// Bytes behind the answer's end, to which no request belongs (section 6.3).
    case bytesAfterAnswer
    /// The connection closed within the answer (section 8).
    case truncated

    /// True if the answer broke one of our limits rather than the protocol.
    public var isTooLarge: Bool {
        switch self {
        case .headTooLarge, .tooManyFields, .bodyTooLarge, .chunkLineTooLong, .trailersTooLarge: true
        case .invalidStatusLine, .unsupportedVersion, .unexpectedUpgrade, .bareCarriageReturn, .bareLineFeed, .invalidFieldName,
            .whitespaceBeforeColon, .foldedField, .invalidFieldValue, .invalidContentLength, .differingContentLengths,
            .lengthAndTransferCoding, .unknownTransferCoding, .invalidChunk, .bytesAfterAnswer, .truncated:
            false
        }
    }
}
