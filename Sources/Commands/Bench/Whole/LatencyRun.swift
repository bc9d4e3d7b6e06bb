import Basics
import Console
import EventLoop
import Foundation
import Kafka
import Synchronization

/// How long a request takes on its way when they come evenly: published, at the hub, and with its result.
struct LatencyRun {
    let rate: Double
    /// The numbers of the requests, of which the worker may have seen none: a repetition makes no hub call.
    let numbers: Range<Int>

    private var count: Int { numbers.count }
    /// Requests at the beginning that do not count: the worker and the brokers have to warm up.
    private var warmUpCount: Int { count / 10 }

    /// Publishes at the rate on a thread of its own, and reads the results as they come, until 20 s after the last request.
    func run(_ feed: RequestFeed, results: TopicReader, hub: BenchHub) throws -> LatencyFigure {
        hub.expect(numbers)
        let (rate, numbers) = (rate, numbers)
        let outcome = ThreadOutcome()
        let thread = Thread { outcome.set(Result { try feed.publish(numbers, rate: rate) }) }
        thread.start()
        let finished = try readResults(results)
        let moments = try outcome.wait().get()
        let called = hub.moments
        var toHub: [Double] = []
        var toResult: [Double] = []
        for index in warmUpCount..<count where finished[index] > 0 {
            toResult.append(Double(finished[index] - moments[index]) / 1e6)
            if called[index] > 0 { toHub.append(Double(called[index] - moments[index]) / 1e6) }
        }
        return LatencyFigure(
            requestsPerSecond: rate, requests: toResult.count, publishToHub: Spread(toHub), publishToResult: Spread(toResult))
    }

    /// The moment at which each request's result was read, monotonic nanoseconds.
    private func readResults(_ results: TopicReader) throws -> [Int64] {
        var moments = [Int64](repeating: 0, count: count)
        var missing = count
        let patience = Duration.seconds(20) + .seconds(Double(count) / rate)
        let deadline = MonotonicTime.now().advanced(by: patience)
        while missing > 0 {
            try Interruption.check()
            guard MonotonicTime.now() < deadline else {
                throw CommandFailure(.temporary, "\(missing) of \(count) results did not come in time")
            }
            _ = results.read(timeout: .milliseconds(100)) { record in
                let now = MonotonicTime.now().nanoseconds
                guard let key = record.key else { return }
                let id = key.withUnsafeBufferPointer { Array($0) }
                guard let number = SampleRequest.number(ofID: id), numbers.contains(number) else { return }
                let index = number - numbers.lowerBound
                guard moments[index] == 0 else { return }
                moments[index] = now
                missing -= 1
            }
        }
        return moments
    }
}

/// Carries what a publishing thread has to say.
private final class ThreadOutcome: Sendable {
    /// Protects the outcome; nothing else is locked while it is held.
    private let outcome = Mutex<Result<[Int64], any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ value: Result<[Int64], any Error>) {
        outcome.withLock { $0 = value }
        isThere.signal()
    }

    func wait() -> Result<[Int64], any Error> {
        isThere.wait()
        return outcome.withLock { $0 } ?? .success([])
    }
}
