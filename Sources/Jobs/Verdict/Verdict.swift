/// The fate of a request in one sentence, and its reason.
package struct Verdict: Sendable, Equatable {
    /// A word for programs, from a closed list.
    package let code: String
    /// One sentence for people, with its full stop.
    package let text: String
    /// The reason in a sentence, or nil where the verdict says it all.
    package let reason: String?

    /// A verdict.
    package init(_ code: String, text: String, reason: String? = nil) {
        (self.code, self.text, self.reason) = (code, text, reason)
    }
}
