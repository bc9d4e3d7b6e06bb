public import HubAuth
public import PushModel

extension HubClient {
    /// Writes one call about devices as the bytes of an HTTP/1.1 request, in place of what `writer` held.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - now: Seconds since 1970, for the token.
    ///   - writer: Takes the request; empty afterwards when there is none.
    /// - Returns: The number of the token that was used; nil when no hub can have such an id or handle, so that there is nothing to ask.
    /// - Throws: `HubAuthError.signing` when OpenSSL cannot sign.
    public mutating func write(
        _ call: RegistrationCall, now: Int64, into writer: inout ByteWriter
    ) throws(HubAuthError) -> UInt64? {
        writer.removeAll()
        guard let target = call.target else { return nil }
        let token = try tokens.token(now: now)
        writer.append(call.method)
        writer.append(registrationHead.beforeTarget.span)
        writer.append(target.span)
        writer.append(registrationHead.version.span)
        if let next = call.token {
            writer.append("&continuationtoken=")
            writer.append(next.text)
        }
        writer.append(registrationHead.behindTarget.span)
        writer.append(token.headerValue.span)
        if let (type, body) = call.content {
            writer.append("\r\nContent-Type: ")
            writer.append(type)
            writer.append("\r\nContent-Length: ")
            writer.append(decimal: body.count)
            writer.append("\r\n\r\n")
            writer.append(body.span)
        } else if case .deleteRegistration(_, let etag) = call {
            writer.append("\r\nIf-Match: ")
            appendVersion(etag, to: &writer)
            writer.append("\r\n\r\n")
        } else {
            writer.append("\r\n\r\n")
        }
        return token.serial
    }

    /// The version in quotes, as the SDKs write it, or `*` for any. One that could end the line is none.
    private func appendVersion(_ etag: String?, to writer: inout ByteWriter) {
        let bytes = Array((etag ?? "").utf8)
        guard Self.isUsable(bytes.span) else {
            writer.append("*")
            return
        }
        writer.append("\"")
        writer.append(bytes.span)
        writer.append("\"")
    }
}
