internal import Basics
internal import PushModel

extension RenderedPayload {
    /// Formats a message for APNs: `aps` with the app's data beside it. Throws `PayloadError` when data would stand twice.
    ///
    /// A message that is silent or has nothing to show is a background push: `content-available` and data, nothing else (Apple,
    /// "Pushing background updates to your App"). A picture's address goes along as `image_url` with `mutable-content`, for the
    /// app's notification service extension to load. `expiry` is what one was written with before, as most are of one second.
    mutating func renderAPNs(
        _ context: MessageContext, of request: PushRequest, expiry: inout TimestampText
    ) throws(PayloadError) {
        let isAlert = context.shows([.title, .subtitle, .body, .badge, .sound])
        let placed: MessageFields = isAlert ? [.title, .subtitle, .body, .badge, .sound, .actionCategory, .threadID] : []
        let carried = context.message.fields.subtracting(placed)
        try context.checkData(in: request.document, beside: carried, for: .apple)
        contentType = .jsonUTF8
        body.append("{\"aps\":{")
        if isAlert {
            appendAlert(context, of: request)
        } else {
            body.append("\"content-available\":1")
        }
        body.append(UInt8(ascii: "}"))
        try body.append(appDataOf: context, carrying: carried, in: request.document)
        body.append(UInt8(ascii: "}"))

        headers.append(header: "apns-push-type", value: isAlert ? "alert" : "background")
        headers.append(header: "apns-priority", value: request.apnsPriority(isBackground: !isAlert))
        headers.append(apnsExpiration: context.appleExpiry, by: &expiry)
        if let collapseID = context.collapseID {
            headers.append(header: "apns-collapse-id")
            collapseID.append(to: &headers, from: request.document)
            headers.endLine()
        }
    }

    private mutating func appendAlert(_ context: MessageContext, of request: PushRequest) {
        let message = context.message
        if context.shows(.texts) {
            body.append(key: "alert")
            body.append(UInt8(ascii: "{"))
            body.append(key: "title", value: message.title, in: request.document)
            body.append(key: "subtitle", value: message.subtitle, in: request.document)
            body.append(key: "body", value: message.body, in: request.document)
            body.append(UInt8(ascii: "}"))
        }
        if let badge = message.badge {
            body.append(key: "badge")
            body.append(decimal: badge)
        }
        body.append(key: "sound", value: message.sound, in: request.document)
        body.append(key: "thread-id", value: message.threadID, in: request.document)
        body.append(key: "category", value: message.actionCategory, in: request.document)
        if message.imageURL != nil {
            body.append(key: "mutable-content")
            body.append(UInt8(ascii: "1"))
        }
    }
}

extension PushRequest {
    /// The value of `apns-priority`: 10 at once, 5 when the device's power allows, 1 without waking it.
    ///
    /// A request that names no priority gets APNs's own default, 10. A background push must have 5.
    func apnsPriority(isBackground: Bool) -> StaticString {
        if isBackground { return "5" }
        guard hasPriority else { return "10" }
        switch priority {
        case .high: return "10"
        case .normal: return "5"
        case .low: return "1"
        }
    }
}

extension ByteWriter {
    /// Appends both expiry headers: APNs's own, and the one that the hub reads (page HubProtocol, "Headers").
    mutating func append(apnsExpiration moment: Timestamp, by text: inout TimestampText) {
        append(header: "apns-expiration", decimal: moment.epochSeconds)
        append(apnsExpiry: moment, by: &text)
    }

    /// Appends the hub's expiry header, a W3C date-time.
    mutating func append(apnsExpiry moment: Timestamp, by text: inout TimestampText) {
        append(header: "ServiceBusNotification-Apns-Expiry")
        append(wholeSecondsOf: moment, by: &text)
        endLine()
    }
}
