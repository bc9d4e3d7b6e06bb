import FanOut
import HTTPServing
import PushModel

/// Reads a send from its headers and body, as strictly as the service does.
package struct NotificationReader {
    /// The limit of a notification in bytes (hub quotas: 64 KB), without the handles of a batch.
    package static let maximumByteCount = 64 << 10
    /// Handles of one batch.
    package static let maximumHandleCount = 1000

    package let call: HubCall
    /// The notification itself: the request's body, or the first part of a batch.
    package let body: [UInt8]
    package var isBatch = false

    /// Reads everything but the audience.
    package func notification(to audience: Notification.Audience) throws(RefusedCall) -> Notification {
        guard body.count <= Self.maximumByteCount else {
            throw RefusedCall(413, detail: "The message is \(body.count) bytes long; the limit is \(Self.maximumByteCount)")
        }
        let format = call.notificationHeader("Format") ?? ""
        guard format.equalsIgnoringCase("template") || HubPlatform(format: format) != nil else {
            // The first sentences are the service's, which clients compare.
            throw .invalid(
                "The HTTP header \"ServiceBusNotification-Format\" has an invalid value: \"\(format)\". Allowed values are "
                    + "\"windows\", \"apple\", \"gcm\", \"template\", \"adm\", or \"windowsphone\". "
                    + "This hub also takes \"fcmv1\", \"browser\", \"baidu\" and \"xiaomi\".")
        }
        let platform = HubPlatform(format: format)
        if let platform, case .handles(let handles) = audience { for handle in handles { try check(handle, on: platform) } }
        let notification = try Notification(
            id: "", callID: call.id, format: format, audience: audience, body: body, headers: forwardedHeaders())
        if let platform { try SendHeaders.check(call.request.headers, for: platform) }
        return notification
    }

    /// Checks a device's handle. The keys of a browser stand beside its endpoint in a batch only: a direct send has fields for them.
    private func check(_ handle: String, on platform: HubPlatform) throws(RefusedCall) {
        guard platform == .browser, !isBatch else { return try platform.check(handle: handle) }
        let fields = call.request.headers
        let channel = JSONObject(["endpoint": handle, "p256dh": fields["P256DH"], "auth": fields["Auth"]])
        try platform.check(handle: String(decoding: channel.bytes, as: UTF8.self))
    }

    /// The audience of the tags header, or everyone without the header.
    package func taggedAudience() throws(RefusedCall) -> Notification.Audience {
        guard let text = call.notificationHeader("Tags"), !text.trimmingBlanks.isEmpty else { return .everyone }
        do {
            return .tags(try TagExpression(parsing: text))
        } catch {
            switch error.reason {
            case .tag, .invalidCharacter, .expectedTag:
                throw .invalid(
                    "An invalid tag(s) '\(text)' was supplied. Valid tag characters are alphanumeric, _, @, -, ., : and #.")
            default:
                throw .invalid("The tag expression '\(text)' is not valid: \(error)")
            }
        }
    }

    /// The header fields of the request that the push service gets.
    private func forwardedHeaders() -> HTTPFields {
        var forwarded = HTTPFields(capacity: 8)
        for field in call.request.headers.all where Self.isForwarded(field.name) {
            forwarded.append(field.name, value: field.value)
        }
        return forwarded
    }

    private static func isForwarded(_ name: String) -> Bool {
        if name.startsIgnoringCase(with: "x-") {
            return !name.startsIgnoringCase(with: "x-ms-") && !name.startsIgnoringCase(with: "x-forwarded-")
        }
        return name.startsIgnoringCase(with: "apns-")
            || ["content-type", "servicebusnotification-apns-expiry", "p256dh", "auth"].contains { name.equalsIgnoringCase($0) }
    }
}
