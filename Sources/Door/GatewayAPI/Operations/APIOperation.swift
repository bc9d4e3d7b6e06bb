package import Keys
package import PushModel

/// An operation of the gateway: each has a row, and each row is a route. The operations of a room are one type, so that the compiler asks
/// for a handler of each.
package enum APIOperation: Sendable, Hashable, CaseIterable {
    case open(Open)
    case app(App)
    case publish(Publish)
    case lookup(Lookup)
    case feed(Feed)
    case device(Device)
    case operate(Operate)
    case page(Page)

    package static let allCases: [APIOperation] = [
        Open.allCases.map(open), App.allCases.map(app), Publish.allCases.map(publish), Lookup.allCases.map(lookup),
        Feed.allCases.map(feed), Device.allCases.map(device), Operate.allCases.map(operate), Page.allCases.map(page),
    ].flatMap { $0 }

    /// Those of the API: the page has routes, and is no part of it.
    package static let described = allCases.filter { if case .page = $0 { false } else { true } }

    /// Its name in the description.
    package var name: String { ofRoom.rawValue }

    /// Its row of the table.
    package var row: Row { ofRoom.row }

    private var ofRoom: any RoomOperation {
        switch self {
        case .open(let operation): operation
        case .app(let operation): operation
        case .publish(let operation): operation
        case .lookup(let operation): operation
        case .feed(let operation): operation
        case .device(let operation): operation
        case .operate(let operation): operation
        case .page(let operation): operation
        }
    }
}

/// An operation of one room.
package protocol RoomOperation: Sendable, Hashable, CaseIterable {
    var rawValue: String { get }
    /// Its row of the table.
    var row: APIOperation.Row { get }
}

extension APIOperation {
    /// An operation for anybody.
    package enum Open: String, RoomOperation {
        case welcome, openAPI

        package var row: Row {
            switch self {
            case .welcome: welcomeRow
            case .openAPI: openAPIRow
            }
        }
    }

    /// An operation of the tutorials' apps.
    package enum App: String, RoomOperation {
        case newRegistration, putRegistration, deleteRegistration, notify, secureText

        package var row: Row {
            switch self {
            case .newRegistration: newRegistrationRow
            case .putRegistration: putRegistrationRow
            case .deleteRegistration: deleteRegistrationRow
            case .notify: notifyRow
            case .secureText: secureTextRow
            }
        }
    }

    /// An operation that brings requests.
    package enum Publish: String, RoomOperation {
        case publish, publishBatch, explain

        package var row: Row {
            switch self {
            case .publish: publishRow
            case .publishBatch: publishBatchRow
            case .explain: explainRow
            }
        }
    }

    /// An operation on one request.
    package enum Lookup: String, RoomOperation {
        case showRequest, followRequest, cancelRequest

        package var row: Row {
            switch self {
            case .showRequest: showRequestRow
            case .followRequest: followRequestRow
            case .cancelRequest: cancelRequestRow
            }
        }
    }

    /// An operation on the results of many requests.
    package enum Feed: String, RoomOperation {
        case listResults, followResults

        package var row: Row {
            switch self {
            case .listResults: listResultsRow
            case .followResults: followResultsRow
            }
        }
    }

    /// An operation on devices.
    package enum Device: String, RoomOperation {
        case putInstallation, changeInstallation, showInstallation, removeInstallation, addInstallationTag, removeInstallationTag,
            listUserInstallations, eraseUser, showErasure

        package var row: Row {
            switch self {
            case .putInstallation: putInstallationRow
            case .changeInstallation: changeInstallationRow
            case .showInstallation: showInstallationRow
            case .removeInstallation: removeInstallationRow
            case .addInstallationTag: addInstallationTagRow
            case .removeInstallationTag: removeInstallationTagRow
            case .listUserInstallations: listUserInstallationsRow
            case .eraseUser: eraseUserRow
            case .showErasure: showErasureRow
            }
        }
    }

    /// An operation by which back ends find, repair and hold what was sent, and see how workers are.
    package enum Operate: String, RoomOperation {
        case listRequests, searchRequests, listFailures, searchFailures, listDeadLetters, showStatus, followStatus,
            showHistory, listIncidents, listReplays, planReplay, showReplay, deletePlan, followReplay, listLeftovers,
            runReplay, pauseReplay, resumeReplay, stopReplay, listHolds, giveHold, releaseHold, cancelScope

        package var row: Row {
            switch self {
            case .listRequests: listRequestsRow
            case .searchRequests: searchRequestsRow
            case .listFailures: listFailuresRow
            case .searchFailures: searchFailuresRow
            case .listDeadLetters: listDeadLettersRow
            case .showStatus: showStatusRow
            case .followStatus: followStatusRow
            case .showHistory: showHistoryRow
            case .listIncidents: listIncidentsRow
            case .listReplays: listReplaysRow
            case .planReplay: planReplayRow
            case .showReplay: showReplayRow
            case .deletePlan: deletePlanRow
            case .followReplay: followReplayRow
            case .listLeftovers: listLeftoversRow
            case .runReplay: runReplayRow
            case .pauseReplay: pauseReplayRow
            case .resumeReplay: resumeReplayRow
            case .stopReplay: stopReplayRow
            case .listHolds: listHoldsRow
            case .giveHold: giveHoldRow
            case .releaseHold: releaseHoldRow
            case .cancelScope: cancelScopeRow
            }
        }
    }

