import Basics
internal import PushModel

/// A message with all that its payloads depend on beside its request.
///
/// The request itself goes along as an argument: to keep it here would be a copy, with counts of references, for every payload.
struct MessageContext {
    let message: PushRequest.Message
    let now: Timestamp
    /// The identity on the device, given or derived.
    let collapseID: CollapseID?
    /// The moment from which Apple may drop the push.
    let appleExpiry: Timestamp

    init(
        _ message: PushRequest.Message, of request: borrowing PushRequest, now: Timestamp,
        configuration: PayloadFormatter.Configuration
    ) {
        self.message = message
        self.now = now
        collapseID = CollapseID(of: request, isDerived: configuration.derivesCollapseID)
        appleExpiry = request.expiresAt ?? now.adding(seconds: configuration.defaultLifetimeSeconds)
    }

    /// True if the device has something to show: the message is not silent and has one of `fields`.
    func shows(_ fields: MessageFields) -> Bool {
        !message.isSilent && !message.fields.isDisjoint(with: fields)
    }

    /// Refuses app data that would stand twice beside the `carried` fields, or under a name that the platform keeps for itself.
    func checkData(
        in document: JSONDocument, beside carried: MessageFields, for platform: Platform
    ) throws(PayloadError) {
        guard let data = message.data else { return }
        try document.forEachMember(of: data) { (key, value) throws(PayloadError) in
            if document.kind(of: value) != .string {
                throw .rejected(document.pointer(to: value), because: "A data value is no string; data holds strings only.")
            }
            if let name = carried.name(equalTo: key, in: document) {
                throw .rejected(
                    document.pointer(to: value),
                    because: "message.\(name) travels to \(platform.name) under the same name as this data key; rename the key.")
            }
            if document.isReserved(key, by: platform) {
                throw .rejected(
                    document.pointer(to: value), because: "This data key is reserved by \(platform.name); rename the key.")
            }
        }
    }
}

extension JSONDocument {
    /// True if `key` is a name that the platform's own payload uses, so that app data cannot.
    ///
    /// Apple: `aps`. FCM v1: `from`, `message_type`, and all that starts with `google.` or `gcm.`; in the legacy API with
    /// `google` or `gcm` (FCM reference, `Message.data`; page HubProtocol, "Platforms").
    func isReserved(_ key: Text, by platform: Platform) -> Bool {
        switch platform {
        case .apple: isEqual(key, to: "aps")
        case .fcmv1:
            isEqual(key, to: "from") || isEqual(key, to: "message_type") || span(key).holds("google.")
                || span(key).holds("gcm.")
        case .gcm:
            isEqual(key, to: "from") || isEqual(key, to: "message_type") || span(key).holds("google")
                || span(key).holds("gcm")
        case .windows, .adm, .baidu, .browser, .xiaomi: false
        }
    }
}

extension PushRequest {
    /// Whole seconds from `now` until the request expires, at most 4 weeks, FCM's limit. Nil when it does not.
    func secondsLeft(at now: Timestamp) -> Int64? {
        guard let expiresAt else { return nil }
        return min(max(0, expiresAt.milliseconds(since: now) / 1000), 2_419_200)
    }
}

extension Timestamp {
    /// Whole seconds since the epoch, never negative.
    var epochSeconds: Int64 { max(0, milliseconds / 1000) }
}

extension ByteWriter {
    /// Appends the fields in `carried` and the app's data as members of the JSON object that is being written, all strings.
    mutating func append(
        appDataOf context: MessageContext, carrying carried: MessageFields, in document: JSONDocument
    ) throws(PayloadError) {
        for entry in MessageFields.named where carried.contains(entry.field) {
            append(key: entry.name)
            if let text = context.message.text(of: entry.field) {
                append(json: document.span(text))
            } else if let badge = context.message.badge {
                append("\"")
                append(decimal: badge)
                append("\"")
            }
        }
        if let data = context.message.data { try append(stringMembersOf: data, in: document) }
    }

    /// Appends every member of the object at `node`, whose values are all strings.
    mutating func append(stringMembersOf node: JSONDocument.Node, in document: JSONDocument) throws(PayloadError) {
        try document.forEachMember(of: node) { (key, value) throws(PayloadError) in
            if document.kind(of: value) != .string {
                throw .rejected(document.pointer(to: value), because: "The value is no string; only strings can be sent here.")
            }
            appendMemberSeparator()
            append(json: document.span(key))
            append(UInt8(ascii: ":"))
            append(json: document.span(document.text(of: value)))
        }
    }
}
