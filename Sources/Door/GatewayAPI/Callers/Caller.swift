import Basics
package import Keys

/// A user who has signed in.
package struct Caller: Sendable, Equatable {
    /// The name, as the users file has it.
    package let name: String
    /// The operations that a token permits, or nil for all of a user.
    package let scopes: Set<Scope>?

    package init(name: String, scopes: Set<Scope>? = nil) {
        (self.name, self.scopes) = (name, scopes)
    }
}

extension Caller: Concealed {
    /// Says what it is; who it is belongs into no log.
    package var description: String { "Caller(redacted)" }
}
