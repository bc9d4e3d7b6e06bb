package import GatewayAPI
package import HTTPServing
package import Users

/// A call of a back end that finds, repairs or shows how workers are. Its key is right.
package struct OperatorCall: Sendable {
    package let operation: APIOperation.Operate
    /// The id in its path, empty where there is none.
    package let id: String
    /// The call, whole.
    let request: HTTPServerRequest
    package let publisher: Publisher
    /// Takes the answer. What comes after the first is ignored.
    package let answer: @Sendable (APIAnswer) -> Void
    /// Begins an answer whose body is written later.
    let stream: EventStreaming
    /// The network that it comes from, or nil where that is not known.
    var client: ClientNetwork?

    package init(
        operation: APIOperation.Operate, id: String, request: HTTPServerRequest, publisher: Publisher,
        answer: @escaping @Sendable (APIAnswer) -> Void, stream: @escaping EventStreaming, client: ClientNetwork? = nil
    ) {
        self.operation = operation
        self.id = id
        self.request = request
        self.publisher = publisher
        self.answer = answer
        self.stream = stream
        self.client = client
    }

    /// The holder of the shares that it takes.
    var claimant: Claimant { Claimant(keyID: publisher.keyID, tenant: publisher.tenant, client: client) }

    package func refuse(_ problem: APIProblem) { answer(APIAnswer(problem)) }

    /// The query's members, or those of a search's body. Another name, and one that is there twice, is 400, and 422 in a body.
    func query() throws(APIProblem) -> [String: String] {
        switch operation {
        case .searchRequests: try body(.listRequests)
        case .searchFailures: try body(.listFailures)
        default: try operation.row.query(of: request)
        }
    }

    /// The members of a body that has what the query of a list has.
    private func body(_ list: APIOperation.Operate) throws(APIProblem) -> [String: String] {
        _ = try operation.row.query(of: request)
        let names = list.row.queryNames
        var (reader, found) = (try BodyReader(request, members: names), [String: String]())
        for name in names {
            found[name] =
                name == "limit"
                ? reader.integer(name, in: .min ... .max).map { String($0) }
                : reader.text(name, count: 0...JSONBody.maximumByteCount)
        }
        try reader.check()
        return found
    }
}

extension OperatorCall {
    package init(_ operation: APIOperation.Operate, of id: String, request: HTTPServerRequest, by holder: KeyHolder, reply: Reply)
    {
        let upkeep = operation.upkeep
        self.init(
            operation: operation, id: id, request: request, publisher: holder.publisher,
            answer: { answer in
                var answer = answer
                answer.upkeep = upkeep
                reply.answer(answer)
            }, stream: reply.streaming(to: holder), client: ClientNetwork(holder.client))
    }
}

extension APIOperation.Operate {
    /// The upkeep of its answers: whoever only asks can ask again.
    package var upkeep: HTTPServerResponse.Upkeep {
        switch self {
        case .searchRequests, .searchFailures: .counted
        default: row.body == nil ? .counted : .owed
        }
    }
}
