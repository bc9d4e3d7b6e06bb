package import HTTPServing
package import Keys

/// The routes by which back ends find and repair what was sent, and see how workers are. An id is decoded and not looked at.
package enum OperatorRoute: Sendable, Equatable {
    /// `GET /v1/requests`.
    case results
    /// `POST /v1/requests:search`: the same for a filter longer than a head.
    case searchResults
    /// `GET /v1/failures`.
    case failures
    /// `POST /v1/failures:search`.
    case searchFailures
    /// `GET /v1/deadletters`.
    case deadLetters
    /// `GET /v1/status`.
    case status
    /// `GET /v1/status/events`.
    case statusEvents
    /// `GET /v1/history`.
    case history
    /// `GET /v1/incidents`.
    case incidents
    /// `GET /v1/replays`.
    case replays
    /// `POST /v1/replays`.
    case plan
    /// `GET /v1/replays/{id}`.
    case replay(id: String)
    /// `DELETE /v1/replays/{id}`: of a plan that was never run.
    case deletePlan(id: String)
    /// `GET /v1/replays/{id}/events`.
    case replayEvents(id: String)
    /// `GET /v1/replays/{id}/leftovers`.
    case leftovers(id: String)
    /// `POST /v1/replays/{id}:run`, and so on.
    case command(ReplayVerb, id: String)
    /// `GET /v1/holds`.
    case holds
    /// `POST /v1/holds`.
    case hold
    /// `POST /v1/holds/{id}:release`.
    case release(id: String)
    /// `POST /v1/requests:cancel`.
    case cancelScope

    /// The commands for a replay that is planned.
    package enum ReplayVerb: String, Sendable, CaseIterable {
        case run, pause, resume, stop
    }

    /// The methods of a path, split at its slashes, and where they lead, or nil for a path of something else.
    static func methods(of pieces: [String]) -> [(method: String, route: OperatorRoute)]? {
        guard pieces.starts(with: ["", "v1"]), pieces.count > 2 else { return nil }
        if pieces[2] == "replays" { return methods(ofReplays: Array(pieces[3...])) }
        if pieces[2] == "holds" { return methods(ofHolds: Array(pieces[3...])) }
        return switch pieces[2...].joined(separator: "/") {
        case "requests:search": [("POST", .searchResults)]
        case "requests:cancel": [("POST", .cancelScope)]
        case "failures": reading(.failures)
        case "failures:search": [("POST", .searchFailures)]
        case "deadletters": reading(.deadLetters)
        case "status": reading(.status)
        case "status/events": reading(.statusEvents)
        case "history": reading(.history)
        case "incidents": reading(.incidents)
        default: nil
        }
    }

    private static func methods(ofReplays rest: [String]) -> [(method: String, route: OperatorRoute)]? {
        guard let first = rest.first else { return reading(.replays) + [("POST", .plan)] }
        guard !first.isEmpty else { return nil }
        let id = PathSegment.id(of: first)
        if rest.count == 2 {
            return rest[1] == "events"
                ? reading(.replayEvents(id: id)) : rest[1] == "leftovers" ? reading(.leftovers(id: id)) : nil
        }
        guard rest.count == 1 else { return nil }
        for verb in ReplayVerb.allCases where first.hasSuffix(":" + verb.rawValue) {
            let named = first.dropLast(verb.rawValue.count + 1)
            return named.isEmpty ? nil : [("POST", .command(verb, id: PathSegment.id(of: named)))]
        }
        return reading(.replay(id: id)) + [("DELETE", .deletePlan(id: id))]
    }

    private static func methods(ofHolds rest: [String]) -> [(method: String, route: OperatorRoute)]? {
        guard let first = rest.first else { return reading(.holds) + [("POST", .hold)] }
        let suffix = ":release"
        guard rest.count == 1, first.hasSuffix(suffix), first.count > suffix.count else { return nil }
        return [("POST", .release(id: PathSegment.id(of: first.dropLast(suffix.count))))]
    }

    private static func reading(_ route: OperatorRoute) -> [(method: String, route: OperatorRoute)] {
        [("GET", route)]
    }

    /// A short word, safe as a metric's label.
    var label: String {
        switch self {
        case .results: "requests.list"
        case .searchResults: "requests.search"
        case .failures: "failures"
        case .searchFailures: "failures.search"
        case .deadLetters: "deadletters"
        case .status: "status"
        case .statusEvents: "status.events"
        case .history: "history"
        case .incidents: "incidents"
        case .replays: "replays.list"
        case .plan: "replays.plan"
        case .replay: "replays.show"
        case .deletePlan: "replays.delete"
        case .replayEvents: "replays.events"
        case .leftovers: "replays.leftovers"
        case .command(let verb, _): "replays.\(verb.rawValue)"
        case .holds: "holds.list"
        case .hold: "holds.give"
        case .release: "holds.release"
        case .cancelScope: "requests.cancel.scope"
        }
    }

    /// True if a body says what to do.
    var takesBody: Bool {
        switch self {
        case .plan, .command: true
        default: isSearch || givesOrder
        }
    }

    /// True if the body has what the query of a list has.
    package var isSearch: Bool { self == .searchResults || self == .searchFailures }

    /// True if it gives an order or releases one, for which it waits for nothing but Kafka.
    package var givesOrder: Bool {
        switch self {
        case .hold, .release, .cancelScope: true
        default: false
        }
    }

    /// The upkeep of its answers: whoever only asks can ask again.
    package var upkeep: HTTPServerResponse.Upkeep { takesBody && !isSearch ? .owed : .counted }

    /// The scopes of which a key needs one.
    package var scopes: [Scope] {
        switch self {
        case .results, .searchResults, .failures, .searchFailures, .deadLetters, .status, .statusEvents, .history, .incidents:
            [.read]
        case .replays, .replay, .replayEvents, .leftovers: [.read, .replay]
        case .plan, .command, .deletePlan: [.replay]
        case .holds: [.operate, .read]
        case .hold, .release, .cancelScope: [.operate]
        }
    }

    /// True if the answer is about the fleet or records without an owner, hence for keys without tenant alone.
    package var concernsAllTenants: Bool {
        switch self {
        case .deadLetters, .status, .statusEvents, .history, .incidents: true
        default: false
        }
    }
}
