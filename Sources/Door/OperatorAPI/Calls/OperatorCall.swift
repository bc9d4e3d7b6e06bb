import GatewayAPI
import HTTPServing
import Keys
import Users

/// A call of a back end that finds, repairs or shows how workers are. Its key is right.
struct OperatorCall: Sendable {
    let route: OperatorRoute
    /// The call, whole.
    let request: HTTPServerRequest
    let publisher: Publisher
    /// Takes the answer. What comes after the first is ignored.
    let answer: @Sendable (APIAnswer) -> Void
    /// Begins an answer whose body is written later.
    let stream: EventStreaming
    /// The network that it comes from, or nil where that is not known.
    var client: ClientNetwork?

    /// The holder of the shares that it takes.
    var claimant: Claimant { Claimant(keyID: publisher.keyID, tenant: publisher.tenant, client: client) }

    func refuse(_ problem: APIProblem) { answer(APIAnswer(problem)) }

    /// Checks the right to make it: 403 that names the scope, or says that the key has a tenant.
    func checkRights() throws(APIProblem) {
        guard route.scopes.contains(where: publisher.scopes.contains) else { throw .forbiddenScope(route.scopes[0]) }
        guard publisher.tenant == nil || !route.concernsAllTenants else { throw .notForTenants }
    }

    /// The query's items by their exact names, or the members of a search's body. Another name, and one that is there twice, is 400, and
    /// 422 in a body.
    func query(_ names: Set<String>) throws(APIProblem) -> [String: String] {
        guard !route.isSearch else { return try body(names) }
        var found: [String: String] = [:]
        for item in request.query {
            guard names.contains(item.name) else {
                throw .invalid("The query has an unknown member. Known are: \(names.sorted().joined(separator: ", ")).")
            }
            guard found.updateValue(item.value ?? "", forKey: item.name) == nil else {
                throw .invalid("The query has \(item.name) more than once.")
            }
        }
        return found
    }

    private func body(_ names: Set<String>) throws(APIProblem) -> [String: String] {
        guard request.query.isEmpty else { throw .invalid("A search has its members in the body, and no query.") }
        let names = names.sorted()
        var (reader, found) = (try BodyReader(request, members: names), [String: String]())
        for name in names {
            found[name] =
                name == "limit"
                ? reader.integer(name, in: .min ... .max).map { String($0) }
                : reader.text(name, count: 0...BodyLimit.other)
        }
        try reader.check()
        return found
    }
}

extension OperatorCall {
    init(_ route: OperatorRoute, request: HTTPServerRequest, by holder: KeyHolder, reply: Reply) {
        let upkeep = route.upkeep
        self.init(
            route: route, request: request, publisher: holder.publisher,
            answer: { answer in
                var answer = answer
                answer.upkeep = upkeep
                reply.answer(answer)
            }, stream: reply.streaming(to: holder), client: ClientNetwork(holder.client))
    }
}

extension [String: String] {
    /// A whole number of a query, or its default. What is none, or out of range, is 400.
    func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) throws(APIProblem) -> Int {
        try integer(name, in: range) ?? value
    }

    /// A whole number of a query, or nil. What is none, or out of range, is 400.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A yes or no of a query, which is no when it is missing.
    func isTrue(_ name: String) throws(APIProblem) -> Bool {
        switch self[name] {
        case nil, "false": false
        case "true", "": true
        default: throw .invalid("\(name) must be true or false.")
        }
    }
}

extension APIProblem {
    /// 403: the answer would be about all tenants.
    static let notForTenants = APIProblem(
        403, code: .forbiddenTenant, detail: "The key has a tenant, and what is asked for is not divided by tenants.")
}
