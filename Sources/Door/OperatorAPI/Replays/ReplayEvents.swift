import Basics
import EventLoop
import GatewayAPI
import Replays
import Synchronization

/// Tells those who follow replays how far these are. It asks no more often than twice a second, and reads the jobs' topic only for replays that
/// run elsewhere.
final class ReplayEvents: Sendable {
    private static let interval: Int64 = 500_000_000
    private static let distantInterval: Int64 = 2_000_000_000

    private struct Timing {
        var next = MonotonicTime.now()
        var nextDistant = MonotonicTime.now()
        var isAsking = false
    }

    let streams: EventStreams
    private let desk: ReplayDesk
    private let threads: JobThreads
    private let timing = Mutex(Timing())

    init(_ desk: ReplayDesk, threads: JobThreads, streams: EventStreams) {
        self.desk = desk
        self.threads = threads
        self.streams = streams
    }

    /// Sends what has changed. To be called several times a second. Waits for nothing.
    func tick(at now: MonotonicTime = .now()) {
        let subjects = streams.subjects.subtracting([EventStreams.fleet])
        guard !subjects.isEmpty else { return }
        let isDue = timing.withLock { timing -> Bool in
            guard now >= timing.next, !timing.isAsking else { return false }
            timing.next = now.advanced(byNanoseconds: Self.interval)
            timing.isAsking = true
            return true
        }
        guard isDue else { return }
        let problem = threads.put(for: "") { [self] in
            sendProgress(of: subjects, at: now)
            timing.withLock { $0.isAsking = false }
        }
        if problem != nil { timing.withLock { $0.isAsking = false } }
    }

    private func sendProgress(of subjects: Set<String>, at now: MonotonicTime) {
        let distant = subjects.filter { desk.drafts[$0] == nil && desk.runs.standing(of: $0)?.isAtWork != true }
        let mayRead = timing.withLock { timing -> Bool in
            guard now >= timing.nextDistant else { return false }
            timing.nextDistant = now.advanced(byNanoseconds: Self.distantInterval)
            return true
        }
        let log = !distant.isEmpty && mayRead ? try? desk.context.jobStates() : nil
        for subject in subjects where log != nil || !distant.contains(subject) {
            guard let event = desk.event(subject, in: log) else {
                streams.end(subject)
                continue
            }
            streams.send("progress", id: "\(now.nanoseconds / 1_000_000)", data: event.json, to: subject)
            if event.isOver { streams.end(subject) }
        }
    }
}
