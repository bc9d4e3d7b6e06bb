import Basics
import EventLoop
import FanOut
import Users

/// Makes the tag of a user's devices from the user's name as a caller wrote it.
///
/// A name finds its user by the rule by which names are unique: without regard to case, and to how a letter is composed. The tag is
/// made of the name as the users file has it.
struct UserTags: Sendable {
    /// The pattern of users' tags.
    let pattern: UserTag.Pattern
    private let users: UsersSource?
    private let foldsOthers: Bool
    private let now: @Sendable () -> MonotonicTime

    /// Makes tags by a pattern.
    ///
    /// - Parameters:
    ///   - pattern: How users' tags are made.
    ///   - users: Who is known; nil for no one.
    ///   - allowsDemo: Whether people sign in whom no file has. Their names are brought into small letters, so that all spellings
    ///     find them, too.
    ///   - now: What counts as the present.
    init(
        _ pattern: UserTag.Pattern, of users: UsersSource? = nil, allowsDemo: Bool = false,
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() }
    ) {
        self.pattern = pattern
        self.users = users
        foldsOthers = allowsDemo
        self.now = now
    }

    /// The tag of a user.
    ///
    /// - Parameter name: The name as a caller wrote it. One that no user has is taken as it is, so that no answer says who there is.
    /// - Returns: The tag that registering and sending have in common.
    func tag(of name: String) -> UserTag {
        if let user = users?.users(now: now()).file.user(inAnyCase: name) { return pattern.tag(of: user.name) }
        return pattern.tag(of: foldsOthers ? UserName.folded(name) : name)
    }
}
