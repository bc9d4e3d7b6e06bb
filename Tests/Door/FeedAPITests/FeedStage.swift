import Basics
import DoorStage
import HTTPServing
import Keys
import ResultFeed
import TestSupport
import Testing

@testable import FeedAPI
@testable import GatewayAPI

/// Results that a test brings, in partitions of their own.
final class ManualFeed: FeedReader {
    private struct Wait {
        let isWaiting: @Sendable () -> Bool
        /// Is called with true for one who has left.
        let end: @Sendable (Bool) -> Void
    }

    private struct State {
        var partitions: [Int32: [FeedRecord]] = [0: [], 1: []]
        var failure: FeedFailure?
        var isKnown = true
        /// Searches and readings that wait, where a test wants them to.
        var waiting: [Wait]?
        var readCount = 0
        var isClosed = false
    }

    private let state = Box(State())

    /// The number of readings.
    var readCount: Int { state.withLock { $0.readCount } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var end: FeedPlaces? { state.withLock { $0.isKnown ? Self.end(of: $0) : nil } }

    /// Fails all readings from now on, or none.
    func fail(with failure: FeedFailure?) { state.withLock { $0.failure = failure } }

    /// Does not know the topic yet.
    func forgetEnd() { state.withLock { $0.isKnown = false } }

    /// Answers nothing from now on.
    func hold() { state.withLock { $0.waiting = [] } }

    /// Answers those who waited, and those who come from now on at once. Returns the number of those who have left.
    @discardableResult
    func letGo() -> Int {
        let waiting = state.withLock { $0.waiting.take() } ?? []
        return waiting.filter { wait in
            let hasLeft = !wait.isWaiting()
            wait.end(hasLeft)
            return hasLeft
        }.count
    }

    private func hold(while isWaiting: @escaping @Sendable () -> Bool, end: @escaping @Sendable (Bool) -> Void) -> Bool {
        state.withLock { state in
            state.waiting?.append(Wait(isWaiting: isWaiting, end: end))
            return state.waiting != nil
        }
    }

    func add(_ json: String, to partition: Int32, at time: Int64) {
        state.withLock { state in
            let offset = Int64(state.partitions[partition]?.count ?? 0)
            let record = FeedRecord(
                key: "k", json: Array(json.utf8), partition: partition, offset: offset, timestamp: time)
            if let record { state.partitions[partition, default: []].append(record) }
        }
    }

    func read(
        from places: FeedPlaces, room: FeedRoom, while isWaiting: @escaping @Sendable () -> Bool,
        where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
    ) {
        let isHeld = hold(while: isWaiting) { [self] hasLeft in
            if hasLeft { return then(.failure(.full)) }
            read(from: places, room: room, while: isWaiting, where: isWanted, then: then)
        }
        guard !isHeld else { return }
        let result = state.withLock { state -> Result<FeedReading, FeedFailure> in
            state.readCount += 1
            if let failure = state.failure { return .failure(failure) }
            var (found, places) = ([FeedRecord](), places)
            for (partition, records) in state.partitions.sorted(by: { $0.key < $1.key }) {
                for record in records.dropFirst(Int(places.offsets[partition] ?? 0)) {
                    guard found.count < room.records, found.reduce(0, { $0 + $1.line.count }) < room.bytes else { break }
                    if isWanted(record) { found.append(record) }
                    places.offsets[partition] = record.offset + 1
                }
            }
            return .success(FeedReading(records: found, places: places, isAtEnd: places.covers(Self.end(of: state))))
        }
        then(result)
    }

    func findPlaces(
        since time: Int64, while isWaiting: @escaping @Sendable () -> Bool,
        then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void
    ) {
        let isHeld = hold(while: isWaiting) { [self] hasLeft in
            if hasLeft { return then(.failure(.full)) }
            findPlaces(since: time, while: isWaiting, then: then)
        }
        guard !isHeld else { return }
        let result = state.withLock { state -> Result<FeedPlaces, FeedFailure> in
            if let failure = state.failure { return .failure(failure) }
            return .success(FeedPlaces(state.partitions.mapValues { Int64($0.prefix { $0.timestamp < time }.count) }))
        }
        then(result)
    }

    func close() { state.withLock { $0.isClosed = true } }

    private static func end(of state: State) -> FeedPlaces { FeedPlaces(state.partitions.mapValues { Int64($0.count) }) }
}

/// The endpoints of the feed on a clock that a test moves, without a thread.
final class FeedStage: Sendable {
    /// A back end that publishes, and no more.
    static let shop = publisher("shop", [.publish])
    static let reader = publisher("office", [.read])

