import AppAPI
import DeviceAPI
import FeedAPI
import GatewayAPI
import HTTPServing
import Keys
import Observability
import OperatorAPI
import Page
import PublishAPI
import Users

/// Finds the route of each request, has its caller sign in, and hands it on.
struct Routes: Sendable {
    /// Fields that are no lists, so that two of them say nothing (RFC 9110, section 5.3). The server refuses two lengths and hosts, and
    /// an `Idempotency-Key` has a code of its own.
    private static let singleFields =
        ["Authorization", "Content-Type", "Origin", "Sec-Fetch-Site", "Last-Event-ID"] + CloudEvent.fieldNames

    let signIn: SignIn
    let endpoints: any Endpoints
    let services: GatewayServices
    /// Checks the API keys of back ends.
    var checkKey: KeyCheck = { _, _ in .refused }
    /// Checks them again, while a call goes on.
    var recheckKey: KeyRecheck = { _, _ in true }
    /// Counts the requests of batches.
    var checkBatch: BatchCheck = { _, _ in .allowed }
    /// Who is believed about where a request comes from.
    var proxies = TrustedProxies()
    /// The web page, or nil where it is not served.
    var page: WebPage?

    /// Decides about a request by its head, so that no body is kept without a name and a password, or for a route that there is not.
    /// Whether the password is right comes later.
    func admit(_ head: HTTPServerRequest) -> HTTPAdmission {
        let match = match(head)
        var kind: PublishKind?
        if case .route(let route) = match, case .publish(let operation) = route.operation {
            kind = PublishKind(operation, headers: head.headers)
        }
        if let problem = problem(of: head, match: match, kind: kind) { return .answer(counted(problem, of: head, match: match)) }
        guard case .route(let route) = match, route.takesBody else { return .skip }
        return kind.map { .readUnpacked(atMost: $0.maximumByteCount) } ?? .read(atMost: route.row.bodyLimit)
    }

    /// The answer to a request for whose body there is no room.
    func overload(_ head: HTTPServerRequest) -> HTTPServerResponse {
        counted(.overloaded(after: 1000), of: head, match: match(head))
    }

    /// The answer in place of one that has no room, because its client has not taken those before.
    func congestion() -> HTTPServerResponse {
        APIAnswer(APIProblem.overloaded(after: 1000)).documented(at: services.docsURL).response
    }

    /// The answer in place of one that the server gives by itself.
    func refusal(_ status: Int) -> HTTPServerResponse {
        APIAnswer(APIProblem.ofServer(status)).documented(at: services.docsURL).response
    }

    /// What can be said against a request without its body.
    private func problem(of head: HTTPServerRequest, match: Route.Match, kind: PublishKind?) -> APIProblem? {
        if case .route = match, let name = Self.singleFields.first(where: { head.headers.count(of: $0) > 1 }) {
            return .repeatedField(name)
        }
        guard case .route(let route) = match else { return Self.noRoute(for: head, match: match) }
        switch route.operation {
        case .open: return nil
        case .page(let operation): return page?.problem(of: head, on: operation)
        case .publish(let operation): return keyProblem(of: head) ?? (kind == nil ? operation.noMediaType : nil)
        case .lookup, .feed, .operate: return keyProblem(of: head)
        case .device: return isOfUser(head, on: route) ? nil : keyProblem(of: head, on: route)
        case .app(let operation):
            guard signIn.takes(Self.authorization(of: head)) else {
                services.metrics.signIns.series(["refused"]).increment()
                return signIn.takesTokens ? .noUser : .unauthorized
            }
            // A text to send may be missing, and needs no type then. Of a chunked body that is known at its end.
            let hasBody = route.takesBody && (operation != .notify || Int(head.headers.single("Content-Length") ?? "") ?? 0 > 0)
            return hasBody && !JSONBody.isAdmitted(head.headers.single("Content-Type")) ? .unsupportedMediaType : nil
        }
    }

    /// 404 or 405, with the route that was probably meant.
    private static func noRoute(for head: HTTPServerRequest, match: Route.Match) -> APIProblem {
        let nearest = APIOperation.nearest(to: head.method, at: head.rawPath)
        guard case .otherMethods(let methods) = match else { return .noRoute(near: nearest) }
        return .methodNotAllowed(methods, near: nearest)
    }

    /// Finds the route of a request. Without the page there is nothing below `/ui`.
    private func match(_ request: HTTPServerRequest) -> Route.Match {
        page == nil && WebPage.has(request.rawPath) ? .nowhere : Route.match(request.method, path: request.rawPath)
    }

    /// The answer with a problem.
    private func refusal(_ problem: APIProblem, of request: HTTPServerRequest) -> APIAnswer {
        let answer = APIAnswer(problem)
        return page != nil && WebPage.has(request.rawPath) ? answer.onPage() : answer
    }

    private func counted(_ problem: APIProblem, of head: HTTPServerRequest, match: Route.Match) -> HTTPServerResponse {
        let response = refusal(problem, of: head).documented(at: services.docsURL).response
        services.count(response, on: match.label, since: services.now())
        return response
    }

    /// Nil for two headers: neither counts more than the other.
    static func authorization(of request: HTTPServerRequest) -> String? {
        request.headers.single("Authorization")
    }

