import Basics
internal import PushModel

extension PayloadFormatter {
    /// Takes a native payload as it stands, after checking what would reach the wrong devices or be refused for certain.
    ///
    /// What the request says about expiry, priority and collapsing becomes a header unless the payload's headers say it. What is
    /// shown on Apple and Windows devices gets an identity of its own besides, as a message does. The body itself is not touched:
    /// what its platform reads there, such as FCM's `tag`, is the publisher's.
    mutating func formatNative(
        _ payload: JSONDocument.Node, of request: PushRequest, for platform: Platform, now: Timestamp,
        into rendered: inout RenderedPayload
    ) throws(PayloadError) {
        rendered.origin = .native
        let document = request.document
        guard let body = document.member("body", of: payload) else {
            throw .rejected(document.pointer(to: payload), because: "The payload for \(platform.name) has no body.")
        }
        guard document.kind(of: body) == .object || document.kind(of: body) == .string, !document.text(of: body).isEmpty else {
            throw .rejected(document.pointer(to: body), because: "A body must be an object or a string that is not empty.")
        }
        var given = NativeHeaders()
        if let headers = document.member("headers", of: payload) {
            try given.read(headers, of: request, for: platform, into: &rendered.headers)
        }
        rendered.contentType = try Self.contentType(of: payload, in: document, for: platform)
        rendered.body.append(document.span(document.text(of: body)))
        if platform == .windows {
            let type: WNSType
            do throws(WindowsRules.BodyFault) {
                type = try WindowsRules.type(of: document.span(document.text(of: body)), stated: given.wnsType)
            } catch {
                throw .rejected(document.pointer(to: body), because: error.sentence)
            }
            if document.member("content_type", of: payload) == nil { rendered.contentType = type == .raw ? .octetStream : .xml }
            let identity = CollapseID(of: request, isDerived: type == .toast && configuration.derivesCollapseID)
            rendered.headers.append(wnsHeadersOf: request, beside: given, type: type, identity: identity, now: now)
        } else {
            if rendered.contentType.isJSON { try checkJSON(body, of: payload, in: document, for: platform, beside: given) }
            if platform == .apple {
                let isBackground = isBackground(body, in: document, beside: given)
                let isShown = given.mayAlert && !isBackground
                let identity = CollapseID(of: request, isDerived: isShown && configuration.derivesCollapseID)
                rendered.headers.append(apnsHeadersOf: request, beside: given, identity: identity, isBackground: isBackground)
            }
        }
        let limit = PayloadLimit.bodyByteCount(for: platform, beside: given)
        try rendered.checkSize(limit: limit, for: platform.name, pointer: document.pointer(to: body))
    }

    /// The media type that the payload names, else the platform's usual one.
    private static func contentType(
        of payload: JSONDocument.Node, in document: JSONDocument, for platform: Platform
    ) throws(PayloadError) -> ContentType {
        guard let node = document.member("content_type", of: payload) else { return platform.contentType }
        let text = document.text(of: node)
        guard document.kind(of: node) == .string,
            let type = ContentType.allCases.first(where: { document.isEqual(text, to: $0.name) })
        else {
            let known = ContentType.allCases.map { "\($0.name)" }.joined(separator: ", ")
            throw .rejected(document.pointer(to: node), because: "The content type must be one of: \(known).")
        }
        if platform.isJSONOnly && !type.isJSON {
            throw .rejected(document.pointer(to: node), because: "A payload for \(platform.name) must have a JSON content type.")
        }
        return type
    }

