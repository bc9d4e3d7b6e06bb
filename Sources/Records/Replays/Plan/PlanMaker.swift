import Delivery
package import FanOut
package import JobSupport
import Kafka
import PushModel
import Replay
package import ResultQuery

/// Makes a plan: finds the failures, reads the originals back, and writes the work into a file.
///
/// One value belongs to one thread at a time. Several plans may be made at once, each in a file of its own.
package struct PlanMaker {
    /// The samples that are shown.
    package static let sampleCount = 10
    /// The bytes that may wait in memory when the originals are read back.
    private static let readAhead = 64 << 20

    /// The states of requests that did not reach all although they should have.
    private static let states: [ResultState] = [.failed, .partial, .rejected, .expired, .cancelled, .unknown]

    private let context: JobContext
    private let planning: FanOutPlanner.Configuration
    private let file: LineFile
    /// The file's first line, as far as it is known.
    package private(set) var header: ReplayPlanHeader
    /// Some of the replayed requests, evenly spread.
    package private(set) var samples: [ReplayItem] = []
    private var number = 0
    private var stopped = StoppedRequests()
    /// The change of the hub, so that whatever was wrong with the one before does not matter.
    private let hubEdit: RequestEdit?
    private var namesHub: Bool { hubEdit?.json != nil }

    /// A filter that matches nothing but results of requests that did not reach all, if it names no states and kinds itself.
    package static func narrowed(_ filter: ResultFilter) -> ResultFilter {
        var filter = filter
        if !filter.mentions(.state) { filter.require(.state, among: states.map(\.rawValue)) }
        if !filter.mentions(.kind) { filter.require(.kind, among: ["final", "outcome"]) }
        return filter
    }

    /// A maker with the facts that are known before.
    package init(
        _ context: JobContext, planning: FanOutPlanner.Configuration, header: ReplayPlanHeader, path: String
    ) throws(JobFailure) {
        self.context = context
        self.planning = planning
        self.header = header
        hubEdit = try header.manner().edits.last { $0.path == ["hub"] }
        file = try LineFile(path)
    }

    /// Plans the replay of the results that a filter wants. The id of a large request in it stands for the parts of it that need a replay.
    package mutating func plan(_ filter: ResultFilter, limit: Int) throws(JobFailure) {
        let policy = ReplayPolicy(
            includesAmbiguous: header.includesAmbiguous, renewsExpiry: header.expiry != nil,
            includesCancelled: header.exceptions.cancelled, includesUntargeted: header.exceptions.untargeted)
        let log = try context.jobLog()
        if !header.exceptions.cancelled { stopped = try context.stoppedRequests() }
        header.jobsOffset = log.end
        var candidates = PlanCandidates(filter.withParts, policy, log.history, limit: limit)
        try gather(filter, into: &candidates)
        try candidates.close(isCancelled: context.isCancelled)
        header.counts.matched = candidates.matchedCount
        header.counts.left = candidates.left
        if candidates.history.unknownCount > 0 {
            context.note(.unknownReplays(results: candidates.history.unknownCount, topic: context.topics.replays))
        }
        let manner = try header.manner()
        try JobFailure.naming(.readOriginals) { () throws(KafkaError) in try readOriginals(of: candidates, manner: manner) }
        try file.finish(header: header.json, isCancelled: context.isCancelled)
    }

    /// Reads the results up to now, those that the filter does not want as well: later results show the replays since.
    private func gather(_ filter: ResultFilter, into candidates: inout PlanCandidates) throws(JobFailure) {
        let scan = TopicScan(context, topic: context.topics.results)
        let reader = try scan.open(filter.since.map { .time($0) } ?? .beginning, .end)
        defer { reader.close() }
        let file = file
        while !reader.hasReachedEnd, !candidates.isOverfull {
            // Most failures of an outage are of others than those who are sought, so that they have room one after the other.
            try scan.readOn(reader) { record in
                candidates.take(record) { file.add($0.json) }
                return !candidates.isFull
            }
            if !filter.sought.isEmpty { try keepSought(by: filter, of: &candidates) }
        }
        guard !candidates.isOverfull else { throw .room(ReplayFailure.tooManyRequests(limit: candidates.limit)) }
    }

    /// Keeps the candidates whose originals are what is sought. One that is gone cannot be compared, and is none.
    private func keepSought(by filter: ResultFilter, of candidates: inout PlanCandidates) throws(JobFailure) {
        var seeking = ResultFilter()
        for condition in filter.sought { seeking.add(condition) }
        let (matcher, file) = (RequestMatcher(seeking), file)
        try JobFailure.naming(.readOriginals) { () throws(KafkaError) in
            let originals = try OriginalReader(context.kafka, readAhead: Self.readAhead, timeout: context.timeout)
            try candidates.keep { original throws(KafkaError) in
                guard !context.isCancelled() else { return false }
                return try originals.request(of: original) { request, place in
                    if case .named = matcher.match(request, from: place.topic, partition: place.partition) { true } else { false }
                } ?? false
            } leave: {
                file.add($0.json)
            }
        }
    }

    private mutating func readOriginals(
        of candidates: PlanCandidates, manner: ReplayWriter.Manner
    ) throws(KafkaError) {
        let originals = try OriginalReader(context.kafka, readAhead: Self.readAhead, timeout: context.timeout)
        var writer = ReplayWriter(manner, planner: FanOutPlanner(planning))
        context.progress(.began(.originals, count: Int64(candidates.list.count)))
        defer { context.progress(.ended) }
        for (index, candidate) in candidates.list.enumerated() {
            if context.isCancelled() { return }
            if index & 0xFF == 0 { context.progress(.reached(remaining: Int64(candidates.list.count - index))) }
            let original = candidates.original(of: candidate)
            let replayed = candidates.history.replayed(original)
            let open = candidate.sends.subtracting(replayed)
            guard !open.isEmpty else {
                let isDelivered = candidate.sends.subtracting(candidates.history.delivered(original)).isEmpty
                leave(candidate, as: original, reason: isDelivered ? .delivered : .replayed)
                continue
            }
            guard let record = try originals.record(at: original.place), let value = record.value else {
                leave(candidate, as: original, reason: .gone)
                continue
            }
            let spread = max(1, candidates.list.count / Self.sampleCount)
            add(candidate, as: original, sends: open, record: record, value: value, spread: spread, with: &writer)
        }
    }

    /// Plans the new requests for one original.
    private mutating func add(
        _ candidate: PlanCandidates.Candidate, as original: Original, sends: SendSet, record: FetchedRecord, value: [UInt8],
        spread: Int, with writer: inout ReplayWriter
    ) {
        let now = Timestamp(milliseconds: context.now())
        let shape =
            candidate.plannedCount == 0
            ? nil : ReplayItem.Shape(count: Int(candidate.plannedCount), platforms: candidate.platforms)
        let reason = writer.read(
            value.span, headers: record.knownHeaders, as: original, time: record.publishedAt,
            calls: shape.map { ($0.count, $0.platforms) }, now: now)
        if let reason { return leave(candidate, as: original, reason: reason) }
        let published = record.publishedAt ?? Timestamp(milliseconds: 0)
        if stopped.cancellation(of: writer.original, from: original.place.topic, published: published) != nil {
            return leave(candidate, as: original, reason: .cancelled)
        }
        let parts = writer.requests(for: sends)
        var json = ByteWriter()
        for part in parts where !writer.write(part, id: "\(header.jobID):\(number)", into: &json) {
            return leave(candidate, as: original, reason: .invalid)
        }
        header.counts.addEligible(isAmbiguous: !candidate.ambiguous.intersection(sends).isEmpty)
        if let repair = candidate.repair, !namesHub || ![.unknownHub, .hubNotFound].contains(repair) {
            header.counts.repairs[repair, default: 0] += 1
        }
        if let hub = context.hubNames?.unknown(hub(of: writer.original)) { header.counts.addUnknown(hub: hub) }
        for part in parts {
            let calls = writer.calls(of: part)
            var item = ReplayItem(
                number: number, requestID: candidate.requestID, place: original.place,
                publishedAt: record.publishedAt ?? original.publishedAt, sends: part, calls: shape)
            item.callCount = calls.count
            for platform in calls.map({ $0.platform.map { "\($0.name)" } ?? "template" }) where !item.platforms.contains(platform)
            {
                item.platforms.append(platform)
            }
            if header.expiry == nil { item.expiresAt = writer.original.expiresAt?.text }
            file.add(item.json)
            if number >= samples.count * spread, samples.count < Self.sampleCount { samples.append(item) }
            header.counts.requests += 1
            header.counts.calls += calls.count
            number += 1
        }
    }

    /// The hub that a request names once it is changed.
    private func hub(of original: borrowing PushRequest) -> String? {
        if let hubEdit { return hubEdit.text }
        return original.hub.map { original.document.string($0) }
    }

    private mutating func leave(_ candidate: PlanCandidates.Candidate, as original: Original, reason: Leftover) {
        header.counts.left[reason, default: 0] += 1
        let left = ReplayLeft(
            reason: reason, requestID: candidate.requestID, place: original.place, publishedAt: original.publishedAt,
            sends: candidate.sends)
        file.add(left.json)
    }
}