    /// An operation of the web page.
    package enum Page: String, RoomOperation {
        case showPage, leadToPage, giveFile, showSession, beginSession, endSession

        package var row: Row {
            switch self {
            case .showPage: showPageRow
            case .leadToPage: leadToPageRow
            case .giveFile: giveFileRow
            case .beginSession: beginSessionRow
            case .showSession: showSessionRow
            case .endSession: endSessionRow
            }
        }
    }
}

extension APIOperation {
    /// The row of one operation.
    package struct Row: Sendable {
        package let method: String
        /// The path, with a parameter in braces.
        package let path: String
        /// A short word, safe as a metric's label.
        package let label: String
        package let summary: String
        package var access = Access.user
        package var work = Work.none
        /// The most bytes of a body.
        package var bodyLimit = JSONBody.maximumByteCount
        package var parameters: [Parameter] = []
        package var body: Content?
        package let answers: [Answer]
        /// Those of the operation alone. `allProblems` has the others, too.
        var problems: [Problem] = []
    }

    /// The callers that it admits.
    package enum Access: Sendable, Equatable {
        /// Anybody, without credentials.
        case anyone
        /// Users with name and password (RFC 7617).
        case user
        /// Back ends with an API key that has the scope `register`, and users, each for devices of its own.
        case device
        /// Back ends with an API key (RFC 6750) that has one of these scopes. An answer about the fleet, or records without an owner,
        /// concerns all tenants, and is for keys without one.
        case key([Scope], allTenants: Bool = false)

        /// True for back ends.
        var isOfKeys: Bool { self != .anyone && self != .user }
    }

    /// The work for an answer.
    package enum Work: Sendable {
        /// Nothing that a thread would wait for.
        case none
        /// Milliseconds.
        case find
        /// Milliseconds, where there are a filter and an index for it. Else seconds.
        case search
        /// Seconds.
        case scan
        /// Waiting for a runner or a broker, or reading a plan.
        case act
    }

    package struct Parameter: Sendable {
        package enum Place: String, Sendable {
            case path, query, header
        }

        package let name: String
        package var place = Place.query
        package let schema: JSONTree
        package let summary: String
        package let example: String

        /// True for a yes or no, which is yes where it has no value.
        package var isFlag: Bool { schema == JSONSchema.boolean }
    }

    /// A body, or what an answer has.
    package struct Content: Sendable {
        package var mediaType = "application/json"
        /// Empty where there is an example alone.
        package let schema: JSONTree
        package let example: JSONTree
        package var isRequired = true
        /// The same in other media types.
        package var alternatives: [Content] = []
    }

    package struct Answer: Sendable {
        package var status = 200
        package let summary: String
        package var content: Content?
        /// The header fields that it can have, beside those of any answer.
        package var headers: [AnswerHeader] = []
    }

    package struct Problem: Sendable, Equatable {
        package let status: Int
        package var codes: [APIProblem.Code] = []
        /// True if it can have the codes of results, too.
        package var hasResultCodes = false
    }
}

extension APIOperation.Row {
    /// The problems of the operation, those included that its access and its body bring, by status.
    package var allProblems: [APIOperation.Problem] {
        var all: [APIOperation.Problem] = [
            .init(status: 400, codes: [.invalidRequest]), .init(status: 431, codes: [.headerTooLarge]),
            .init(status: 500, codes: [.internal]), .init(status: 503, codes: [.overloaded, .stopping]),
        ]
        if access != .anyone {
            all += [.init(status: 401, codes: [.unauthorized]), .init(status: 429, codes: [.tooManySignIns])]
        }
        if access == .user { all.append(.init(status: 403, codes: [.forbiddenScope])) }
        if access.isOfKeys {
            var isTenantsRefused = access == .device
            if case .key(_, allTenants: true) = access { isTenantsRefused = true }
            all += [
                .init(status: 403, codes: [.crossSite, .forbiddenScope] + (isTenantsRefused ? [.forbiddenTenant] : [])),
                .init(status: 429, codes: [.rateLimited, .tooManyRequests]),
            ]
        }
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
