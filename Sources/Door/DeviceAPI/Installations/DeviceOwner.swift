import FanOut
import HubREST

/// The user of a device, as the hub knows it.
struct DeviceOwner: Sendable, Equatable {
    /// The text of `$UserId:{…}`.
    let form: String
    /// The tag that is sent to.
    let tag: String

    init(_ tag: UserTag) {
        (form, self.tag) = (tag.form, tag.text)
    }

    /// The owner by a device's tags, or else by its user, or nil where it has neither.
    init?(tags: [String], userID: String?, by pattern: UserTag.Pattern) {
        if let tag = tags.first(where: pattern.fits) {
            let form = tag.utf8.dropFirst(pattern.prefix.utf8.count).dropLast(pattern.suffix.utf8.count)
            (self.form, self.tag) = (String(decoding: form, as: UTF8.self), tag)
        } else if let userID {
            (form, tag) = (userID, pattern.prefix + userID + pattern.suffix)
        } else {
            return nil
        }
    }

    init?(of installation: Installation, by pattern: UserTag.Pattern) {
        self.init(tags: installation.tags, userID: installation.userID, by: pattern)
    }

    /// The tag in lower case: what is compared.
    var folded: String { UserTag.folded(tag) }

    /// The user's name. Of one that is too long for a tag there is the form alone.
    var name: String { UserTag.name(ofForm: form) ?? form }
}
