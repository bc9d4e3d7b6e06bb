import JobSupport
import Kafka
import PushModel
import Replay
import ResultQuery

/// Gathers from the results the sends that may be replayed, in as little memory as the number of candidates needs.
struct PlanCandidates {
    /// A request of which something may be replayed, or was replayed before.
    struct Candidate {
        let topic: Int32
        let partition: Int32
        let offset: Int64
        let isOutcome: Bool
        let plannedCount: Int32
        let platforms: PlatformSequence
        let requestID: String
        /// The time of the request's record, if it is known.
        var publishedAt: Timestamp?
        /// The error that must be repaired first.
        let repair: ErrorCode?
        /// The sends that would be repeated if no replay had done so before.
        var sends: SendSet
        /// Those of them that may have reached their devices.
        var ambiguous: SendSet
    }

    /// A result that was wanted, of whose request it is not known yet whether it is sought.
    struct Unread {
        let original: Original
        /// The sends that it leaves in any case.
        let lines: [ReplayLeft]
        /// The reason for which nothing of it can be replayed, or nil.
        let reason: Leftover?
    }

    /// The most requests, and the most results that wait at a time for what their requests say.
    let limit: Int
    /// Requests are sought by what results do not say.
    private let isSought: Bool
    private let policy: ReplayPolicy
    private var matcher: ResultMatcher
    private var reading = JSONDocument()
    private var topics: [String] = []
    /// The earlier replays.
    private(set) var history: ReplayHistory
    /// In the order of their places once all were gathered.
    private(set) var list: [Candidate] = []
    /// The results that were wanted.
    private(set) var matchedCount = 0
    /// More than the limit were found.
    private(set) var isOverfull = false

    /// Nothing is gathered yet.
    init(_ filter: ResultFilter, _ policy: ReplayPolicy, _ history: ReplayHistory, limit: Int) {
        matcher = ResultMatcher(filter)
        isSought = !filter.sought.isEmpty
        self.policy = policy
        self.history = history
        self.limit = limit
    }

    /// True if results wait in memory for `keep`, and no more have room.
    var isFull: Bool { isSought && unread.count >= limit }

    /// Takes a record of the results topic. Of one that `isFull`, `keep` is called first.
    mutating func take(_ record: borrowing ConsumedRecord, leave: (ReplayLeft) -> Void) {
        guard let value = record.value else { return }
        if ReplayHistory.mayConcern(value), reading.readResult(value) { history.noteResult(reading) }
        guard matcher.matches(value, writtenAt: record.timestamp ?? 0), let result = SettledResult(matcher.document) else {
            return
        }
        let eligibility = Eligibility(of: result, after: history, under: policy)
        let replayed = eligibility.left[.replayed, default: SendSet()].union(eligibility.left[.delivered, default: SendSet()])
        let lines = eligibility.left.filter { $0.key != .replayed && $0.key != .delivered }.map { reason, sends in
            ReplayLeft(
                reason: reason, requestID: result.requestID, place: result.original.place,
                publishedAt: result.original.publishedAt, sends: sends)
        }
        var open = eligibility.sends
        if history.replayed(result.original) != SendSet() { open = open.union(replayed) }
        let found = Unread(original: result.original, lines: lines, reason: open.isEmpty ? eligibility.mainReason : nil)
        if isSought { unread.append(found) } else { count(found, leave: leave) }
        guard !open.isEmpty else { return }
        guard isSought || list.count < limit else {
            isOverfull = true
            return
        }
        let place = result.original.place
        list.append(
            Candidate(
                topic: number(of: place.topic), partition: place.partition, offset: place.offset,
                isOutcome: result.isOutcome, plannedCount: Int32(clamping: result.plannedCount), platforms: result.platforms,
                requestID: result.requestID, publishedAt: result.original.publishedAt, repair: eligibility.repair, sends: open,
                ambiguous: eligibility.ambiguous))
    }

