import Basics
public import HubAuth
public import PushModel

extension HubClient {
    /// Writes a telemetry poll for a notification, `GET /messages/{id}`, in place of what `writer` held.
    ///
    /// - Parameters:
    ///   - notificationID: The id that the hub gave the send, as `HubAnswer.notificationID` shows it.
    ///   - now: Seconds since 1970, for the token.
    ///   - writer: Takes the request; empty afterwards when there is none.
    /// - Returns: The number of the token that was used; nil when no hub can have given such an id, so that there is nothing to ask.
    /// - Throws: `HubAuthError.signing` when OpenSSL cannot sign.
    public mutating func writeTelemetryRequest(
        of notificationID: Span<UInt8>, now: Int64, into writer: inout ByteWriter
    ) throws(HubAuthError) -> UInt64? {
        guard Self.isUsable(notificationID) else {
            writer.removeAll()
            return nil
        }
        return try write(telemetryHead.beforeID, id: notificationID, now: now, into: &writer)
    }

    /// Writes a feedback request: where the hub lists the devices that push services refused, `GET /feedbackcontainer`. It replaces what
    /// `writer` held.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970, for the token.
    ///   - writer: Takes the request.
    /// - Returns: The number of the token that was used.
    /// - Throws: `HubAuthError.signing` when OpenSSL cannot sign.
    public mutating func writeFeedbackRequest(now: Int64, into writer: inout ByteWriter) throws(HubAuthError) -> UInt64 {
        try write(telemetryHead.feedback, id: Span(), now: now, into: &writer)
    }

    /// Writes a question that sends nothing: what became of a notification that there never was, `GET /messages/{id}`. `HubFinding` tells
    /// what the answer means. It replaces what `writer` held.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970, for the token.
    ///   - writer: Takes the request.
    /// - Returns: The number of the token that was used.
    /// - Throws: `HubAuthError.signing` when OpenSSL cannot sign.
    public mutating func writeQuestion(now: Int64, into writer: inout ByteWriter) throws(HubAuthError) -> UInt64 {
        try write(telemetryHead.beforeID, id: Self.unknownID.span, now: now, into: &writer)
    }

    /// Writes a request that begins with `start` and an id. Returns the number of its token.
    private mutating func write(
        _ start: [UInt8], id: Span<UInt8>, now: Int64, into writer: inout ByteWriter
    ) throws(HubAuthError) -> UInt64 {
        writer.removeAll()
        let token = try tokens.token(now: now)
        writer.append(start.span)
        writer.append(id)
        writer.append(telemetryHead.behindID.span)
        writer.append(token.headerValue.span)
        writer.append("\r\n\r\n")
        return token.serial
    }

    /// An id of the right form that no hub has given.
    private static let unknownID = Array("00000000000000000000000000000000-pushfan-question".utf8)

    /// True if an id can be a path segment as it stands: 1 to 256 unreserved characters (RFC 3986, 2.3), not dots alone.
    ///
    /// The id came from outside; anything else in it could end the segment, the line or the request.
    static func isUsable(_ id: Span<UInt8>) -> Bool {
        guard (1...256).contains(id.count) else { return false }
        var isDotsOnly = true
        for index in id.indices {
            guard id[index].isUnreserved else { return false }
            if id[index] != UInt8(ascii: ".") { isDotsOnly = false }
        }
        return !isDotsOnly
    }
}

/// Text before and after the id in a telemetry poll. For a feedback request, the whole text.
struct TelemetryHead: Sendable {
    /// The first version that has telemetry and its error details ("Notification message telemetry").
    private static let oldestVersion = "2016-07"

    let beforeID: [UInt8]
    let feedback: [UInt8]
    let behindID: [UInt8]

    init(_ configuration: HubConfiguration, userAgent: String) {
        beforeID = Array("GET \(configuration.endpoint.pathPrefix)\(configuration.hub)/messages/".utf8)
        feedback = Array("GET \(configuration.endpoint.pathPrefix)\(configuration.hub)/feedbackcontainer".utf8)
        behindID =
            Array("?api-version=\(max(configuration.apiVersion, Self.oldestVersion))".utf8)
            + configuration.restOfHead(userAgent: userAgent)
    }
}