    static func publisher(_ source: String, _ scopes: Set<Scope>, tenant: String? = nil) -> Publisher {
        Publisher(keyID: "k-\(source)", tenant: tenant, source: source, scopes: scopes)
    }

    let feed = ManualFeed()
    let endpoints: FeedEndpoints
    let hasRights = Box(true)
    /// Ends of waits whose callers lose their rights.
    private let ends = Box<[@Sendable (APIProblem) -> Void]>([])
    private let time: Milliseconds

    init(connections: Int = 8192) {
        let time = Milliseconds(1_764_000_000_000)
        self.time = time
        endpoints = FeedEndpoints(
            held: HeldAnswers(connections: connections), now: { MonotonicTime(nanoseconds: time.value * 1_000_000) },
            wall: { time.value })
        endpoints.readers.start(with: feed)
    }

    /// Brings results, which are read in one turn.
    func bring(
        _ ids: String..., source: String = "shop", tenant: String? = nil, kind: String = "final", partition: Int32 = 0,
        members: String = ""
    ) {
        let owner = tenant.map { #","tenant":"\#($0)""# } ?? ""
        for id in ids {
            feed.add(
                #"{"request_id":"\#(id)","kind":"\#(kind)","state":"sent","source":"\#(source)"\#(owner)\#(members)}"#,
                to: partition, at: time.value)
        }
        endpoints.readers.noteNews()
        turn()
    }

    func turn() { for _ in 0..<3 { endpoints.readers.turn() } }

    func advance(seconds: Int64) {
        time.add(seconds * 1000)
        turn()
    }

    /// Takes the rights of all who wait.
    func endRights() {
        hasRights.withLock { $0 = false }
        for end in ends.withLock({ $0 }) { end(.rightsOver) }
    }

    func get(_ query: String = "", by publisher: Publisher = shop, headers: HTTPFields = [:]) -> Answered {
        call(.listResults, "GET", "/v1/results\(query)", by: publisher, headers: headers).answers
    }

    func follow(
        _ query: String = "", by publisher: Publisher = shop, method: String = "GET", headers: HTTPFields = [:]
    ) -> (answers: Answered, sink: ManualSink) {
        call(.followResults, method, "/v1/results/events\(query)", by: publisher, headers: headers)
    }

    private func call(
        _ operation: APIOperation.Feed, _ method: String, _ target: String, by publisher: Publisher, headers: HTTPFields
    ) -> (answers: Answered, sink: ManualSink) {
        let (answers, sink, hasRights, ends) = (Answered(), ManualSink(), hasRights, ends)
        let request = HTTPServerRequest(method: method, target: target, headers: headers)
        endpoints.answer(
            FeedCall(
                operation: operation, request: request, publisher: publisher, answer: { answers.add($0) },
                stream: { head, _ in
                    answers.add(head)
                    return HeldSink(sink) { hasRights.withLock { $0 } }
                },
                holding: { end in
                    ends.withLock { $0.append(end) }
                    return {}
                }))
        return (answers, sink)
    }
}

extension Answered {
    /// The ids of the results, in their order.
    var ids: [String] { FeedAPITests.ids(in: text) }
    var cursor: String { last?.headers["Pushfan-Cursor"] ?? "" }
}

/// The ids of the results in a text, in their order.
func ids(in text: String) -> [String] {
    let parts = text.split(separator: #""request_id":""#, omittingEmptySubsequences: false)
    return parts.dropFirst().map { String($0.prefix { $0 != "\"" }) }
}
