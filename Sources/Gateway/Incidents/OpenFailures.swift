import Basics
import Delivery
import Jobs
import Kafka
import PushModel
import ResultQuery
import Synchronization

/// Knows how many failures are open, and how many dead letters there are: counted beside all calls, seldom, and for a short time.
final class OpenFailures: Sendable {
    /// The time between two counts, and the age at which one is of no use, 30 s in nanoseconds.
    private static let life: Int64 = 30_000_000_000
    /// The longest count. One that would take longer is not known.
    private static let patience = Duration.seconds(2)
    /// The rest after a count, as a multiple of its time: 5 % of a processor at most.
    private static let rest: Int64 = 20
    /// The most incidents whose failures are counted for one answer.
    private static let mostIncidents = 50

    /// The ends of topics by which letters are counted again.
    private typealias Places = [[Range<Int64>]]

    private struct State {
        var open: Int?
        var letters: DeadLetterCount?
        var lettersPlaces: Places?
        var nextCount = MonotonicTime.past
        var isCounting = false
        /// Of incidents, by their ids.
        var incidents: [String: (open: Int, at: MonotonicTime)] = [:]
    }

    private let context: JobContext
    private let answers: ResultAnswers
    private let isIndexed: @Sendable () -> Bool
    private let now: @Sendable () -> MonotonicTime
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())

    init(
        _ context: JobContext, answers: ResultAnswers, isIndexed: @escaping @Sendable () -> Bool,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        (self.context, self.answers, self.isIndexed, self.now) = (context, answers, isIndexed, now)
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
    func count() {
        let start = now()
        let open = openFailures([ResultFilter()])?.first
        let (letters, places) = countLetters(until: limit())
        let end = now()
        let took = min(max(0, end.nanoseconds(since: start)), 60_000_000_000)
        state.withLock { state in
            (state.open, state.letters, state.lettersPlaces) = (open, letters, places)
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

    /// The open failures of incidents by their ids, 30 s old at most. Those that cannot be counted from an index are missing. Blocks its thread.
    func counts(of incidents: [Incident], at wall: Int64) -> [String: Int] {
        let now = now()
        var known = state.withLock { $0.incidents }.filter { now.nanoseconds(since: $0.value.at) < Self.life }
        var asked: [(id: String, filter: ResultFilter)] = []
        for incident in incidents.prefix(Self.mostIncidents) where known[incident.id] == nil {
            if let filter = incident.failures(at: wall) { asked.append((incident.id, filter)) }
        }
        if !asked.isEmpty, let counts = openFailures(asked.map(\.filter)) {
            for (question, count) in zip(asked, counts) { known[question.id] = (count, now) }
            let kept = Dictionary(known.sorted { $0.value.at > $1.value.at }.prefix(4 * Self.mostIncidents).map { ($0, $1) }) {
                $1
            }
            state.withLock { $0.incidents = kept }
        }
        return known.mapValues(\.open)
    }

    /// Nil without an index that is current: a topic is not read for it.
    private func openFailures(_ filters: [ResultFilter]) -> [Int]? {
        guard isIndexed() else { return nil }
        return try? answers.ending(when: limit()).openFailures(filters)
    }

    /// Counts the dead letters again if any came, or went back.
    private func countLetters(until isOver: @escaping @Sendable () -> Bool) -> (DeadLetterCount?, Places?) {
        let scan = TopicScan(context.ending(when: isOver), topic: context.topics.deadLetters)
        let places = try? [context.topics.deadLetters, context.topics.replays].map { try Self.bounds(of: scan.of($0)) }
        let (known, knownPlaces) = state.withLock { ($0.letters, $0.lettersPlaces) }
        if let known, let places, places == knownPlaces { return (known, places) }
        return ((try? answers.ending(when: isOver).deadLetters()) ?? nil, places)
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
