import PushModel

/// An operation of the gateway's API. Each route is one, but for those of the web page, and each has a row in the description: the
/// compiler asks for both.
enum APIOperation: String, CaseIterable {
    case welcome, newRegistration, putRegistration, deleteRegistration, notify, secureText, publish, publishBatch, explain,
        showRequest, followRequest,
        cancelRequest, openAPI
    case listRequests, searchRequests, listFailures, searchFailures, listDeadLetters, showStatus, followStatus, showHistory,
        listIncidents, listReplays, planReplay,
        showReplay, deletePlan, followReplay, listLeftovers, runReplay, pauseReplay, resumeReplay, stopReplay
    case listHolds, giveHold, releaseHold, cancelScope

    /// The operation that a route leads to, or nil for one of the web page.
    init?(_ route: Route) {
        let operation: APIOperation? =
            switch route {
            case .page: nil
            case .welcome: .welcome
            case .newRegistration: .newRegistration
            case .putRegistration: .putRegistration
            case .deleteRegistration: .deleteRegistration
            case .notify: .notify
            case .secureText: .secureText
            case .publish: .publish
            case .publishBatch: .publishBatch
            case .explain: .explain
            case .request(.show): .showRequest
            case .request(.events): .followRequest
            case .request(.cancel): .cancelRequest
            case .openAPI: .openAPI
            case .operate(.results): .listRequests
            case .operate(.searchResults): .searchRequests
            case .operate(.failures): .listFailures
            case .operate(.searchFailures): .searchFailures
            case .operate(.deadLetters): .listDeadLetters
            case .operate(.status): .showStatus
            case .operate(.statusEvents): .followStatus
            case .operate(.history): .showHistory
            case .operate(.incidents): .listIncidents
            case .operate(.replays): .listReplays
            case .operate(.plan): .planReplay
            case .operate(.replay): .showReplay
            case .operate(.deletePlan): .deletePlan
            case .operate(.replayEvents): .followReplay
            case .operate(.leftovers): .listLeftovers
            case .operate(.command(.run, _)): .runReplay
            case .operate(.command(.pause, _)): .pauseReplay
            case .operate(.command(.resume, _)): .resumeReplay
            case .operate(.command(.stop, _)): .stopReplay
            case .operate(.holds): .listHolds
            case .operate(.hold): .giveHold
            case .operate(.release): .releaseHold
            case .operate(.cancelScope): .cancelScope
            }
        guard let operation else { return nil }
        self = operation
    }

    /// Its row of the description.
    var row: Row {
        switch self {
        case .welcome: Self.welcomeRow
        case .newRegistration: Self.newRegistrationRow
        case .putRegistration: Self.putRegistrationRow
        case .deleteRegistration: Self.deleteRegistrationRow
        case .notify: Self.notifyRow
        case .secureText: Self.secureTextRow
        case .publish: Self.publishRow
        case .publishBatch: Self.publishBatchRow
        case .explain: Self.explainRow
        case .showRequest: Self.showRequestRow
        case .followRequest: Self.followRequestRow
        case .cancelRequest: Self.cancelRequestRow
        case .openAPI: Self.openAPIRow
        case .listRequests: Self.listRequestsRow
        case .searchRequests: Self.searchRequestsRow
        case .listFailures: Self.listFailuresRow
        case .searchFailures: Self.searchFailuresRow
        case .listDeadLetters: Self.listDeadLettersRow
        case .showStatus: Self.showStatusRow
        case .followStatus: Self.followStatusRow
        case .showHistory: Self.showHistoryRow
        case .listIncidents: Self.listIncidentsRow
        case .listReplays: Self.listReplaysRow
        case .planReplay: Self.planReplayRow
        case .showReplay: Self.showReplayRow
        case .deletePlan: Self.deletePlanRow
        case .followReplay: Self.followReplayRow
        case .listLeftovers: Self.listLeftoversRow
        case .runReplay: Self.runReplayRow
        case .pauseReplay: Self.pauseReplayRow
        case .resumeReplay: Self.resumeReplayRow
        case .stopReplay: Self.stopReplayRow
        case .listHolds: Self.listHoldsRow
        case .giveHold: Self.giveHoldRow
        case .releaseHold: Self.releaseHoldRow
        case .cancelScope: Self.cancelScopeRow
        }
    }
}

extension APIOperation {
    /// The row of one operation.
    struct Row {
        let method: String
        /// The path, with a parameter in braces.
        let path: String
        let summary: String
        var access = Access.user
        var parameters: [Parameter] = []
        var body: Content?
        let answers: [Answer]
        /// Those of the operation alone. `allProblems` has the others, too.
        var problems: [Problem] = []
    }

    /// The callers that it admits.
    enum Access {
        /// Anybody, without credentials.
        case anyone
        /// Users with name and password (RFC 7617).
        case user
        /// Back ends with an API key (RFC 6750).
        case key
    }

    struct Parameter {
        enum Place: String {
            case path, query, header
        }

        let name: String
        var place = Place.query
        let schema: JSONTree
        let summary: String
        let example: String
    }

    /// A body, or what an answer has.
    struct Content {
        var mediaType = "application/json"
        let schema: JSONTree
        let example: JSONTree
        var isRequired = true
    }

    struct Answer {
        var status = 200
        let summary: String
        var content: Content?
    }

    struct Problem: Equatable {
        let status: Int
        var codes: [APIProblem.Code] = []
        /// True if it can have the codes of results, too.
        var hasResultCodes = false
    }
}

extension APIOperation.Row {
    /// The problems of the operation, those included that its access and its body bring, by status.
    var allProblems: [APIOperation.Problem] {
        var all: [APIOperation.Problem] = [
            .init(status: 400, codes: [.invalidRequest]), .init(status: 431, codes: [.headerTooLarge]),
            .init(status: 500, codes: [.internal]), .init(status: 503, codes: [.overloaded, .stopping]),
        ]
        if access != .anyone {
            all += [.init(status: 401, codes: [.unauthorized]), .init(status: 429, codes: [.tooManySignIns])]
        }
        if access == .key { all.append(.init(status: 403, codes: [.crossSite])) }
        if body != nil {
            all += [.init(status: 413, codes: [.bodyTooLarge]), .init(status: 415, codes: [.unsupportedMediaType])]
        }
        all += problems
        return Set(all.map(\.status)).sorted().map { status in
            let these = all.filter { $0.status == status }
            return APIOperation.Problem(
                status: status, codes: these.flatMap(\.codes), hasResultCodes: these.contains(where: \.hasResultCodes))
        }
    }
}
