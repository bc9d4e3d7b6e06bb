internal import PushModel

/// A set of a message's fields, so that what a platform has no field for can be told apart and travel with the app's data.
struct MessageFields: OptionSet, Sendable {
    let rawValue: UInt16

    static let title = Self(rawValue: 1 << 0)
    static let subtitle = Self(rawValue: 1 << 1)
    static let body = Self(rawValue: 1 << 2)
    static let imageURL = Self(rawValue: 1 << 3)
    static let deepLink = Self(rawValue: 1 << 4)
    static let sound = Self(rawValue: 1 << 5)
    static let badge = Self(rawValue: 1 << 6)
    static let actionCategory = Self(rawValue: 1 << 7)
    static let threadID = Self(rawValue: 1 << 8)

    /// The fields that a notification shows as lines of text.
    static let texts: Self = [.title, .subtitle, .body]

    /// The name of the field in the set that is called as `key` is, or nil when there is none.
    func name(equalTo key: JSONDocument.Text, in document: JSONDocument) -> StaticString? {
        guard !isEmpty else { return nil }
        for entry in Self.named where contains(entry.field) && document.isEqual(key, to: entry.name) { return entry.name }
        return nil
    }

    /// Every field with its name in a request, in the order in which they travel.
    static let named: [(field: Self, name: StaticString)] = [
        (.title, "title"), (.subtitle, "subtitle"), (.body, "body"), (.imageURL, "image_url"), (.deepLink, "deep_link"),
        (.sound, "sound"), (.badge, "badge"), (.actionCategory, "action_category"), (.threadID, "thread_id"),
    ]
}

extension PushRequest.Message {
    /// The fields that the message has.
    var fields: MessageFields {
        var fields: MessageFields = []
        if title != nil { fields.insert(.title) }
        if subtitle != nil { fields.insert(.subtitle) }
        if body != nil { fields.insert(.body) }
        if imageURL != nil { fields.insert(.imageURL) }
        if deepLink != nil { fields.insert(.deepLink) }
        if sound != nil { fields.insert(.sound) }
        if badge != nil { fields.insert(.badge) }
        if actionCategory != nil { fields.insert(.actionCategory) }
        if threadID != nil { fields.insert(.threadID) }
        return fields
    }

    /// The text of one field. The badge is a number and has none.
    func text(of field: MessageFields) -> JSONDocument.Text? {
        switch field {
        case .title: title
        case .subtitle: subtitle
        case .body: body
        case .imageURL: imageURL
        case .deepLink: deepLink
        case .sound: sound
        case .actionCategory: actionCategory
        case .threadID: threadID
        default: nil
        }
    }
}
