import FanOut
import PushModel

/// The send request that a call of `POST /api/notifications` becomes (page Requests).
struct NotifyRequest: Sendable, Equatable {
    /// The most characters of a label's value.
    private static let maximumLabelLength = 64

    /// The request's id.
    package var id: String
    /// Who is to get it.
    var recipient: UserTag
    /// Who sends it; becomes the label `from`.
    var sender: UserTag
    /// What is sent.
    var text: NotificationText
    /// The platform to send to; nil for all.
    var platform: Platform?
    /// When the call came.
    var createdAt: Timestamp
    /// How long the request is of use, in milliseconds (`gateway.send_ttl`).
    var timeToLive: Int64
    /// Whether to follow the hub's telemetry (`gateway.track_outcome`).
    var tracksOutcome: Bool

    /// Describes a request.
    init(
        id: String, to recipient: UserTag, from sender: UserTag, text: NotificationText, on platform: Platform? = nil,
        createdAt: Timestamp, timeToLive: Int64, tracksOutcome: Bool = false
    ) {
        self.id = id
        self.recipient = recipient
        self.sender = sender
        self.text = text
        self.platform = platform
        self.createdAt = createdAt
        self.timeToLive = timeToLive
        self.tracksOutcome = tracksOutcome
    }

    /// The record's value.
    var json: [UInt8] {
        var json = ByteWriter(capacity: 1024)
        json.append("{\"schema_version\":1,\"id\":", json: id)
        json.append(",\"created_at\":\"")
        json.append(createdAt)
        json.append("\",\"audience\":{\"users\":[")
        // A spread finds the hub by the name.
        json.append(json: recipient.address)
        json.append("]},\"payloads\":{")
        var isFirst = true
        for platform in NotificationText.platforms where self.platform == nil || self.platform == platform {
            if !isFirst { json.append(",") }
            isFirst = false
            text.append(for: platform, to: &json)
        }
        json.append("},\"expires_at\":\"")
        json.append(createdAt.adding(milliseconds: timeToLive))
        json.append("\"")
        if tracksOutcome { json.append(",\"options\":{\"track_outcome\":true}") }
        json.append(",\"labels\":{\"from\":", json: String(sender.form.prefix(Self.maximumLabelLength)))
        json.append("}}")
        return json.bytes
    }
}
