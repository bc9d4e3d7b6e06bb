package import GatewayAPI
package import HTTPServing
import Keys
import PushModel

extension WebPage {
    /// The problem that a call has by its head, or nil.
    package func problem(of head: HTTPServerRequest, on operation: APIOperation.Page) -> APIProblem? {
        switch operation {
        case .showPage, .leadToPage, .giveFile: return nil
        case .beginSession: return crossSiteProblem(of: head) ?? bodyProblem(of: head)
        case .showSession, .endSession: return crossSiteProblem(of: head)
        }
    }

    private func bodyProblem(of head: HTTPServerRequest) -> APIProblem? {
        // The server would refuse it, too, but without the fields of the page.
        if Int(head.headers.single("Content-Length") ?? "") ?? 0 > APILimit.sessionByteCount {
            return .bodyTooLarge(limit: APILimit.sessionByteCount)
        }
        return JSONBody.isAdmitted(head.headers.single("Content-Type")) ? nil : .unsupportedMediaType
    }

    /// 403 for a call with a cookie that a browser makes for another site, or nil.
    package func crossSiteProblem(of head: HTTPServerRequest) -> APIProblem? {
        CallOrigin.isForeign(head, isSecure: proxies.hasSecureScheme(head)) ? .crossSite : nil
    }

    /// The secret of the session of a call, or nil for none.
    package func secret(of request: HTTPServerRequest) -> String? {
        SessionCookie.secret(in: request.headers, isSecure: proxies.hasSecureScheme(request))
    }

    /// Answers a call of the session itself.
    package func answer(session operation: APIOperation.Page, to request: HTTPServerRequest) throws(APIProblem) -> APIAnswer {
        if let problem = problem(of: request, on: operation) { throw problem }
        let secret = secret(of: request)
        switch operation {
        case .beginSession:
            let (new, facts) = try sessions.begin(try Self.key(in: request), from: proxies.client(of: request))
            if let secret { sessions.end(secret) }
            return giving(new, to: request, in: answer(facts))
        case .endSession:
            if let secret { sessions.end(secret) }
            return giving(nil, to: request, in: APIAnswer(status: 204, headers: ["Cache-Control": "no-store"]))
        default: return try shown(secret)
        }
    }

    /// Answers with the session, or with nothing where there is none: a page that begins may ask, and no browser complains of that.
    private func shown(_ secret: String?) throws(APIProblem) -> APIAnswer {
        do throws(APIProblem) {
            guard let secret else { throw .sessionOver }
            return answer(try sessions.check(secret))
        } catch {
            guard error.status == 401 else { throw error }
            return APIAnswer(status: 204, headers: ["Cache-Control": "no-store"])
        }
    }

    private static func key(in request: HTTPServerRequest) throws(APIProblem) -> String {
        var reader = try BodyReader(request, atMost: APILimit.sessionByteCount, members: ["key"])
        let key = reader.text("key")
        if key == nil, reader.faults.isEmpty { reader.fault("key", "It must be there.") }
        try reader.check()
        return key ?? ""
    }

    private func giving(_ secret: String?, to request: HTTPServerRequest, in answer: APIAnswer) -> APIAnswer {
        var answer = answer
        let cookie = SessionCookie.text(
            secret, at: request.headers.single("Host"), isSecure: proxies.hasSecureScheme(request))
        answer.headers.append("Set-Cookie", value: cookie)
        return answer
    }

    private func answer(_ facts: SessionKeeper.Facts) -> APIAnswer {
        let publisher = facts.publisher
        var json = JSONObject(["key": publisher.keyID, "source": publisher.source])
        json.add("tenant", raw: publisher.tenant.map { JSONObject.text($0) } ?? Array("null".utf8))
        json.add([
            "scopes": Scope.allCases.filter(publisher.scopes.contains).map(\.rawValue), "expires_at": facts.expiresAt.text,
            "version": version, "title": title, "comment": publisher.comment,
        ])
        return APIAnswer(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }
}
