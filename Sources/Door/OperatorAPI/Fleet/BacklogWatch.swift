import Basics
import Dispatch
import EventLoop
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel
import Synchronization

/// Counts what waits, and sends it to those who follow the fleet. It has a thread of its own, since brokers may be slow.
final class BacklogWatch: Sendable {
    /// Examines the topics, with what workers report. Nil where there are none.
    typealias Examination = @Sendable (_ members: [Fleet.Member]) throws(JobFailure) -> StatusReport?

    private static let step = Duration.milliseconds(250)
    /// The life of a report for a caller, in nanoseconds.
    private static let reportLife: Int64 = 2_000_000_000
    /// The life of a report for the history, in nanoseconds.
    private static let minuteLife: Int64 = 30_000_000_000

    private struct State {
        var report: (StatusReport, at: MonotonicTime)?
        var published = PublishedCount()
        var kafka = KafkaReach()
    }

    private let context: JobContext
    private let streams: EventStreams
    private let examine: Examination
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())
    /// Brokers are asked as often as for a stream: no worker reports, and brokers may be the reason.
    private let isUrgent = Atomic(false)
    /// Held by the one thread that examines. The state is locked within it.
    private let counting = Mutex(())
    private let thread = ServiceThread()

    init(_ context: JobContext, streams: EventStreams, examine: @escaping Examination) {
        self.context = context
        self.streams = streams
        self.examine = examine
    }

    /// Examines the group of `terms`.
    convenience init(_ context: JobContext, streams: EventStreams, terms: GroupTerms) {
        self.init(context, streams: streams) { members throws(JobFailure) in
            do throws(KafkaError) {
                return try StatusExamination(terms, context: context).report(hearing: { _ in .success(members) })
            } catch {
                throw .kafka(error, .readPositions)
            }
        }
    }

    /// Begins to count. `members` gives what workers report at present.
    package func start(_ members: @escaping @Sendable () -> [Fleet.Member]) {
        thread.start(named: "pushfan-backlog") { [self] in
            var schedule = BacklogSchedule(wall: context.now())
            while !context.isCancelled() {
                let isFollowed = streams.subjects.contains(EventStreams.fleet) || isUrgent.load(ordering: .relaxed)
                if schedule.isDue(isFollowed: isFollowed, now: .now(), wall: context.now()) {
                    send(members)
                    schedule.noteEnd(at: .now())
                }
                Pause.sleep(Self.step)
            }
        }
    }

    /// Waits for the end of the thread, which `JobContext.isCancelled` brings about.
    func waitForEnd(until deadline: DispatchTime) { thread.waitForEnd(until: deadline) }

    /// The report of `pushfan status`, a few seconds old at most. Blocks its thread.
    func report(_ members: () -> [Fleet.Member]) throws(JobFailure) -> StatusReport? {
        let result = counting.withLock { _ in Result { () throws(JobFailure) in try current(members) } }
        return try result.get()
    }

    private func current(_ members: () -> [Fleet.Member]) throws(JobFailure) -> StatusReport? {
        let now = MonotonicTime.now()
        if let known = state.withLock({ $0.report }), now.nanoseconds(since: known.at) < Self.reportLife { return known.0 }
        let asked = context.now()
        let result = Result { () throws(JobFailure) in try examine(members()) }
        state.withLock { $0.kafka.note(result.failure, askedAt: asked) }
        guard var report = try result.get() else { return nil }
        state.withLock { state in
            state.published.note(report.publishedEnds(context.topics), at: now)
            report.publishedPerSecond = state.published.perSecond
            state.report = (report, .now())
        }
        return report
    }

    /// The answers of brokers of late.
    var kafka: KafkaReach { state.withLock { $0.kafka } }

    /// Has brokers asked every few seconds, or only as often as anybody follows.
    func ask(isUrgent: Bool) { self.isUrgent.store(isUrgent, ordering: .relaxed) }

    /// The requests that wait by the last report, 0 where that is too old.
    func recentCount(at now: MonotonicTime = .now()) -> Int {
        guard let known = state.withLock({ $0.report }), now.nanoseconds(since: known.at) < Self.minuteLife else { return 0 }
        return Int(clamping: known.0.lag)
    }

    /// The backlog of the last report, unless that is too old for the minute that ends.
    func recent(at now: MonotonicTime = .now()) -> History.Backlog? {
        guard let known = state.withLock({ $0.report }), now.nanoseconds(since: known.at) < Self.minuteLife else { return nil }
        return History.Backlog(known.0, topics: context.topics)
    }

    /// Takes what was published since it was last taken, or nil where nothing was read twice since then.
    func takePublished() -> Int? { state.withLock { $0.published.take() } }

    /// Examines, and sends what waits, or that it is not known.
    private func send(_ members: () -> [Fleet.Member]) {
        var event: [UInt8]?
        if let report = (try? report(members)) ?? nil {
            let backlog = History.Backlog(report, topics: context.topics)
            event = backlog.event(
                at: report.now, publishedPerSecond: report.publishedPerSecond, reasons: report.reasons, causes: report.causes)
        }
        let wall = context.now()
        let data = event ?? History.Backlog.unknown(at: Timestamp(milliseconds: wall))
        streams.send("backlog", id: "\(wall)", data: data, to: EventStreams.fleet)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

/// The times at which the backlog is counted: again and again while anybody follows, and before each minute ends. Without clock.
struct BacklogSchedule: Sendable {
    /// The time between two counts for those who follow, in nanoseconds.
    static let interval: Int64 = 4_500_000_000
    /// The time before the end of a minute, in milliseconds.
    static let beforeMinute: Int64 = 5000

    private var ended: MonotonicTime?
    /// The minute that begins behind the last count for the history.
    private var minute: Int64

    /// Begins at a time in milliseconds since 1970.
    init(wall: Int64) { minute = Self.minute(at: wall) }

    /// True if it is time to count.
    mutating func isDue(isFollowed: Bool, now: MonotonicTime, wall: Int64) -> Bool {
        // The next stream waits for no interval.
        if !isFollowed { ended = nil }
        let minute = Self.minute(at: wall)
        let isForHistory = minute != self.minute
        self.minute = minute
        return isForHistory || isFollowed && (ended.map { now.nanoseconds(since: $0) >= Self.interval } ?? true)
    }

    /// Notes the end of a count.
    mutating func noteEnd(at now: MonotonicTime) { ended = now }

    private static func minute(at wall: Int64) -> Int64 { History.beginning(of: wall + beforeMinute) }
}
