/// The tag by which all devices of one user are reached, made by one rule in registering and in sending.
public struct UserTag: Sendable, Hashable {
    /// The text that stands for the user in an audience's `users`: 1 to 120 characters that a tag may have.
    public let form: String
    /// The tag: `form` with what `hub.user_tag` has around it.
    public let text: String
    /// The tag in lower case: what is compared.
    public let folded: String
    /// The text by which requests name the user, and by which a spread finds the user's hub: the composed name, or `form` of a name that
    /// looks like the form of another or that no request may have.
    public let address: String

    fileprivate init(form: String, text: String, address: String) {
        self.form = form
        self.text = text
        self.address = address
        folded = UserTag.folded(text)
    }

    /// The address of the user whose form an installation has as its user.
    ///
    /// - Parameter form: The form.
    /// - Returns: The address, or nil where a digest stands for the name.
    public static func address(ofForm form: String) -> String? { UserForm.address(ofForm: form) }

    /// The name whose bytes a form has. Nil for a form that is the name itself, and for a digest.
    public static func name(ofForm form: String) -> String? { UserForm.name(ofForm: form) }

    /// True if a text is a user's tag. Case does not matter.
    public static func isSame(_ text: String, as tag: UserTag) -> Bool { folded(text) == tag.folded }

    /// ASCII letters in small: a tag has no others.
    public static func folded(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension UserTag {
    /// The pattern that users' tags are made with: `hub.user_tag`, such as `username:{user}`.
    public struct Pattern: Sendable, Equatable {
        /// The reason why a pattern cannot serve those who register devices.
        public enum Problem: Error, Sendable, Equatable, CaseIterable {
            /// It does not have `{user}` once.
            case noPlace
            /// It is `{user}` alone: every tag would be some user's.
            case bare
            /// It begins with `$`, and the hub keeps such tags to itself.
            case reserved
            /// It has a character that no tag may have.
            case invalidCharacter
            /// It leaves fewer than 66 characters for a name.
            case tooLong
        }

        /// The characters that a name must be left at least: `h.` and 64 digits.
        public static let leastNameLength = 66

        /// The text before the name.
        public let prefix: String
        /// The text behind the name.
        public let suffix: String
        /// The most characters of a name that is its own tag form.
        public var longestName: Int { HubTag.maxLength - prefix.utf8.count - suffix.utf8.count }

        /// Checks a pattern.
        ///
        /// - Parameter text: Text with `{user}` in it once, and something around it that a tag may have.
        /// - Throws: ``Problem``.
        public init(_ text: String) throws(Problem) {
            let parts = text.split(separator: "{user}", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .noPlace }
            prefix = parts[0]
            suffix = parts[1]
            guard !prefix.isEmpty || !suffix.isEmpty else { throw .bare }
            guard prefix.utf8.first != UInt8(ascii: "$") else { throw .reserved }
            guard (prefix + suffix).utf8.allSatisfy({ $0.isTagCharacter }) else { throw .invalidCharacter }
            guard longestName >= Self.leastNameLength else { throw .tooLong }
        }

        /// The tag of a user who registers devices, or is sent to by another.
        ///
        /// A name that is legal as it stands is its own tag form. Any other, and one that looks like the form of another, becomes `x.` and
        /// the hexadecimal digits of its composed UTF-8, and `h.` and its SHA-256 where that is too long. So no two names share a tag. A
        /// request that names the user as registered reaches the same tag.
        ///
        /// - Parameter name: The user's name.
        /// - Returns: The tag.
        public func tag(of name: String) -> UserTag {
            let form = String(decoding: UserForm.registered(name, longest: longestName), as: UTF8.self)
            let address = UserForm.address(of: name) ?? form
            return UserTag(form: form, text: prefix + form + suffix, address: address)
        }

        /// True if a tag is a user's, whoever that is. Case does not matter.
        public func fits(_ tag: String) -> Bool {
            let tag = UserTag.folded(tag)
            return tag.utf8.count >= prefix.utf8.count + suffix.utf8.count && tag.hasPrefix(UserTag.folded(prefix))
                && tag.hasSuffix(UserTag.folded(suffix))
        }
    }
}

extension UserTag.Pattern.Problem: CustomStringConvertible {
    /// One plain sentence about `hub.user_tag`.
    public var description: String {
        switch self {
        case .noPlace: "the user's tag must contain {user} once"
        case .bare: "the user's tag must have some text around {user}, or every tag would be some user's"
        case .reserved: "a user's tag that begins with '$' is reserved by the hub"
        case .invalidCharacter: "the user's tag has a character that no tag may have"
        case .tooLong:
            "the user's tag leaves fewer than \(UserTag.Pattern.leastNameLength) of \(HubTag.maxLength) characters for the name"
        }
    }
}
