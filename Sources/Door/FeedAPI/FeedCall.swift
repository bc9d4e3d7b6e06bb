package import GatewayAPI
package import HTTPServing
package import Users

/// A call of a back end for results, whose key is right.
package struct FeedCall: Sendable {
    package let operation: APIOperation.Feed
    /// The call, whole.
    let request: HTTPServerRequest
    let publisher: Publisher
    /// Takes the answer. What comes after the first is ignored.
    package let answer: @Sendable (APIAnswer) -> Void
    /// Begins an answer whose body is written later.
    let stream: EventStreaming
    /// The network that it comes from, or nil where that is not known.
    var client: ClientNetwork?
    /// Has its caller looked at while it waits.
    var holding: Holding = { _ in {} }

    package init(
        operation: APIOperation.Feed, request: HTTPServerRequest, publisher: Publisher,
        answer: @escaping @Sendable (APIAnswer) -> Void, stream: @escaping EventStreaming, client: ClientNetwork? = nil,
        holding: @escaping Holding = { _ in {} }
    ) {
        (self.operation, self.request, self.publisher, self.answer) = (operation, request, publisher, answer)
        (self.stream, self.client, self.holding) = (stream, client, holding)
    }

    /// The holder of the shares that it takes.
    var claimant: Claimant { Claimant(keyID: publisher.keyID, tenant: publisher.tenant, client: client) }

    package func refuse(_ problem: APIProblem) { answer(APIAnswer(problem)) }
}

extension FeedCall {
    /// The call of a back end whose key was right.
    package init(_ operation: APIOperation.Feed, request: HTTPServerRequest, by holder: KeyHolder, reply: Reply) {
        self.init(
            operation: operation, request: request, publisher: holder.publisher, answer: { reply.answer($0) },
            stream: reply.streaming(to: holder, capacity: FeedStream.capacity), client: ClientNetwork(holder.client),
            holding: reply.rights.hold(holder))
    }
}
