import HTTPServing

extension AnswerStream: EventSink {}

extension LookupCall {
    /// The call of a back end whose key was right.
    init(_ route: RequestRoute, request: HTTPServerRequest, by asker: Asker, reply: Reply) {
        self.init(route: route, request: request, asker: asker, answer: { reply.answer($0) }, stream: reply.streaming)
    }
}

extension Reply {
    /// Answers with a body that is written later.
    var streaming: EventStreaming {
        { head, onEnd in
            let (response, stream) = HTTPServerResponse.stream(status: head.status, headers: head.headers, onEnd: onEnd)
            self.answer(response)
            return stream
        }
    }
}
