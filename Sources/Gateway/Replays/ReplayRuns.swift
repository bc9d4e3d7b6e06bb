import Basics
import Dispatch
import EventLoop
import Jobs
import PushModel
import Synchronization

/// The replays that run in this process, and those that have run. Each has a thread while it runs.
final class ReplayRuns: Sendable {
    /// The state of a run.
    struct Standing: Sendable, Equatable {
        enum State: Sendable, Equatable {
            case starting, running, paused
            case ended(JobRecord.State)
            case failed(APIProblem)
        }

        var state = State.starting
        var next = 0
        var skipped = 0
    }

    private struct Run: Sendable {
        var standing = Standing()
        /// Gets the standing once, as soon as the run has begun or ended.
        var onBeginning: (@Sendable (Standing) -> Void)?
        let startedAt: MonotonicTime
        let thread = ServiceThread()
    }

    /// Ended runs that are remembered.
    private static let memory = 100
    /// The longest wait of a caller for the beginning, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    /// Nothing else is locked while it is held.
    private let runs = Mutex<[String: Run]>([:])

    /// The state of a run that is known here.
    func standing(of id: String) -> Standing? { runs.withLock { $0[id]?.standing } }

    /// Starts a run, unless one is at work, whose id is returned then. `work` reports its progress, and returns how the job stands
    /// at its end. `onBeginning` is called once, as soon as the run has begun or ended, or after some seconds.
    func start(
        _ id: String, onBeginning: @escaping @Sendable (Standing) -> Void,
        work: @escaping @Sendable (_ report: @escaping (RunProgress) -> Void) throws(JobFailure) -> JobRecord
    ) -> String? {
        let run = Run(onBeginning: onBeginning, startedAt: .now())
        let other = runs.withLock { runs -> String? in
            if let other = runs.first(where: { $0.value.standing.isAtWork }) { return other.key }
            // Ids sort by time.
            if runs.count >= Self.memory, let oldest = runs.keys.min() { runs[oldest] = nil }
            runs[id] = run
            return nil
        }
        if let other { return other }
        run.thread.start(named: "pushfan-replay") { [self] in
            do throws(JobFailure) {
                let record = try work { [self] progress in note(progress, of: id) }
                change(id) { $0 = Standing(state: .ended(record.state), next: record.next, skipped: record.skipped) }
            } catch {
                change(id) { $0.state = .failed(APIProblem(error)) }
            }
        }
        return nil
    }

    /// Notes that a runner waits until it is resumed, which it shows by beginning again.
    func notePause(of id: String) { change(id) { $0.state = .paused } }

    /// Answers those who have waited long enough for a beginning.
    func tick(at now: MonotonicTime = .now()) {
        let late = runs.withLock { runs in
            runs.filter { $0.value.onBeginning != nil && now.nanoseconds(since: $0.value.startedAt) > Self.patience }.map(\.key)
        }
        for id in late { change(id) { _ in } }
    }

    /// Waits for the ends of all, which `JobContext.isCancelled` brings about.
    func waitForEnds(until deadline: DispatchTime) {
        for run in runs.withLock({ Array($0.values) }) where run.standing.isAtWork { run.thread.waitForEnd(until: deadline) }
    }

    private func note(_ progress: RunProgress, of id: String) {
        switch progress {
        case .began(let next): change(id) { ($0.state, $0.next) = (.running, next) }
        case .reached(let next, let skipped): change(id) { ($0.next, $0.skipped) = (next, skipped) }
        }
    }

    private func change(_ id: String, by body: (inout Standing) -> Void) {
        let (then, standing) = runs.withLock { runs -> ((@Sendable (Standing) -> Void)?, Standing) in
            guard var run = runs[id] else { return (nil, Standing()) }
            body(&run.standing)
            let then = run.onBeginning.take()
            runs[id] = run
            return (then, run.standing)
        }
        then?(standing)
    }
}

extension ReplayRuns.Standing {
    /// True if its thread is at work.
    var isAtWork: Bool { [.starting, .running, .paused].contains(state) }
}