    /// Results of which nothing can be replayed, by the reason.
    private(set) var left: [Leftover: Int] = [:]

    /// The results of which it is not known yet whether their requests are sought.
    private var unread: [Unread] = []
    /// The candidates of requests that are known to be sought, which come first.
    private var keptCount = 0

    /// Keeps what belongs to requests that are sought, as their originals show, which are asked for in the order of their places.
    mutating func keep(
        isSought: (Original) throws(KafkaError) -> Bool, leave: (ReplayLeft) -> Void
    ) throws(KafkaError) {
        var kept: Set<RecordPlace> = []
        for found in unread.sorted(by: { $0.original.place < $1.original.place }) {
            if !kept.contains(found.original.place) {
                guard try isSought(found.original) else { continue }
                kept.insert(found.original.place)
            }
            count(found, leave: leave)
        }
        unread = []
        let fresh = list[keptCount...].filter { kept.contains(original(of: $0).place) }
        list.replaceSubrange(keptCount..., with: fresh)
        if list.count > limit { (isOverfull, list) = (true, Array(list.prefix(limit))) }
        keptCount = list.count
    }

    private mutating func count(_ found: Unread, leave: (ReplayLeft) -> Void) {
        matchedCount += 1
        for line in found.lines { leave(line) }
        if let reason = found.reason { left[reason, default: 0] += 1 }
    }

    private mutating func number(of topic: String) -> Int32 {
        if let index = topics.firstIndex(of: topic) { return Int32(index) }
        topics.append(topic)
        return Int32(topics.count - 1)
    }

    /// The request of a candidate.
    func original(of candidate: Candidate) -> Original {
        let place = RecordPlace(topic: topics[Int(candidate.topic)], partition: candidate.partition, offset: candidate.offset)
        return Original(at: place, id: candidate.requestID, publishedAt: candidate.publishedAt)
    }

    /// Puts the candidates into the order in which they are read back, and joins those of one request.
    ///
    /// With exactly-once delivery a request has one final result. If it has two, only the sends that failed in both are repeated.
    /// Later reports of the hub's telemetry are added to them. Requests that stood at one place of a topic which was made again are several.
    mutating func close(isCancelled: () -> Bool = { false }) throws(JobFailure) {
        try sort(isCancelled)
        var joined: [Candidate] = []
        joined.reserveCapacity(list.count)
        for candidate in list {
            guard let last = joined.last, original(of: last).mayBe(original(of: candidate)) else {
                joined.append(candidate)
                continue
            }
            joined[joined.count - 1].publishedAt = last.publishedAt ?? candidate.publishedAt
            joined[joined.count - 1].ambiguous = last.ambiguous.union(candidate.ambiguous)
            // Each outcome is of another send, which the final result has as accepted.
            joined[joined.count - 1].sends =
                candidate.isOutcome ? last.sends.union(candidate.sends) : last.sends.intersection(candidate.sends)
        }
        list = joined
    }
    /// Puts them in order. A million take a second, in which the job can be cancelled.
    private mutating func sort(_ isCancelled: () -> Bool) throws(JobFailure) {
        let ranks = topics.indices.map { index in Int32(topics.count { $0 < topics[index] }) }
        var comparisonCount = 0
        do {
            try list.sort {
                comparisonCount += 1
                if comparisonCount & 0xFFFF == 0, isCancelled() { throw JobFailure.cancelled }
                let isOneTopic = $0.topic == $1.topic
                let left = (isOneTopic ? 0 : ranks[Int($0.topic)], $0.partition, $0.offset, $0.publishedAt ?? .past)
                let right = (isOneTopic ? 0 : ranks[Int($1.topic)], $1.partition, $1.offset, $1.publishedAt ?? .past)
                if left != right { return left < right }
                return ($0.requestID, $0.isOutcome ? 1 : 0) < ($1.requestID, $1.isOutcome ? 1 : 0)
            }
        } catch {
            throw .cancelled
        }
    }
}
