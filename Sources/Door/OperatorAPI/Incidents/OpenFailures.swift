import Basics
import Delivery
import JobSupport
import Kafka
import PushModel
import Replay
import Replays
import ResultQuery
import Results
import Synchronization

/// Knows how many failures are open, and how many dead letters there are: counted beside all calls, seldom, and for a short time.
final class OpenFailures: Sendable {
    /// The time between two counts, and the age at which one is of no use, 30 s in nanoseconds.
    private static let life: Int64 = 30_000_000_000
    /// The longest count. One that would take longer is not known.
    private static let patience = Duration.seconds(2)
    /// The rest after a count, as a multiple of its time: 5 % of a processor at most.
    private static let rest: Int64 = 20

    /// The ends of topics by which letters are counted again.
    private typealias Places = [[Range<Int64>]]

    private struct State {
        var open: Int?
        var letters: DeadLetterCount?
        var lettersPlaces: Places?
        var nextCount = MonotonicTime.past
        var isCounting = false
        /// Of incidents, by their ids.
        var incidents = IncidentCounts()
    }

    private let context: JobContext
    private let answers: ResultAnswers
    private let isIndexed: @Sendable () -> Bool
    /// Knows the replays. Each count reads on from where the last one has come to, also if that had no time to end.
    private let replays: JobStates
    private let now: @Sendable () -> MonotonicTime
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())

    init(
        _ context: JobContext, answers: ResultAnswers, isIndexed: @escaping @Sendable () -> Bool,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        (self.context, self.answers, self.isIndexed, self.now) = (context, answers, isIndexed, now)
        replays = JobStates(context, keepsPlaces: true)
    }

    /// True if it is time to count. The caller then calls ``count()`` or ``giveUp()``.
    func begins() -> Bool {
        let now = now()
        return state.withLock { state in
            guard !state.isCounting, now >= state.nextCount else { return false }
            state.isCounting = true
            return true
        }
    }

    /// Does not count this time.
    func giveUp() { state.withLock { $0.isCounting = false } }

    /// Counts. Blocks its thread.
    package func count() {
        let start = now()
        let isOver = limit()
        let open = isIndexed() ? openFailures(ResultFilter(), after: history(until: isOver), until: isOver) : nil
        state.withLock { $0.open = open }
        let (letters, places) = countLetters(until: limit())
        let end = now()
        let took = min(max(0, end.nanoseconds(since: start)), 60_000_000_000)
        state.withLock { state in
            (state.letters, state.lettersPlaces) = (letters, places)
            state.nextCount = MonotonicTime(nanoseconds: end.nanoseconds + max(Self.life, Self.rest * took))
            state.isCounting = false
        }
    }

    /// Adds what is known to the event of the fleet.
    func add(to json: inout JSONObject) {
        let (open, letters) = state.withLock { ($0.open, $0.letters) }
        json.add(["open_failures": open, "dead_letters": letters.map { Int($0.count) }])
        if let letters, !letters.isExact { json.add("dead_letters_at_most", value: true) }
    }

    /// The open failures of incidents by their ids, counted again where they are older than 30 s and it is time for that. Those that cannot be
    /// counted from an index are missing. Blocks its thread.
    func counts(of incidents: [Incident], at wall: Int64) -> [String: Int] {
        // Without an index that is current no topic is read for it.
        guard isIndexed() else { return [:] }
        let pairs = incidents.compactMap { one in one.failures(at: wall).map { (one.id, $0) } }
        let filters = Dictionary(pairs) { first, _ in first }
        let (start, isOver) = (now(), limit())
        let asked = state.withLock { $0.incidents.begin(pairs.map(\.0), at: start) }
        let history = asked.isEmpty ? nil : history(until: isOver)
        for id in asked where !isOver() {
            let open = openFailures(filters[id], after: history, until: isOver)
            let time = now()
            state.withLock { $0.incidents.note(open, of: id, at: time) }
        }
        let end = now()
        return state.withLock { state in
            if !asked.isEmpty { state.incidents.end(at: end, took: end.nanoseconds(since: start)) }
            return state.incidents.open
        }
    }

    /// Nil where it takes too long, or something cannot be read.
    private func openFailures(
        _ filter: ResultFilter?, after history: ReplayHistory?, until isOver: @escaping @Sendable () -> Bool
    ) -> Int? {
        guard let filter, let history else { return nil }
        return try? answers.ending(when: isOver).openFailures(filter, after: history)
    }

    /// The repetitions up to now, or nil where there was no time to read them all.
    private func history(until isOver: @escaping @Sendable () -> Bool) -> ReplayHistory? {
        try? replays.current(in: context.ending(when: isOver)).history
    }

    /// Counts the dead letters again if any came, or went back.
    private func countLetters(until isOver: @escaping @Sendable () -> Bool) -> (DeadLetterCount?, Places?) {
        let scan = TopicScan(context.ending(when: isOver), topic: context.topics.deadLetters)
        let places = try? [context.topics.deadLetters, context.topics.replays].map { try Self.bounds(of: scan.of($0)) }
        let (known, knownPlaces) = state.withLock { ($0.letters, $0.lettersPlaces) }
        if let known, let places, places == knownPlaces { return (known, places) }
        guard let history = history(until: isOver) else { return (nil, places) }
        return ((try? answers.ending(when: isOver).deadLetters(ResultFilter(), history)) ?? nil, places)
    }

    /// The bounds of the partitions of a topic. A topic that is missing has none.
    private static func bounds(of scan: TopicScan) throws(JobFailure) -> [Range<Int64>] {
        do throws(JobFailure) {
            let reader = try scan.survey()
            defer { reader.close() }
            return reader.bounds
        } catch {
            if case .kafka(let error, _) = error, error.isUnknownTopicOrPartition { return [] }
            throw error
        }
    }

    private func limit() -> @Sendable () -> Bool {
        let end = now().advanced(by: Self.patience)
        return { [now] in now() >= end }
    }
}
