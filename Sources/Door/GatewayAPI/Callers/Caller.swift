/// A user who has signed in.
struct Caller: Sendable, Equatable {
    /// The name, as the users file has it.
    let name: String
}

extension Caller: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is; who it is belongs into no log.
    var description: String { "Caller(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
