/// The body of an answer to a session, which ends with it: at the next event, or at the next comment of a stream without events.
struct SessionSink: EventSink {
    private let sink: any EventSink
    private let isOpen: @Sendable () -> Bool

    init(_ sink: any EventSink, isOpen: @escaping @Sendable () -> Bool) {
        self.sink = sink
        self.isOpen = isOpen
    }

    func write(_ bytes: [UInt8]) -> Bool {
        guard isOpen() else {
            sink.end()
            return false
        }
        return sink.write(bytes)
    }

    func end() { sink.end() }
}