    /// Answers a request, now or later; waits for nothing.
    func answer(_ request: HTTPServerRequest, with responder: Responder) {
        let match = match(request)
        let reply = Reply(responder, route: match.label, services: services)
        guard case .route(let route) = match else {
            return reply.answer(refusal(Self.noRoute(for: request, match: match), of: request))
        }
        switch route.operation {
        case .open(.welcome): reply.answer(.text(APIOperation.welcomeText))
        case .open(.openAPI):
            if !reply.isStruck(request) { reply.answer(description(for: request, on: route)) }
        case .page(let operation):
            if let page { reply.answer(page.answer(operation, file: route.id, to: request).onPage()) }
        case .publish(let operation):
            let kind = PublishKind(operation, headers: request.headers)
            signIn(request, on: route, kind: kind, reply: reply) { [endpoints, checkBatch] holder in
                guard let kind else { return reply.answer(operation.noMediaType) }
                endpoints.publish(
                    PublishCall(kind: kind, request: request, by: holder, checkBatch: checkBatch, reply: reply))
            }
        case .lookup(let operation):
            signIn(request, on: route, reply: reply) { [endpoints] in
                endpoints.answerLookup(LookupCall(operation, of: route.id, request: request, by: $0, reply: reply))
            }
        case .feed(let operation):
            signIn(request, on: route, reply: reply) { [endpoints] in
                endpoints.answerFeed(FeedCall(operation, request: request, by: $0, reply: reply))
            }
        case .device(let operation):
            let (parameters, endpoints) = (route.parameters, endpoints)
            let answer = { @Sendable (origin: DeviceCall.Origin) in
                endpoints.answerDevices(DeviceCall(operation, at: parameters, request: request, by: origin, reply: reply))
            }
            if isOfUser(request, on: route) {
                signInUser(of: request, for: .register, reply: reply) { answer(.user($0)) }
            } else {
                signIn(request, on: route, reply: reply) { answer(.backEnd($0)) }
            }
        case .operate(let operation):
            signIn(request, on: route, reply: reply) { [endpoints] in
                endpoints.operate(OperatorCall(operation, of: route.id, request: request, by: $0, reply: reply))
            }
        case .app(let operation):
            signInUser(of: request, for: operation.scope, reply: reply) { [endpoints] caller in
                endpoints.answer(APICall(operation: operation, id: route.id, request: request, caller: caller, reply: reply))
            }
        }
    }

    /// True for a call about devices by a user, and not by a back end with a key.
    private func isOfUser(_ request: HTTPServerRequest, on route: Route) -> Bool {
        let authorization = Self.authorization(of: request)
        return route.row.access == .device && PresentedKey(authorization: authorization) == nil && signIn.takes(authorization)
    }

    /// Hands on who a user is, or answers the call. A token with scopes needs `scope`.
    private func signInUser(
        of request: HTTPServerRequest, for scope: Scope?, reply: Reply, then: @escaping @Sendable (Caller) -> Void
    ) {
        signIn.check(Self.authorization(of: request), from: proxies.client(of: request)) { [signIn] outcome in
            switch outcome {
            case .signedIn(let caller):
                do throws(APIProblem) {
                    if let scope { try caller.check(scope) }
                    if !reply.isStruck(request) { then(caller) }
                } catch {
                    reply.answer(error)
                }
            case .refused: reply.answer(signIn.takesTokens ? APIProblem.noUser : .unauthorized)
            case .tokenRefused: reply.answer(APIProblem.tokenWrong)
            case .tokenKeyUnread(let wait): reply.answer(APIProblem.tokenKeyUnread(after: wait))
            case .held(let wait): reply.answer(APIProblem.tooManySignIns(after: wait))
            case .overloaded: reply.answer(APIProblem.overloaded(after: 1000))
            }
        }
    }

    private func description(for request: HTTPServerRequest, on route: Route) -> APIAnswer {
        do throws(APIProblem) {
            _ = try route.row.query(of: request)
            return APIDescription.answer(to: request.headers)
        } catch {
            return APIAnswer(error)
        }
    }

    /// Hands on whose key a call shows, or answers it: what the key may not, and a query that the route does not have. A batch that the
    /// key's rate never allows is not told to come back.
    private func signIn(
        _ request: HTTPServerRequest, on route: Route, kind: PublishKind? = nil, reply: Reply, then: (KeyHolder) -> Void
    ) {
        do throws(APIProblem) {
            let holder = try holder(of: request)
            try route.row.checkRights(scopes: holder.publisher.scopes, tenant: holder.publisher.tenant)
            _ = try route.row.query(of: request)
            if !reply.isStruck(request) { then(holder) }
        } catch {
            guard let burst = error.burst, case .batch(let form)? = kind else { return reply.answer(error) }
            let key = PresentedKey(authorization: Self.authorization(of: request))?.id ?? ""
            let problem = endpoints.work(for: key) {
                let count = (try? Batch(request.body, form: form))?.items.count ?? 0
                reply.answer(count > burst ? .batchBeyondRate(burst) : error)
            }
            if let problem { reply.answer(problem) }
        }
    }
}

extension APIOperation.App {
    /// The scope that a token with scopes needs. A text that was sent to a user is the user's own, and needs none.
    fileprivate var scope: Scope? {
        switch self {
        case .newRegistration, .putRegistration, .deleteRegistration: .register
        case .notify: .publish
        case .secureText: nil
        }
    }
}
