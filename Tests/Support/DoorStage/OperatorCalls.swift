package import GatewayAPI
package import HTTPServing
package import Keys
package import OperatorAPI

/// A call of an operator's operation, whose answer is dropped.
package func call(
    _ operation: APIOperation.Operate, id: String = "", scopes: Set<Scope>, tenant: String? = nil, method: String = "GET",
    target: String = "/x",
    body: String = "", headers: HTTPFields = ["Content-Type": "application/json"],
    answer: @escaping @Sendable (APIAnswer) -> Void = { _ in }
) -> OperatorCall {
    let request = HTTPServerRequest(method: method, target: target, headers: headers, body: Array(body.utf8))
    let publisher = Publisher(keyID: "k1", tenant: tenant, source: "shop", scopes: scopes)
    return OperatorCall(operation: operation, id: id, request: request, publisher: publisher, answer: answer) { _, _ in
        ManualSink()
    }
}

extension OperatorCall {
    /// What a gateway does once the key is known.
    package func checkRights() throws(APIProblem) {
        try operation.row.checkRights(scopes: publisher.scopes, tenant: publisher.tenant)
    }
}
