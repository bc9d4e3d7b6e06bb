import PushModel

/// The headers that a result may have. Readers go by key and value alone, so each gives the same answer.
public enum HeadersOfResult: CaseIterable, Sendable {
    /// Its own.
    case own
    /// Those of another request's result, with another state and of another version.
    case foreign
    /// None, as `results.headers: none` has it.
    case absent

    /// Names and values for the result of a request.
    public func list(of requestID: String) -> [(name: String, value: String)] {
        switch self {
        case .own: Self.list([(.contentType, "application/json"), (.id, "\(requestID).final"), (.subject, requestID)])
        case .foreign: Self.list([(.contentType, "text/plain"), (.id, "other.outcome.7"), (.subject, "other"), (.type, "v2")])
        case .absent: []
        }
    }

    private static func list(_ headers: [(ResultHeader, String)]) -> [(name: String, value: String)] {
        headers.map { ($0.rawValue, $1) }
    }
}