    /// Refuses a body that is no JSON object, or one that its push service would refuse or send elsewhere.
    private mutating func checkJSON(
        _ body: JSONDocument.Node, of payload: JSONDocument.Node, in document: JSONDocument, for platform: Platform,
        beside given: NativeHeaders
    ) throws(PayloadError) {
        let isObject = document.kind(of: body) == .object
        if !isObject {
            do {
                try scratch.read(document.span(document.text(of: body)))
            } catch {
                throw .rejected(document.pointer(to: body), because: "The body is not JSON. \(error.sentence)")
            }
        }
        let fault =
            isObject
            ? document.nativeFault(in: body, for: platform, beside: given)
            : scratch.nativeFault(in: scratch.root, for: platform, beside: given)
        switch fault {
        case nil: return
        case .body(let node, let sentence) where isObject:
            throw .rejected(document.pointer(to: node), because: sentence)
        case .body(let node, let sentence):
            let place = scratch.pointer(to: node)
            throw .rejected(
                document.pointer(to: body), because: place.isEmpty ? sentence : "In the body at \(place): \(sentence)")
        case .header(let name, let sentence):
            throw .rejected(document.pointer(to: document.header(name, of: payload) ?? payload), because: sentence)
        }
    }

    /// True if a push to Apple is a background push: its header says so, or there is none and `aps` has nothing to show.
    private func isBackground(_ body: JSONDocument.Node, in document: JSONDocument, beside given: NativeHeaders) -> Bool {
        if given.names.contains(.pushType) { return given.isBackground }
        return document.kind(of: body) == .object
            ? document.isBackgroundPush(body) : scratch.isBackgroundPush(scratch.root)
    }
}

extension JSONDocument {
    /// The value of the header `name` among those of a payload.
    fileprivate func header(_ name: StaticString, of payload: Node) -> Node? {
        guard let headers = member("headers", of: payload) else { return nil }
        var members = children(of: headers)
        while let (key, value) = members.next(in: self) {
            if span(text(of: key)).isHeader(name) { return value }
        }
        return nil
    }
}

extension Platform {
    /// The media type of a native body that names none (page HubProtocol, "Formats and media types").
    fileprivate var contentType: ContentType {
        switch self {
        case .apple, .fcmv1, .gcm, .browser: .jsonUTF8
        case .adm, .baidu, .xiaomi: .json
        case .windows: .xml
        }
    }

    /// True if the platform takes nothing but JSON. SDKs disagree about Baidu, and the others are not for us to judge.
    fileprivate var isJSONOnly: Bool {
        switch self {
        case .apple, .fcmv1, .gcm: true
        case .windows, .adm, .baidu, .browser, .xiaomi: false
        }
    }
}

extension ByteWriter {
    /// Appends what the request says and the payload's headers do not. A background push says that it has priority 5: without one,
    /// APNs takes it as 10.
    fileprivate mutating func append(
        apnsHeadersOf request: PushRequest, beside given: NativeHeaders, identity: CollapseID?, isBackground: Bool
    ) {
        if (request.hasPriority || isBackground) && !given.names.contains(.priority) {
            append(header: "apns-priority", value: request.apnsPriority(isBackground: isBackground))
        }
        if let expiresAt = request.expiresAt, !given.names.contains(.expiry) {
            var text = TimestampText()
            append(apnsExpiration: expiresAt, by: &text)
        }
        if let identity, !given.names.contains(.collapseID) {
            append(header: "apns-collapse-id")
            identity.append(to: &self, from: request.document)
            endLine()
        }
    }

    /// Appends the type unless it is stated, and what the request says and the payload's headers do not.
    fileprivate mutating func append(
        wnsHeadersOf request: PushRequest, beside given: NativeHeaders, type: WNSType, identity: CollapseID?,
        now: Timestamp
    ) {
        if given.wnsType == nil { append(header: "X-WNS-Type", value: type.headerValue) }
        if let seconds = request.secondsLeft(at: now), seconds > 0, !given.names.contains(.expiry) {
            append(header: "X-WNS-TTL", decimal: seconds)
        }
        if type != .raw, !given.names.contains(.collapseID), let identity {
            append(header: "X-WNS-Tag")
            identity.appendTag(to: &self, from: request.document)
            endLine()
        }
        if request.hasPriority && !given.names.contains(.priority) {
            append(header: "X-WNS-PRIORITY", value: request.wnsPriority)
        }
    }
}
