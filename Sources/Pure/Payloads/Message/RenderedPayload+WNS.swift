import Basics
internal import PushModel

/// The kinds of a body to Windows: the values of `X-WNS-Type`.
enum WNSType: UInt8, CaseIterable {
    case toast, tile, badge, raw

    var headerValue: StaticString {
        switch self {
        case .toast: "wns/toast"
        case .tile: "wns/tile"
        case .badge: "wns/badge"
        case .raw: "wns/raw"
        }
    }

    /// The root element that an XML body of this type has. Raw bodies are not looked into.
    var rootName: StaticString {
        switch self {
        case .toast: "toast"
        case .tile: "tile"
        case .badge: "badge"
        case .raw: "raw"
        }
    }
}

extension RenderedPayload {
    /// Formats a message for WNS: a toast, or the app's data as raw JSON when the message is silent or has no text.
    ///
    /// A toast's `launch` argument holds the app's data as `name=value` pairs, percent-encoded and joined by `&`. A badge is a
    /// notification of its own on Windows and a call sends one notification: the number travels with the data.
    mutating func renderWNS(_ context: MessageContext, of request: PushRequest) throws(PayloadError) {
        let isToast = context.shows(.texts)
        let placed: MessageFields = isToast ? [.title, .subtitle, .body, .imageURL, .sound] : []
        let carried = context.message.fields.subtracting(placed)
        try context.checkData(in: request.document, beside: carried, for: .windows)
        if isToast {
            contentType = .xml
            appendToast(context, of: request, carrying: carried)
        } else {
            contentType = .octetStream
            body.append(UInt8(ascii: "{"))
            try body.append(appDataOf: context, carrying: carried, in: request.document)
            body.append(UInt8(ascii: "}"))
        }
        appendWNSHeaders(context, of: request, type: isToast ? .toast : .raw)
    }

    private mutating func appendToast(_ context: MessageContext, of request: PushRequest, carrying carried: MessageFields) {
        let message = context.message
        body.append("<toast")
        appendLaunch(context, of: request, carrying: carried)
        body.append("><visual><binding template=\"ToastGeneric\">")
        appendLine(message.title, in: request.document)
        appendLine(message.subtitle, in: request.document)
        appendLine(message.body, in: request.document)
        if let image = message.imageURL {
            body.append("<image placement=\"hero\" src=\"")
            body.append(xml: request.document.span(image))
            body.append("\"/>")
        }
        body.append("</binding></visual>")
        if let sound = message.sound { appendAudio(request.document.span(sound)) }
        body.append("</toast>")
    }

    private mutating func appendLine(_ text: JSONDocument.Text?, in document: JSONDocument) {
        guard let text else { return }
        body.append("<text>")
        body.append(xml: document.span(text))
        body.append("</text>")
    }

    /// `default` is the system's sound, a name with a colon an address, any other a file of the app's package.
    private mutating func appendAudio(_ sound: Span<UInt8>) {
        body.append("<audio src=\"")
        if sound.equalsIgnoringCase("default") {
            body.append("ms-winsoundevent:Notification.Default")
        } else if sound.contains(UInt8(ascii: ":")) {
            body.append(xml: sound)
        } else {
            body.append("ms-appx:///")
            body.append(percentEncoded: sound)
        }
        body.append("\"/>")
    }

    private mutating func appendLaunch(_ context: MessageContext, of request: PushRequest, carrying carried: MessageFields) {
        let document = request.document
        let dataCount = context.message.data.map { document.childCount(of: $0) } ?? 0
        if carried.isEmpty && dataCount == 0 { return }
        body.append(" launch=\"")
        // Percent-encoding leaves nothing to escape but the ampersands between the pairs.
        var isFirst = true
        for entry in MessageFields.named where carried.contains(entry.field) {
            if !isFirst { body.append("&amp;") }
            isFirst = false
            body.append(entry.name)
            body.append(UInt8(ascii: "="))
            if let text = context.message.text(of: entry.field) {
                body.append(percentEncoded: document.span(text))
            } else if let badge = context.message.badge {
                body.append(decimal: badge)
            }
        }
        if let data = context.message.data {
            document.forEachMember(of: data) { key, value in
                if !isFirst { body.append("&amp;") }
                isFirst = false
                body.append(percentEncoded: document.span(key))
                body.append(UInt8(ascii: "="))
                body.append(percentEncoded: document.span(document.text(of: value)))
            }
        }
        body.append(UInt8(ascii: "\""))
    }

    /// The headers of WNS (page HubProtocol, "Platforms"): kept for a device that is away as long as the request lives, and not at
    /// all once it has no time left.
    private mutating func appendWNSHeaders(_ context: MessageContext, of request: PushRequest, type: WNSType) {
        headers.append(header: "X-WNS-Type", value: type.headerValue)
        let seconds = request.secondsLeft(at: context.now)
        headers.append(header: "X-WNS-Cache-Policy", value: seconds == 0 ? "no-cache" : "cache")
        if let seconds, seconds > 0 { headers.append(header: "X-WNS-TTL", decimal: seconds) }
        if type == .toast, let collapseID = context.collapseID {
            headers.append(header: "X-WNS-Tag")
            collapseID.appendTag(to: &headers, from: request.document)
            headers.endLine()
        }
        if request.hasPriority { headers.append(header: "X-WNS-PRIORITY", value: request.wnsPriority) }
        headers.append(header: "X-WNS-RequestForStatus", value: "true")
    }
}

extension PushRequest {
    /// The value of `X-WNS-PRIORITY`: 1 high, 2 medium, 3 low.
    var wnsPriority: StaticString {
        switch priority {
        case .high: "1"
        case .normal: "2"
        case .low: "3"
        }
    }
}

extension Span<UInt8> {
    fileprivate func contains(_ byte: UInt8) -> Bool {
        for index in 0..<count where self[index] == byte { return true }
        return false
    }
}
