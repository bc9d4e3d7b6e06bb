package import HTTPServing
import PushModel

/// The hub's answer to a call, before it becomes HTTP.
package struct HubReply: Sendable {
    package var status: Int
    package var headers: HTTPFields = [:]
    package var body: [UInt8] = []
    /// The detail of an error. The tracking id and the time are added on writing.
    package var detail: String?
    /// The notification's id for the call's record.
    package var notificationID: String?
    package var rungCount = 0
    /// The push service's rule by which devices did not ring.
    package var brokenRule: String?
    package var collapseKey: String?

    /// An answer without a body.
    package static func empty(_ status: Int) -> HubReply { HubReply(status: status) }

    /// An error with a body of code and detail.
    package static func error(_ status: Int, detail: String) -> HubReply { HubReply(status: status, detail: detail) }

    package static func body(_ status: Int, bytes body: [UInt8], contentType: String) -> HubReply {
        HubReply(status: status, headers: ["Content-Type": contentType], body: body)
    }

    /// The complete response: the service's own header fields, and the error's body. Both name the tracking id.
    package func response(at moment: Moment, trackingID: String) -> HTTPServerResponse {
        var fields = HTTPFields(capacity: headers.all.count + 4)
        if headers["Content-Type"] == nil { fields.append("Content-Type", value: "application/xml; charset=utf-8") }
        for field in headers.all { fields.append(field.name, value: field.value) }
        fields.append("Server", value: "Microsoft-HTTPAPI/2.0")
        fields.append("TrackingId", value: trackingID)
        fields.append("x-ms-correlation-request-id", value: trackingID)
        guard let detail else { return HTTPServerResponse(status: status, headers: fields, body: body) }
        var writer = ByteWriter(capacity: 256)
        writer.append("<Error><Code>")
        writer.append(decimal: status)
        writer.append("</Code><Detail>")
        writer.append(xmlText: "\(detail).TrackingId:\(trackingID),TimeStamp:\(moment.american)")
        writer.append("</Detail></Error>")
        return HTTPServerResponse(status: status, headers: fields, body: writer.bytes)
    }
}
