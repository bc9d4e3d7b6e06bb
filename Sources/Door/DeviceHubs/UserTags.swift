package import Basics
import EventLoop
package import FanOut
package import Users

/// Makes the tag of a user's devices from the user's name as a caller wrote it.
///
/// A name finds its user by the rule by which names are unique: without regard to case, and to how a letter is composed. The tag is
/// made of the name as the users file has it.
package struct UserTags: Sendable {
    package let pattern: UserTag.Pattern
    private let users: UsersSource?
    private let foldsOthers: Bool
    private let now: @Sendable () -> MonotonicTime

    /// Makes tags by a pattern. With `allowsDemo` people sign in whom no file has. Their names are brought into small letters, so
    /// that all spellings find them, too.
    package init(
        _ pattern: UserTag.Pattern, of users: UsersSource? = nil, allowsDemo: Bool = false,
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() }
    ) {
        self.pattern = pattern
        self.users = users
        foldsOthers = allowsDemo
        self.now = now
    }

    /// The tag that registering and sending have in common, of a name as the caller wrote it. One that no user has is taken as it
    /// is, so that no answer says who there is.
    package func tag(of name: String) -> UserTag {
        if let user = users?.current(now: now()).file.user(inAnyCase: name) { return pattern.tag(of: user.name) }
        return pattern.tag(of: foldsOthers ? UserName.folded(name) : name)
    }
}
