public import PushModel

/// The rules for the tags an app may give to its device, besides the one that names its user.
public struct TagRules: Sendable, Equatable {
    /// The tags that a list leaves.
    public struct Checked: Sendable, Equatable {
        /// The tags without the user's own, each once, in the list's order. At most 59 when there is no fault.
        public var tags: [String] = []
        /// The faults of the list. No message repeats a tag.
        public var faults: [RequestFault] = []
    }

    /// The most tags of one device beside its user's: 60 in all. With 120 characters each they stay below the hub's 8,000 characters.
    public static let maximumCount = 59

    /// The pattern that users' tags are made with.
    public let users: UserTag.Pattern
    private let reserved: Set<String>

    /// Makes the rules.
    ///
    /// - Parameters:
    ///   - users: How users' tags are made; every such tag is reserved.
    ///   - reserved: Tags that back ends alone may set, in any case.
    public init(users: UserTag.Pattern, reserved: [String] = []) {
        self.users = users
        self.reserved = Set(reserved.map(UserTag.folded))
    }

    /// Checks the tags that an app sends.
    ///
    /// - Parameters:
    ///   - tags: The list.
    ///   - user: Who sends it; the user's own tag is tolerated.
    ///   - pointer: The JSON Pointer of the list.
    /// - Returns: What is left, and every fault.
    public func check(_ tags: [String], of user: UserTag, at pointer: String) -> Checked {
        check(tags, beside: user.folded, at: pointer)
    }

    /// Checks the tags of a device whose user's tag is known, or that has no user.
    ///
    /// - Parameters:
    ///   - tags: The list.
    ///   - own: The user's tag in lower case, which is tolerated, or nil for none.
    ///   - held: Reserved tags in lower case that the device has, or may have: they are allowed.
    ///   - pointer: The JSON Pointer of the list.
    /// - Returns: What is left, and every fault.
    public func check(_ tags: [String], beside own: String?, holding held: Set<String> = [], at pointer: String) -> Checked {
        var checked = Checked()
        var seen = Set([own].compactMap(\.self))
        for (index, tag) in tags.enumerated() {
            if let fault = fault(of: tag, beside: own, holding: held) {
                checked.faults.append(RequestFault(.tagExpressionInvalid, at: "\(pointer)/\(index)", message: fault))
                // A hostile list may be wrong in a thousand places; the first ones tell enough.
                if checked.faults.count == Self.maximumFaults { break }
            } else if seen.insert(UserTag.folded(tag)).inserted {
                checked.tags.append(tag)
            }
        }
        if checked.tags.count > Self.maximumCount {
            let limit = "\(Self.maximumCount) are allowed beside the user's"
            checked.faults.append(
                RequestFault(.tagLimitExceeded, at: pointer, message: "There are \(checked.tags.count) tags; \(limit)."))
        }
        return checked
    }

    private static let maximumFaults = 32

    /// The reason for refusing a reserved tag.
    public static let reservation = "This tag is reserved."

    /// True if back ends alone may set a tag and take it away. Users' tags are none of these.
    public func isReserved(_ tag: String) -> Bool {
        let folded = UserTag.folded(tag)
        return folded.hasPrefix("from:") || reserved.contains(folded)
    }

    /// The reason for refusing a tag, which is not repeated, or nil for one that is allowed, as a user's own is.
    public func fault(of tag: String, beside own: String?, holding held: Set<String> = []) -> String? {
        if tag.utf8.first == UInt8(ascii: "$") { return "A tag that begins with '$' is made by the hub alone." }
        do throws(HubTag.Problem) {
            let folded = try HubTag(tag).folded
            if folded == own { return nil }
            if users.fits(folded) { return "This tag names a user; the gateway alone sets it, by who is logged in." }
            return isReserved(folded) && !held.contains(folded) ? Self.reservation : nil
        } catch {
            let sentence = error.description
            return "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())."
        }
    }
}
