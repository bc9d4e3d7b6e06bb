/// One checked subject, and the finding on it.
struct Finding: Equatable {
    /// The state of the subject.
    enum State: String, CaseIterable {
        /// As it should be.
        case ok
        /// It works, but needs attention.
        case warning
        /// It does not work, or will lose something.
        case failed
        /// It could not be checked, or was not.
        case unasked = "not asked"
    }

    let state: State
    /// The kind of check, in a word: `broker`, `topic`, `hub` and so on.
    let check: String
    /// The subject: a topic's name, a group's.
    let subject: String
    /// The finding in words.
    let text: String
    /// The command that mends it, or what else does.
    var remedy: String?
    /// The exit code of the program, if this is the first that failed.
    var code = ExitCode.failed

    static func ok(_ check: String, _ subject: String, _ text: String) -> Finding {
        Finding(state: .ok, check: check, subject: subject, text: text)
    }

    static func warning(_ check: String, _ subject: String, _ text: String, mend remedy: String?) -> Finding {
        Finding(state: .warning, check: check, subject: subject, text: text, remedy: remedy)
    }

    static func failed(
        _ check: String, _ subject: String, _ text: String, mend remedy: String?, code: ExitCode = .failed
    ) -> Finding {
        Finding(state: .failed, check: check, subject: subject, text: text, remedy: remedy, code: code)
    }

    static func unasked(_ check: String, _ subject: String, _ text: String, mend remedy: String? = nil) -> Finding {
        Finding(state: .unasked, check: check, subject: subject, text: text, remedy: remedy)
    }
}

extension [Finding] {
    /// The exit code of the program: the first failure's. With `isStrict` a warning counts as a failure.
    func exitCode(isStrict: Bool) -> ExitCode {
        if let failure = first(where: { $0.state == .failed }) { return failure.code }
        return isStrict && contains { $0.state == .warning } ? .failed : .done
    }

    /// `8 ok, 1 warning, 2 failed, 1 not asked`.
    var summary: String {
        Finding.State.allCases.map { state in
            Counted.text(count { $0.state == state }, state.rawValue, state == .warning ? "warnings" : state.rawValue)
        }.joined(separator: ", ")
    }
}
