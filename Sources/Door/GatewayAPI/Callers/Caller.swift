import Basics

/// A user who has signed in.
package struct Caller: Sendable, Equatable {
    /// The name, as the users file has it.
    package let name: String

    package init(name: String) {
        self.name = name
    }
}

extension Caller: Concealed {
    /// Says what it is; who it is belongs into no log.
    package var description: String { "Caller(redacted)" }
}
