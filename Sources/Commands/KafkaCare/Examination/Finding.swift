/// One checked subject, and the finding on it.
package struct Finding: Sendable, Equatable {
    /// The state of the subject.
    package enum State: String, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// It works, but needs attention.
        case warning
        /// It does not work, or will lose something.
        case failed
        /// It could not be checked, or was not.
        case unasked = "not asked"
    }

    /// The kind of a failure.
    package enum Cause: Sendable {
        /// A setting is not right.
        case configuration
        /// The broker or the hub does not allow it.
        case notAllowed
        /// The broker or the hub cannot be reached.
        case unreachable
        /// It was not finished in time.
        case temporary
        /// Anything else.
        case other
    }

    /// The state of the subject.
    package let state: State
    /// The kind of check, in a word: `broker`, `topic`, `hub` and so on.
    package let check: String
    /// The subject: a topic's name, a group's. Empty for a finding on all of them.
    package let subject: String
    /// The finding in words, which may have words of a broker or hub in it as they came.
    package let text: String
    /// The command that mends it, or what else does.
    package var remedy: String?
    /// The kind of a failure.
    package var cause = Cause.other

    static func ok(_ check: String, of subject: String, text: String) -> Finding {
        Finding(state: .ok, check: check, subject: subject, text: text)
    }

    static func warning(_ check: String, of subject: String, text: String, mend remedy: String?) -> Finding {
        Finding(state: .warning, check: check, subject: subject, text: text, remedy: remedy)
    }

    static func failure(
        _ check: String, of subject: String, text: String, mend remedy: String?, cause: Cause = .other
    ) -> Finding {
        Finding(state: .failed, check: check, subject: subject, text: text, remedy: remedy, cause: cause)
    }

    static func unasked(_ check: String, of subject: String, text: String, mend remedy: String? = nil) -> Finding {
        Finding(state: .unasked, check: check, subject: subject, text: text, remedy: remedy)
    }
}
