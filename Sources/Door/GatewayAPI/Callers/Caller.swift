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

    /// Checks the right to something for which a token with scopes needs one.
    package func check(_ scope: Scope) throws(APIProblem) {
        guard scopes?.contains(scope) != false else { throw .tokenLacks(scope) }
    }
}

extension APIProblem {
    /// 403: the token lacks a scope.
    static func tokenLacks(_ scope: Scope) -> APIProblem {
        APIProblem(
            403, code: .forbiddenScope, detail: "This token has not the scope \(scope.rawValue), which the call needs.")
    }
}

extension Caller: Concealed {
    /// Says what it is; who it is belongs into no log.
    package var description: String { "Caller(redacted)" }
}
