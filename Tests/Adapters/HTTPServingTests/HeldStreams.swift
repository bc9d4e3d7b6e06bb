import Dispatch
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Answers requests with streams, keeps what writes them until a test does, and counts those that have ended.
final class HeldStreams: Sendable {
    private let streams = Mutex<[AnswerStream]>([])
    private let arrivals = DispatchSemaphore(value: 0)
    private let ends = DispatchSemaphore(value: 0)
    private let ended = Atomic<Int>(0)
    private let capacity: Int

    init(capacity: Int = 64 << 10) {
        self.capacity = capacity
    }

    /// How many have ended.
    var endedCount: Int { ended.load(ordering: .acquiring) }

    /// Makes the answer of one request.
    func makeAnswer() -> HTTPServerResponse {
        let (response, stream) = HTTPServerResponse.stream(
            headers: ["Content-Type": "text/event-stream"], capacity: capacity,
            onEnd: { [self] in
                ended.add(1, ordering: .releasing)
                ends.signal()
            })
        streams.withLock { $0.append(stream) }
        arrivals.signal()
        return response
    }

    /// The one that came first, once there is one; it is kept no longer.
    func next() throws -> AnswerStream {
        try wait(for: arrivals)
        return streams.withLock { $0.removeFirst() }
    }

    /// Waits until one more has ended.
    func waitForEnd() throws { try wait(for: ends) }

    private func wait(for semaphore: DispatchSemaphore) throws {
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        let hasCome = semaphore.wait(timeout: limit) == .success
        try #require(hasCome)
    }
}
