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
        case .own: Self.list("application/json", "\(requestID).final", "push.result.v1", requestID)
        case .foreign: Self.list("text/plain", "other.outcome.7", "push.status.v2", "other")
        case .absent: []
        }
    }

    private static func list(_ content: String, _ id: String, _ type: String, _ subject: String) -> [(name: String, value: String)] {
        let values: [(ResultHeader, String)] = [
            (.contentType, content), (.specificationVersion, "1.0"), (.id, id), (.type, type), (.subject, subject),
        ]
        return values.map { ($0.rawValue, $1) }
    }
}
