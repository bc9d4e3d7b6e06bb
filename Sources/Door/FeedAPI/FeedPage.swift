import GatewayAPI
import HTTPServing
import PushModel
import ResultFeed
import Synchronization

/// A call of `GET /v1/results`: it is answered with the first results that there are, or at the end of its time with none.
final class FeedPage: FeedTaker {
    /// The bytes of results after which no further one is in an answer.
    private static let byteLimit = 4 << 20

    private enum Phase {
        case open(release: (@Sendable () -> Void)?)
        case answered
    }

    let room: FeedRoom?
    private let query: FeedQuery
    private let answer: @Sendable (APIAnswer) -> Void
    private let phase = Mutex(Phase.open(release: nil))

    init(_ query: FeedQuery, answer: @escaping @Sendable (APIAnswer) -> Void) {
        (self.query, self.answer) = (query, answer)
        room = FeedRoom(records: query.limit, bytes: Self.byteLimit)
    }

    /// Keeps what is called once it is answered.
    func keep(_ release: @escaping @Sendable () -> Void) {
        let isAnswered = phase.withLock { phase -> Bool in
            if case .answered = phase { return true }
            phase = .open(release: release)
            return false
        }
        if isAnswered { release() }
    }

    func take(_ reading: FeedReading) -> Bool {
        guard !reading.records.isEmpty || reading.isAtEnd && query.wait == 0 else { return true }
        end(with: reading)
        return false
    }

    func take(_ failure: FeedFailure) -> Bool {
        end(with: APIAnswer(failure.problem))
        return false
    }

    func rest(at places: FeedPlaces) -> Bool { true }

    func end(at places: FeedPlaces, isAtEnd: Bool) {
        end(with: FeedReading(records: [], places: places, isAtEnd: isAtEnd))
    }

    /// Answers, unless it is answered.
    func end(with answer: APIAnswer) {
        let before = phase.withLock { phase -> Phase in
            defer { phase = .answered }
            return phase
        }
        guard case .open(let release) = before else { return }
        release?()
        self.answer(answer)
    }

    private func end(with reading: FeedReading) {
        let (cursor, lines) = (reading.places.text, reading.records.map(\.line))
        var headers: HTTPFields = [
            "Cache-Control": "no-store", "Pushfan-Cursor": cursor, "Link": "<\(query.target(after: cursor))>; rel=\"next\"",
        ]
        if query.isPreferred { headers.append("Preference-Applied", value: "wait=\(query.wait)") }
        guard !query.isLines else {
            headers.append("Content-Type", value: "application/x-ndjson")
            return end(with: APIAnswer(status: 200, headers: headers, body: lines.flatMap { $0 + [UInt8(ascii: "\n")] }))
        }
        var json = JSONObject()
        json.add("results", array: lines)
        json.add("cursor", value: cursor)
        json.add("more", value: !reading.isAtEnd)
        end(with: APIAnswer(status: 200, json: json.bytes, headers: headers))
    }
}
