/// The result of asking a hub a question that sends nothing: whether the hub is there, and takes the key.
///
/// The question is for the outcome of a notification that there never was. A hub that lets us in does not know it, so that 404 is the
/// usual good answer. It needs a key that may send, or so it is understood: a refusal of the right to ask is none of the key.
public struct HubFinding: Sendable, Equatable {
    /// The kinds of a finding.
    public enum Kind: Sendable, CaseIterable {
        /// The hub is there and takes the key.
        case good
        /// It does, and asks to wait.
        case throttled
        /// There is no such hub.
        case missing
        /// The key is wrong, or not the hub's.
        case keyRefused
        /// The key is known. It may not ask, or a quota is used up. Whether it may send is not known.
        case rightUnknown
        /// The hub, or what stands before it, answers as one that is out.
        case failing
        /// There is no answer.
        case unreachable
        /// Something else answers in the hub's place, with a page for people.
        case foreign
        /// There is no connection that can be trusted.
        case untrusted
        /// An answer that hubs do not give, perhaps of something that does not know the question.
        case unclear
    }

    /// The kind of the finding.
    public let kind: Kind
    /// The same in words, to be put behind the hub's name: "refuses the key: 401".
    public let words: String

    /// The finding from an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - detail: What the error says; empty when it says nothing.
    ///   - asksToWait: Whether it has a Retry-After.
    ///   - isHubs: Whether the answer is the hub's own, and not a page of something before it, which says nothing of key and hub.
    public init(status: Int, detail: String, asksToWait: Bool, isHubs: Bool = true) {
        if !isHubs, !asksToWait, (200..<300).contains(status) || (400...404).contains(status) || status == 410 {
            // Web frameworks answer with pages where they do not know a question. One with a success is of something else.
            self.init(
                status < 300 ? .foreign : .failing,
                words: "answers \(status) with a page that is no hub's, as that of a sign-in or a proxy")
            return
        }
        let said = detail.isEmpty ? "\(status)" : "\(status), \(detail)"
        let detail = detail.lowercased()
        switch status {
        case 429,
            403 where asksToWait:
            self.init(.throttled, words: "accepts the key, and throttles: \(said)")
        case 404 where detail.contains("no service is hosted"):
            self.init(.missing, words: "does not exist; there is no such hub in this namespace: \(said)")
        case 403 where detail.contains("tier"): self.init(.good, words: "accepts the key; its tier has no telemetry")
        case 200..<300, 400, 404: self.init(.good, words: "accepts the key")
        case 403,
            401 where detail.contains("claim is required"):
            self.init(.rightUnknown, words: "knows the key, but its policy lacks a right, or the quota is used up: \(said)")
        case 401: self.init(.keyRefused, words: "refuses the key: \(said)")
        case 501, 505: self.init(.unclear, words: "gives an answer that tells nothing: \(said)")
        case 408, 500...: self.init(.failing, words: "answers \(said)")
        default: self.init(.unclear, words: "gives an answer that tells nothing: \(said)")
        }
    }

    /// The finding from the lack of an answer.
    ///
    /// - Parameters:
    ///   - detail: Why there is none, in words.
    ///   - isTrust: Whether the connection could not be secured.
    public init(unanswered detail: String, isTrust: Bool) {
        self.init(
            isTrust ? .untrusted : .unreachable,
            words: isTrust ? "has a certificate that is not trusted: \(detail)" : "does not answer: \(detail)")
    }

    private init(_ kind: Kind, words: String) {
        self.kind = kind
        self.words = words
    }

    /// True if calls must be expected to fail as well. What is not known is no reason to say so.
    public var isBad: Bool {
        switch kind {
        case .good, .throttled, .rightUnknown, .unclear: false
        case .missing, .keyRefused, .failing, .unreachable, .foreign, .untrusted: true
        }
    }

    /// True if an open circuit may take it for a call that succeeded, false for one that failed, nil for neither.
    public var isProof: Bool? {
        switch kind {
        case .good, .throttled, .unclear: true
        case .rightUnknown: nil
        case .missing, .keyRefused, .failing, .unreachable, .foreign, .untrusted: false
        }
    }
}
