import GatewayAPI
import ResultFeed
import Synchronization

/// A call of `GET /v1/results/events`. For a client that reads slowly nothing is queued but what was read last: the next results are read once it
/// has taken most of those. The server ends a client that takes nothing for 30 s.
final class FeedStream: FeedTaker {
    /// The most bytes that may wait for a client: more than a record of Kafka has.
    static let capacity = 16 << 20
    /// The bytes that wait for a client at which no more is read for it.
    private static let pendingLimit = 32 << 10
    /// The results of one reading, and the bytes after which it has no further one.
    private static let reading = FeedRoom(records: 500, bytes: 64 << 10)

    private enum Phase {
        /// Nothing was read yet.
        case new(open: @Sendable () -> any EventSink, refuse: @Sendable (APIProblem) -> Void)
        case open(any EventSink)
        case over
    }

    private struct State {
        var phase: Phase
        /// The place of the cursor that its client has.
        var places: FeedPlaces
    }

    /// Held while a sink is opened or written to, so that its cursors keep their order. What a sink calls at its end takes other locks.
    private let state: Mutex<State>

    /// A stream that begins with its cursor once it can be read from there. Before that it can be refused.
    init(
        from places: FeedPlaces, opening open: @escaping @Sendable () -> any EventSink,
        refusing refuse: @escaping @Sendable (APIProblem) -> Void
    ) {
        state = Mutex(State(phase: .new(open: open, refuse: refuse), places: places))
    }

    var room: FeedRoom? {
        guard case .open(let sink) = state.withLock({ $0.phase }) else { return Self.reading }
        return sink.pendingByteCount <= Self.pendingLimit ? Self.reading : nil
    }

    func take(_ reading: FeedReading) -> Bool {
        write { places in
            guard !reading.records.isEmpty else { return [] }
            places = reading.places
            let text = places.text
            var frames: [UInt8] = []
            for (index, record) in reading.records.enumerated() {
                let isLast = index == reading.records.count - 1
                frames += EventFrames.event("result", id: isLast ? text : nil, data: record.line)
            }
            return frames
        }
    }

    func take(_ failure: FeedFailure) -> Bool {
        switch failure {
        case .unreachable, .full: return write { _ in [] }
        case .gone: end(with: failure.problem, isSaid: true)
        case .closed: end(with: failure.problem, isSaid: false)
        }
        return false
    }

    /// Sends a comment, or the cursor where that has moved on: a client that hears of no result for days must not keep one that expires.
    func rest(at places: FeedPlaces) -> Bool {
        write { last in
            // Results may have come since the place was noted.
            guard places != last, places.covers(last) else { return EventFrames.comment }
            last = places
            return Self.event(of: places)
        }
    }

    func end(at places: FeedPlaces, isAtEnd: Bool) { end(with: .stopping, isSaid: false) }

    /// Writes frames, behind the first cursor where there is none yet. Returns false once the client has gone.
    private func write(_ frames: (_ places: inout FeedPlaces) -> [UInt8]) -> Bool {
        state.withLock { state in
            let (sink, beginning): (any EventSink, [UInt8])
            switch state.phase {
            case .over: return false
            case .open(let known): (sink, beginning) = (known, [])
            case .new(let open, _):
                (sink, beginning) = (open(), EventFrames.beginning + Self.event(of: state.places))
                state.phase = .open(sink)
            }
            let bytes = beginning + frames(&state.places)
            return bytes.isEmpty || sink.write(bytes)
        }
    }

    /// Ends the stream, behind an event where the problem is said. One that was not opened is refused.
    private func end(with problem: APIProblem, isSaid: Bool) {
        let phase = state.withLock { state in
            defer { state.phase = .over }
            return state.phase
        }
        switch phase {
        case .over: return
        case .new(_, let refuse): refuse(problem)
        case .open(let sink):
            if isSaid { sink.write(EventFrames.problem(problem)) }
            sink.end()
        }
    }

    private static func event(of places: FeedPlaces) -> [UInt8] {
        EventFrames.event("cursor", id: places.text, data: Array("{}".utf8))
    }
}
