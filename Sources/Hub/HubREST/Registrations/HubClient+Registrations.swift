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
        if case .listRegistrations(_, _, _, let next?) = call {
            writer.append("&continuationtoken=")
            writer.append(next.text)
        }
        writer.append(registrationHead.behindTarget.span)
        writer.append(token.headerValue.span)
        switch call {
        case .putInstallation(let installation):
            let body = installation.body
            writer.append("\r\nContent-Type: application/json\r\nContent-Length: ")
            writer.append(decimal: body.count)
            writer.append("\r\n\r\n")
            writer.append(body.span)
        case .deleteRegistration(_, let etag):
            writer.append("\r\nIf-Match: ")
            appendVersion(etag, to: &writer)
            writer.append("\r\n\r\n")
        case .getInstallation, .deleteInstallation, .listRegistrations:
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

/// The text around the target in a call about devices.
struct RegistrationHead: Sendable {
    /// The first version that has installations.
    private static let oldestVersion = "2015-01"

    let beforeTarget: [UInt8]
    let version: [UInt8]
    let behindTarget: [UInt8]

    init(_ configuration: HubConfiguration, userAgent: String) {
        beforeTarget = Array(" \(configuration.endpoint.pathPrefix)\(configuration.hub)/".utf8)
        version = Array("api-version=\(max(configuration.apiVersion, Self.oldestVersion))".utf8)
        behindTarget = configuration.restOfHead(userAgent: userAgent)
    }
}

extension HubConfiguration {
    /// The head of a request without a body, from behind the target to the token.
    func restOfHead(userAgent: String) -> [UInt8] {
        Array(
            """
             HTTP/1.1\r
            Host: \(endpoint.authority)\r
            User-Agent: \(userAgent)\r
            Authorization:\u{20}
            """.utf8)
    }
}
