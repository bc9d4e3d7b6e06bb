internal import PushModel

extension RenderedPayload {
    /// Formats a message for FCM HTTP v1: everything below `message`, without a target.
    ///
    /// A message that is silent or has no text is a data message. FCM knows no subtitle: it is the first line of the body. `collapse_key`
    /// comes from the request only, because FCM keeps no more than four for a device that is away. The derived identity is the
    /// notification's `tag`, by which the device replaces a notification that it shows already. Without a priority in the request FCM's
    /// own rule holds: high for notifications, normal for data.
    mutating func renderFCM(_ context: MessageContext, of request: PushRequest) throws(PayloadError) {
        let isShown = context.shows(.texts)
        let placed: MessageFields = isShown ? [.title, .subtitle, .body, .imageURL, .sound, .badge] : []
        let carried = context.message.fields.subtracting(placed)
        try context.checkData(in: request.document, beside: carried, for: .fcmv1)
        contentType = .jsonUTF8
        body.append("{\"message\":{")
        if isShown {
            body.append(key: "notification")
            body.append(UInt8(ascii: "{"))
            appendTitleAndBody(context, of: request)
            body.append(key: "image", value: context.message.imageURL, in: request.document)
            body.append(UInt8(ascii: "}"))
        }
        try appendData(context, of: request, carrying: carried)
        appendAndroid(context, of: request, isShown: isShown)
        body.append("}}")
    }

    /// Formats a message for the legacy FCM API, which the hub calls `gcm`. It takes the same choices as FCM v1.
    mutating func renderGCM(_ context: MessageContext, of request: PushRequest) throws(PayloadError) {
        let isShown = context.shows(.texts)
        let placed: MessageFields = isShown ? [.title, .subtitle, .body, .sound] : []
        let carried = context.message.fields.subtracting(placed)
        try context.checkData(in: request.document, beside: carried, for: .gcm)
        contentType = .jsonUTF8
        body.append(UInt8(ascii: "{"))
        body.append(key: "collapse_key", value: request.collapseKey, in: request.document)
        if request.hasPriority {
            body.append(key: "priority")
            body.append(request.priority == .high ? "\"high\"" : "\"normal\"")
        }
        if let seconds = request.secondsLeft(at: context.now) {
            body.append(key: "time_to_live")
            body.append(decimal: seconds)
        }
        if isShown {
            body.append(key: "notification")
            body.append(UInt8(ascii: "{"))
            appendTitleAndBody(context, of: request)
            body.append(key: "sound", value: context.message.sound, in: request.document)
            appendTag(context, of: request)
            body.append(UInt8(ascii: "}"))
        }
        try appendData(context, of: request, carrying: carried)
        body.append(UInt8(ascii: "}"))
    }

    private mutating func appendTitleAndBody(_ context: MessageContext, of request: PushRequest) {
        let message = context.message
        body.append(key: "title", value: message.title, in: request.document)
        guard let subtitle = message.subtitle else {
            body.append(key: "body", value: message.body, in: request.document)
            return
        }
        body.append(key: "body")
        body.append(UInt8(ascii: "\""))
        body.append(jsonContent: request.document.span(subtitle))
        if let text = message.body {
            body.append("\\n")
            body.append(jsonContent: request.document.span(text))
        }
        body.append(UInt8(ascii: "\""))
    }

    private mutating func appendData(_ context: MessageContext, of request: PushRequest, carrying carried: MessageFields)
        throws(PayloadError)
    {
        let dataCount = context.message.data.map { request.document.childCount(of: $0) } ?? 0
        if carried.isEmpty && dataCount == 0 { return }
        body.append(key: "data")
        body.append(UInt8(ascii: "{"))
        try body.append(appDataOf: context, carrying: carried, in: request.document)
        body.append(UInt8(ascii: "}"))
    }

    private mutating func appendAndroid(_ context: MessageContext, of request: PushRequest, isShown: Bool) {
        let isTagged = isShown && (!context.message.fields.isDisjoint(with: [.sound, .badge]) || context.collapseID != nil)
        guard request.collapseKey != nil || request.hasPriority || request.expiresAt != nil || isTagged else { return }
        body.append(key: "android")
        body.append(UInt8(ascii: "{"))
        body.append(key: "collapse_key", value: request.collapseKey, in: request.document)
        if request.hasPriority {
            body.append(key: "priority")
            body.append(request.priority == .high ? "\"HIGH\"" : "\"NORMAL\"")
        }
        if let seconds = request.secondsLeft(at: context.now) {
            body.append(key: "ttl")
            body.append(UInt8(ascii: "\""))
            body.append(decimal: seconds)
            body.append("s\"")
        }
        if isTagged { appendAndroidNotification(context, of: request) }
        body.append(UInt8(ascii: "}"))
    }

    private mutating func appendAndroidNotification(_ context: MessageContext, of request: PushRequest) {
        body.append(key: "notification")
        body.append(UInt8(ascii: "{"))
        body.append(key: "sound", value: context.message.sound, in: request.document)
        appendTag(context, of: request)
        if let badge = context.message.badge {
            body.append(key: "notification_count")
            body.append(decimal: badge)
        }
        body.append(UInt8(ascii: "}"))
    }

    private mutating func appendTag(_ context: MessageContext, of request: PushRequest) {
        guard let collapseID = context.collapseID else { return }
        body.append(key: "tag")
        body.append(UInt8(ascii: "\""))
        collapseID.append(to: &body, from: request.document)
        body.append(UInt8(ascii: "\""))
    }
}
