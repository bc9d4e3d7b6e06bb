/// The body of an answer that goes on as long as its reader has the rights by which it began. The last event says that these are gone.
struct HeldSink: EventSink {
    private let sink: any EventSink
    private let isStillThere: @Sendable () -> Bool

    init(_ sink: any EventSink, isStillThere: @escaping @Sendable () -> Bool) {
        self.sink = sink
        self.isStillThere = isStillThere
    }

    package func write(_ bytes: [UInt8]) -> Bool {
        guard isStillThere() else {
            end(with: .rightsOver)
            return false
        }
        return sink.write(bytes)
    }

    package var pendingByteCount: Int { sink.pendingByteCount }

    package func end() { sink.end() }

    /// Ends the body behind a problem.
    package func end(with problem: APIProblem) {
        sink.write(EventFrames.problem(problem))
        sink.end()
    }
}
