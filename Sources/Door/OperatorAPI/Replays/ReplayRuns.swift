import Basics
import Dispatch
import EventLoop
import GatewayAPI
import JobSupport
import Replays
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
        let tenant: String?
        /// Interrupts it, so that it gives its place up.
        let rest: Latch
        let thread = ServiceThread()

        /// The place that it takes, none once it has ended or is about to.
        var place: RunPlaces.Place? {
            guard standing.isAtWork, !rest.isSet else { return nil }
            return RunPlaces.Place(tenant: tenant, isPaused: standing.state == .paused)
        }
    }

    /// Ended runs that are remembered.
    private static let memory = 100
    /// The longest wait of a caller for the beginning, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    /// Nothing else is locked while it is held.
    private let runs = Mutex<[String: Run]>([:])

    /// The state of a run that is known here.
    func standing(of id: String) -> Standing? { runs.withLock { $0[id]?.standing } }

    /// The ids of those that are at work.
    var idsAtWork: Set<String> { runs.withLock { Set($0.filter { $0.value.standing.isAtWork }.keys) } }

    /// Starts a run of a tenant, or of all, where there is a place for it (``RunPlaces``). `rest` is set when it has to give that up.
    /// `work` reports its progress, and returns how the job stands at its end. `onBeginning` is called once, as soon as the run has begun
    /// or ended, or after some seconds.
    package func start(
        _ id: String, of tenant: String?, rest: Latch = Latch(), onBeginning: @escaping @Sendable (Standing) -> Void,
        work: @escaping @Sendable (_ report: @escaping (RunProgress) -> Void) throws(JobFailure) -> JobRecord
    ) -> RunPlaces.Admission {
        let run = Run(onBeginning: onBeginning, startedAt: .now(), tenant: tenant, rest: rest)
        let admission = runs.withLock { runs -> RunPlaces.Admission in
            let admission = RunPlaces(taken: runs.compactMapValues(\.place)).admit(id, of: tenant)
            guard case .begins(let other) = admission else { return admission }
            // One that gives its place up may still be ending.
            if runs[id]?.standing.isAtWork == true { return .excluded(by: id) }
            if let other { runs[other]?.rest.set() }
            Self.forgetOne(of: &runs)
            runs[id] = run
            return admission
        }
        guard case .begins = admission else { return admission }
        run.thread.start(named: "pushfan-replay") { [self] in
            do throws(JobFailure) {
                let record = try work { [self] progress in note(progress, of: id) }
                change(id) { $0 = Standing(state: .ended(record.state), next: record.next, skipped: record.skipped) }
            } catch {
                change(id) { $0.state = .failed(APIProblem(error)) }
            }
        }
        return admission
    }

    /// Forgets the oldest that has ended of whichever tenant has most of them, where too many are remembered.
    private static func forgetOne(of runs: inout [String: Run]) {
        guard runs.count >= memory else { return }
        let ended = Dictionary(grouping: runs.filter { !$0.value.standing.isAtWork }, by: \.value.tenant)
        // Ids sort by time.
        guard let most = ended.values.max(by: { $0.count < $1.count }), let oldest = most.map(\.key).min() else { return }
        runs[oldest] = nil
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
