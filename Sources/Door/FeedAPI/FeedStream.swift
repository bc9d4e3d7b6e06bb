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

    private let sink: any EventSink
    /// The cursor that its client has.
    private let cursor: Mutex<String>

    /// A stream that begins with its cursor.
    init(_ sink: any EventSink, from places: FeedPlaces) {
        self.sink = sink
        let text = places.text
        cursor = Mutex(text)
        sink.write(EventFrames.beginning + Self.event(of: text))
    }

    var room: FeedRoom? { sink.pendingByteCount <= Self.pendingLimit ? Self.reading : nil }

    func take(_ reading: FeedReading) -> Bool {
        guard !reading.records.isEmpty else { return true }
        let text = reading.places.text
        cursor.withLock { $0 = text }
        var frames: [UInt8] = []
        for (index, record) in reading.records.enumerated() {
            let isLast = index == reading.records.count - 1
            frames += EventFrames.event("result", id: isLast ? text : nil, data: record.line)
        }
        return sink.write(frames)
    }

    func take(_ failure: FeedFailure) -> Bool {
        switch failure {
        case .unreachable, .full: return true
        case .gone: sink.write(EventFrames.problem(failure.problem))
        case .closed: break
        }
        sink.end()
        return false
    }

    /// Sends a comment, or the cursor where that has moved: a client that hears of no result for days must not keep one that expires.
    func rest(at places: FeedPlaces) -> Bool {
        let text = places.text
        let isNews = cursor.withLock { cursor -> Bool in
            defer { cursor = text }
            return cursor != text
        }
        return sink.write(isNews ? Self.event(of: text) : EventFrames.comment)
    }

    func end(at places: FeedPlaces, isAtEnd: Bool) { sink.end() }

    private static func event(of cursor: String) -> [UInt8] { EventFrames.event("cursor", id: cursor, data: Array("{}".utf8)) }
}
