package import PushModel

extension APIOperation {
    /// A header field that an answer can have.
    package enum AnswerHeader: String, Sendable, CaseIterable {
        case location = "Location"
        case entityTag = "ETag"
        case link = "Link"
        case retryAfter = "Retry-After"
        case challenge = "WWW-Authenticate"
        case replayed = "Idempotency-Replayed"
        case preferenceApplied = "Preference-Applied"
        case cursor = "Pushfan-Cursor"

        /// The sentence for readers.
        package var summary: String {
            switch self {
            case .location: "The address of what was made."
            case .entityTag: "The mark of this state, for If-None-Match and If-Match."
            case .link: "The address of the next page, where there is one."
            case .retryAfter: "Seconds until the next try."
            case .challenge: "The ways to sign in."
            case .replayed: "true: this is the answer to the first call under the Idempotency-Key."
            case .preferenceApplied: "The wait that was respected."
            case .cursor: "The cursor behind these results."
            }
        }

        package var schema: JSONTree { self == .retryAfter ? JSONSchema.count : JSONSchema.text() }
    }
}

extension APIOperation.Problem {
    /// RFC 9457, with what this API adds.
    package static let schema = JSONSchema.object(
        [
            ("type", JSONSchema.text()), ("title", JSONSchema.text()), ("status", JSONSchema.integer(400...599)),
            ("detail", JSONSchema.text()), ("code", JSONSchema.text().described("One of the codes of this status.")),
            ("retry", retry), ("request_id", JSONSchema.text()),
            ("first", JSONSchema.text()), ("errors", JSONSchema.list(of: fault)),
        ], required: ["title", "status", "detail", "code", "retry"], isOpen: true
    ).named("Problem")

    static let fault = JSONSchema.object(
        [("pointer", JSONSchema.text()), ("code", JSONSchema.text()), ("detail", JSONSchema.text())],
        required: ["pointer", "code", "detail"], isOpen: true
    ).named("Fault")

    static let retry = JSONSchema.words(APIProblem.Retry.allCases.map(\.rawValue)).named("Retry")
}
