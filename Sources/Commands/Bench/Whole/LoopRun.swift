import Basics
import Console
import EventLoop
import Foundation
import Observability
import Synchronization
import WorkerRuntime

/// A whole worker that is taken through fixed courses of work, so that a counter of instructions can tell what each costs its loop.
///
/// From the first course's end on the worker's clock stands still but for being moved on. So the others have the same commits and
/// seconds, and do nothing else by time, however slow a counter makes them. Each ends with a call of `endCourse`, which a counter takes
/// for the sign to write down what it has.
struct LoopRun {
    /// One course.
    struct Course: Codable, Equatable {
        var name: String
        /// Its number of requests, commits, wake-ups or seconds. Several wake-ups may make one turn.
        var count: Int
    }

    /// The courses, in their order.
    struct Report: Codable {
        var partitions: Int
        var courses: [Course] = []
    }

    /// The least time between two commits: the longest that there may be.
    static let commitInterval = Duration.seconds(5)
    /// The commits and the seconds of their courses.
    private static let fewCount = 20
    /// The requests of a commit, each in another partition.
    private static let fewRequests = 4
    private static let patience = Duration.seconds(900)
    /// The system's time without a change after which the worker's clock is moved on. Where it was only slow, that finds nothing to do.
    private static let stillness = Duration.seconds(10)
    private static let endedCount = Atomic<Int>(0)

    private let partitions: Int
    private let feed: RequestFeed
    private let worker: CountedWorker
    private let deadline = MonotonicTime.now().advanced(by: Self.patience)

    /// Starts a worker with the settings of `environment`, which gets requests of `feed` in all `partitions`.
    init(_ environment: WorkerEnvironment, feed: RequestFeed, partitions: Int) throws {
        self.partitions = partitions
        self.feed = feed
        worker = try CountedWorker(environment.settings(), level: .warning)
    }

    /// Runs the worker through all courses, the long ones with `count` requests or turns, and ends it.
    func run(_ count: Int) throws -> Report {
        defer { worker.stop() }
        var report = Report(partitions: partitions)
        func course(_ name: String, count: Int, _ work: () throws -> Void) throws {
            try work()
            Self.endCourse()
            report.courses.append(Course(name: name, count: count))
        }
        // All partitions are at work when a request of each has its result.
        try course("start", count: partitions) { try take(0..<partitions, over: partitions) }
        worker.services.clock.stop()
        let first = partitions + count
        try course("requests", count: count) { try take(partitions..<first, over: partitions) }
        try course("commits", count: Self.fewCount) {
            for commit in 0..<Self.fewCount {
                let begin = first + commit * Self.fewRequests
                try take(begin..<begin + Self.fewRequests, over: min(partitions, Self.fewRequests))
            }
        }
        try course("turns", count: count) {
            for _ in 0..<count {
                worker.wake()
                try pause()
            }
        }
        try course("seconds", count: Self.fewCount) { for _ in 0..<Self.fewCount { try passSecond() } }
        return report
    }

    /// Publishes requests over the first `partitions`, and has the worker commit when all are finished.
    private func take(_ numbers: Range<Int>, over partitions: Int) throws {
        try feed.publish(numbers, over: partitions)
        let finished = worker.services.metrics.requestsFinished.series([BenchHub.name, "success"])
        let published = worker.services.metrics.resultsPublished
        let count = UInt64(numbers.upperBound)
        try wait(for: "requests to finish", until: count, movingOn: false) { finished.value }
        // A commit that is under way takes none of them, and one may be too small for all: each gets a time of its own.
        try wait(for: "results to be published", until: count, movingOn: true) { published.value }
    }

    /// Moves the worker's clock on, and waits until its loop has posted a status, which it does once a second.
    private func passSecond() throws {
        let status = worker.services.status
        let before = status.statuses.first?.at
        worker.services.clock.advance(by: .seconds(1))
        worker.wake()
        try wait(for: "a status", until: 1, movingOn: false) { status.statuses.first?.at == before ? 0 : 1 }
    }

    /// Waits until `reading` is at least `count`. Whenever it has not changed for a while, the worker's clock is moved on: what it waits for may
    /// be a moment, such as the next commit, or the next attempt of a call.
    private func wait(for goal: String, until count: UInt64, movingOn: Bool, reading: () -> UInt64) throws {
        var (known, isToMove, end) = (reading(), movingOn, MonotonicTime.now().advanced(by: Self.stillness))
        while known < count {
            if isToMove {
                worker.services.clock.advance(by: Self.commitInterval)
                worker.wake()
                isToMove = false
            }
            try pause(waitingFor: "\(goal), \(known) of \(count)")
            let now = reading()
            guard now != known || MonotonicTime.now() >= end else { continue }
            (isToMove, end) = (movingOn || now == known, MonotonicTime.now().advanced(by: Self.stillness))
            known = now
        }
    }

    private func pause(waitingFor goal: String = "turns") throws {
        try Interruption.check()
        guard MonotonicTime.now() < deadline else {
            throw CommandFailure(
                .temporary, "the worker whose loop is counted did not finish in time: it waits for \(goal)\n\(worker.lastWords)")
        }
        usleep(1000)
    }

    /// Ends a course. A counter sees the call, because it is not inlined.
    @inline(never) private static func endCourse() { endedCount.wrappingAdd(1, ordering: .relaxed) }
}
