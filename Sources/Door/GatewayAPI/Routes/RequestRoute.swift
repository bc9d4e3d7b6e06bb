/// The routes of one request, below `/v1/requests/`. The id is decoded and not looked at.
package enum RequestRoute: Sendable, Equatable {
    /// `GET /v1/requests/{id}`.
    case show(id: String)
    /// `GET /v1/requests/{id}/events`.
    case events(id: String)
    /// `POST /v1/requests/{id}:cancel`.
    case cancel(id: String)

    private static let cancelSuffix = ":cancel"

    /// The methods of a path, split at its slashes, and where they lead, or nil for a path of something else. An id may have
    /// colons. One that ends with `:cancel` must have that colon escaped.
    static func methods(of pieces: [String]) -> [(method: String, route: RequestRoute)]? {
        guard pieces.starts(with: ["", "v1", "requests"]), pieces.count > 3, !pieces[3].isEmpty else { return nil }
        let id = PathSegment.id(of: pieces[3])
        if pieces.count == 5, pieces[4] == "events" { return [("GET", .events(id: id))] }
        guard pieces.count == 4 else { return nil }
        guard pieces[3].hasSuffix(cancelSuffix) else { return [("GET", .show(id: id))] }
        let named = pieces[3].dropLast(cancelSuffix.count)
        return named.isEmpty ? nil : [("POST", .cancel(id: PathSegment.id(of: named)))]
    }

    /// A short word, safe as a metric's label.
    var label: String {
        switch self {
        case .show: "requests.show"
        case .events: "requests.events"
        case .cancel: "requests.cancel"
        }
    }

    /// Whether a body says what to do.
    var takesBody: Bool { if case .cancel = self { true } else { false } }
}
