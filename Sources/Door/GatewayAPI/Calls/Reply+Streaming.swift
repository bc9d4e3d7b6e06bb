package import HTTPServing

extension AnswerStream: EventSink {}

extension Reply {
    /// Answers with a body that is written later, as long as its reader may have it.
    package func streaming(to holder: KeyHolder, capacity: Int = 4 * EventFrames.limit) -> EventStreaming {
        { head, onEnd in
            let (rights, number) = (self.rights, self.rights.newNumber())
            let (response, stream) = HTTPServerResponse.events(head, capacity: capacity) {
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
    package static func events(
        _ head: APIAnswer, capacity: Int = 4 * EventFrames.limit, onEnd: @escaping @Sendable () -> Void
    ) -> (response: HTTPServerResponse, stream: AnswerStream) {
        stream(status: head.status, headers: head.headers, capacity: capacity, onEnd: onEnd)
    }
}
