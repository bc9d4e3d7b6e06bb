import GatewayAPI
import HTTPServing
import Keys
import Page
import Users

extension Routes {
    /// The fault of a call's key by its form, or of its cookie by the place that the call comes from. Nil for one that may be right.
    func keyProblem(of head: HTTPServerRequest) -> APIProblem? {
        if session(of: head) != nil { return page?.crossSiteProblem(of: head) }
        guard PresentedKey(authorization: Self.authorization(of: head)) == nil else { return nil }
        return head.headers.count(of: "Authorization") == 0 ? .keyMissing : .keyMalformed
    }

    /// The same at a route that users have as well, with all ways to sign in.
    func keyProblem(of head: HTTPServerRequest, on route: Route) -> APIProblem? {
        var problem = keyProblem(of: head)
        if route.row.access == .device { problem?.challenges.append(BasicCredentials.challenge) }
        return problem
    }

    /// Checks whose key a call has, or whose session.
    ///
    /// - Throws: 401, 403 or 429.
    func holder(of request: HTTPServerRequest) throws(APIProblem) -> KeyHolder {
        let client = proxies.client(of: request)
        if let page, let secret = session(of: request) {
            if let problem = page.crossSiteProblem(of: request) { throw problem }
            let publisher = try page.sessions.check(secret).publisher
            return KeyHolder(publisher: publisher, client: client) { [sessions = page.sessions] in
                sessions.isOpen(secret, for: publisher)
            }
        }
        let authorization = Self.authorization(of: request)
        let outcome = checkKey(authorization, client)
        let publisher = try outcome.publisher(orRefuse: keyProblem(of: request) ?? .keyWrong)
        return KeyHolder(publisher: publisher, client: client) { [recheckKey] in recheckKey(authorization, publisher) }
    }

    /// The secret of a session in a call without a key. A key counts more than a cookie, which browsers add by themselves.
    private func session(of request: HTTPServerRequest) -> String? {
        request.headers.count(of: "Authorization") == 0 ? page?.secret(of: request) : nil
    }
}
