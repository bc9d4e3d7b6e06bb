import HTTPServing
import Users

extension AnswerStream: EventSink {}

extension LookupCall {
    /// The call of a back end whose key was right.
    init(
        _ operation: APIOperation.Lookup, of id: String, request: HTTPServerRequest, by holder: KeyHolder, reply: Reply
    ) {
        self.init(
            operation: operation, id: id, request: request, asker: Asker(holder.publisher), answer: { reply.answer($0) },
            stream: reply.streaming(to: holder), client: ClientNetwork(holder.client), holding: reply.rights.hold(holder))
    }
}

extension Reply {
    /// Answers with a body that is written later, as long as its reader may have it.
    func streaming(to holder: KeyHolder) -> EventStreaming {
        { head, onEnd in
            let (rights, number) = (self.rights, self.rights.newNumber())
            let (response, stream) = HTTPServerResponse.events(head) {
                rights.release(number)
                onEnd()
            }
            let sink = HeldSink(stream, isStillThere: holder.isStillThere)
            rights.hold(number, of: holder) { sink.end(with: $0) }
            self.answer(response)
            return sink
        }
    }
}

extension HTTPServerResponse {
    /// A stream of events with room for the last event of each kind at once, and for further ones while its reader is slow.
    static func events(
        _ head: APIAnswer, onEnd: @escaping @Sendable () -> Void
    ) -> (response: HTTPServerResponse, stream: AnswerStream) {
        stream(status: head.status, headers: head.headers, capacity: 4 * FleetEvent.limit, onEnd: onEnd)
    }
}
