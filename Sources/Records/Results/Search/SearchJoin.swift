import Basics
import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery
import SQLite

/// Finds out the results of some candidates, and where those are that have none. Each topic is read at most once for them, and that of
/// results a second time.
///
/// Most requests have their results a moment after their publication, so that these are read first, and those of the time since then last.
struct SearchJoin {
    /// The age of a result that a current index has for certain, in milliseconds.
    private static let indexLag: Int64 = 60_000
    /// The time after publication in which most requests have their results, in milliseconds.
    private static let usualWait: Int64 = 60_000
    /// The most time between two requests whose results are read in one go, in milliseconds.
    private static let nearness: Int64 = 300_000
    /// The records that show by their places that the topic has the partitions that it had when they were written.
    private static let sample = 64

    private let topics: SearchTopics
    private let answers: ResultAnswers
    /// True if those with a result are not wanted.
    private let isOpenAlone: Bool
    private let deadline: Deadline
    private var entries: [SearchEntry]
    private var byPlace: [RecordPlace: Int] = [:]
    private var byID: [UInt64: [Int]] = [:]
    /// True if results of some ids lie where the partitioner would not put them today.
    private var isScattered = false
    /// False if time ran out before everything was read, or brokers were away, so that nothing is known of those that are still open.
    private(set) var isComplete = true

    /// Some candidates, of which nothing is known yet.
    init(
        _ candidates: [SearchCandidate], topics: SearchTopics, answers: ResultAnswers, isOpenAlone: Bool, until deadline: Deadline
    ) {
        (self.topics, self.answers, self.isOpenAlone, self.deadline) = (topics, answers, isOpenAlone, deadline)
        entries = candidates.map { SearchEntry($0) }
        for (index, entry) in entries.enumerated() {
            byPlace[entry.candidate.place] = index
            byID[FNV1a.hash(of: entry.id.utf8), default: []].append(index)
        }
    }

    /// The rows of the candidates, in their order.
    mutating func rows() throws(JobFailure) -> [SearchRow] {
        do throws(JobFailure) { try find() } catch {
            if case .cancelled = error { throw error }
            isComplete = false
        }
        let now = topics.now
        return entries.map { $0.row(at: now, isComplete: isComplete) }
    }

    private mutating func find() throws(JobFailure) {
        if isOpenAlone {
            try place()
            if hasOpen { try readParts() }
            return
        }
        let isIndexed = try takeIndexed()
        guard hasOpen else { return }
        try place()
        guard hasOpen else { return }
        // An index has what is older.
        let first = isIndexed ? topics.now.adding(milliseconds: -Self.indexLag).milliseconds : .min
        // A delayed request has its result once it is due.
        let sent = entries.filter(\.isOpen).map { entry in
            max(entry.candidate.publishedAt, entry.candidate.facts?.due.map(\.milliseconds) ?? .min)
        }
        for times in Self.clusters(of: sent.filter { $0 >= first }) {
            guard !deadline.hasPassed else {
                isComplete = false
                break
            }
            try readResults(since: times.lowerBound, until: times.upperBound.addingSaturated(Self.usualWait))
        }
        if hasOpen { try readWaiting() }
        if hasOpen { try readParts() }
        if hasOpen, let oldest = openTimes.min() { try readResults(since: max(first, oldest), until: nil) }
        if hasOpen, let oldest = openTimes.min() { try readDeadLetters(since: oldest) }
    }

    /// The moments at which those were published of which nothing is known yet.
    private var openTimes: [Int64] {
        entries.filter(\.isOpen).map { $0.candidate.whole?.publishedAt ?? $0.candidate.publishedAt }
    }

    /// Times with those near them, the newest first.
    static func clusters(of times: [Int64]) -> [ClosedRange<Int64>] {
        var clusters: [ClosedRange<Int64>] = []
        for time in times.sorted(by: >) {
            if let last = clusters.last, last.lowerBound.addingSaturated(-nearness) <= time {
                clusters[clusters.count - 1] = time...last.upperBound
            } else {
                clusters.append(time...time)
            }
        }
        return clusters
    }

    private var hasOpen: Bool { entries.contains(where: \.isOpen) }

    /// Takes what the index of results has. Returns false where there is none, or it lacks anything older than its lag.
    private mutating func takeIndexed() throws(JobFailure) -> Bool {
        let behind = answers.keeper.map { $0.counts?.behind ?? 1 } ?? 0
        let ids = Set(entries.map(\.id))
        guard let found = try answers.known({ index throws(SQLiteError) in try index.finals(of: ids) }) else { return false }
        for result in found { take(result) }
        return behind == 0
    }

    private mutating func take(_ result: ResultRecord) {
        for index in byID[FNV1a.hash(of: result.requestID.utf8)] ?? [] where entries[index].id == result.requestID {
            entries[index].choice.take(result)
        }
    }

    /// Says where those are that the group has not finished.
    private mutating func place() throws(JobFailure) {
        let positions = try topics.positions()
        let now = topics.now
        for index in entries.indices where entries[index].isOpen {
            let candidate = entries[index].candidate
            if !entries[index].records.isEmpty { decide(index, at: now) }
            let partition = TopicPartition(topic: candidate.origin.topic, partition: candidate.origin.partition)
            // Of a whole that is known by a part alone, the place of its record says nothing.
            guard entries[index].isOpen, candidate.whole == nil, let position = positions[partition] else { continue }
            let reading = topics.reading(of: candidate.origin.offset, at: position)
            let request = WaitingRequest(
                id: candidate.id, origin: candidate.origin, due: nil, attempts: 0)
            entries[index].records.append(
                FoundRequest(
                    kind: .requests, partition: partition, offset: candidate.origin.offset, request: request,
                    position: position.start, reading: reading))
            decide(index, at: now)
            // A record that no worker understands has no result.
            if entries[index].isOpen, candidate.facts == nil { entries[index].standing = .init(state: nil) }
        }
    }

    /// Says where a candidate is by its records. One that is done may have its result elsewhere.
    private mutating func decide(_ index: Int, at now: Timestamp) {
        let entry = entries[index]
        let whereabouts = RequestWhereabouts(entry.records, divided: entry.divided, now: now)
        guard whereabouts.state != .done, whereabouts.state != .unknown else { return }
        let due = whereabouts.found?.request.due?.milliseconds
        let parts = whereabouts.divided.map { (count: $0.count, ended: $0.endedCount) }
        entries[index].standing = .init(state: whereabouts.state, due: due, parts: parts)
    }

    /// Reads the results written between two moments, or since one. It ends as soon as all are found.
    private mutating func readResults(since: Int64, until: Int64?) throws(JobFailure) {
        let partitions = try topics.partitions(of: [topics.context.topics.results])
        guard !partitions.isEmpty else { return }
        let count = Int32(clamping: partitions.count)
        let kept = try topics.kept(of: partitions)
        let starts = try topics.offsets(since: since.addingSaturated(-BackwardScan.disorder), of: partitions, within: kept)
        let ends =
            try until.map { time throws(JobFailure) in
                try topics.offsets(since: time, of: partitions, within: kept)
            } ?? kept.map(\.upperBound)

        let isEverywhere = isScattered
        var wanted = [Int](repeating: 0, count: partitions.count)
        for entry in entries where entry.isOpen {
            if isEverywhere {
                for number in wanted.indices { wanted[number] += 1 }
            } else {
                wanted[Int(Producer.partition(ofKey: entry.id.utf8Span.span, of: count))] += 1
            }
        }
        let parts = partitions.indices.filter { wanted[$0] > 0 }.map { index in
            RangeReader.Part(partitions[index], offsets: starts[index]..<max(starts[index], ends[index]))
        }
        var sampled = 0
        let isWhole = try topics.read(parts, until: deadline) { index, record in
            guard let key = record.key else { return true }
            if sampled < Self.sample {
                sampled += 1
                if Producer.partition(ofKey: key, of: count) != record.partition { isScattered = true }
            }
            guard let found = byID[FNV1a.hash(of: key)], let result = result(record, of: found) else { return true }
            for entry in found where entries[entry].id == result.requestID {
                let wasOpen = entries[entry].isOpen
                entries[entry].choice.take(result)
                guard wasOpen, entries[entry].choice.isSettled else { continue }
                if isEverywhere {
                    for number in wanted.indices { wanted[number] -= 1 }
                } else {
                    wanted[Int(record.partition)] -= 1
                }
            }
            return wanted[Int(parts[index].partition.partition)] > 0
        }
        if !isWhole { isComplete = false }
    }

    /// The result in a record, or nil if its key is none of some ids.
    private func result(_ record: borrowing ConsumedRecord, of candidates: [Int]) -> ResultRecord? {
        guard let key = record.key else { return nil }
        for index in candidates where key.equals(entries[index].id) { return ResultRecord(record) }
        return nil
    }

    /// Looks for those that wait in delay lanes, or are held.
    private mutating func readWaiting() throws(JobFailure) {
        let offsets = Set(entries.filter(\.mayWait).map(\.candidate.origin.offset))
        var seen: Set<Int> = []
        let isWhole = try topics.readOpen(in: topics.terms.delays + [topics.terms.held], until: deadline) { position, record in
            guard let offset = record.number(ofHeader: "pushfan-origin-offset"), offsets.contains(offset),
                let waiting = topics.waiting(record, at: position)
            else { return }
            let origin = waiting.request.origin
            let place = RecordPlace(origin)
            guard let index = byPlace[place], entries[index].mayWait,
                entries[index].candidate.publishedAt == origin.timestamp.milliseconds
            else { return }
            entries[index].records.append(waiting)
            seen.insert(index)
        }
        if !isWhole { isComplete = false }
        let now = topics.now
        for index in seen { decide(index, at: now) }
    }

    /// Looks for those that were divided into parts, which have not all ended.
    private mutating func readParts() throws(JobFailure) {
        var readers: [Int: DividedReader] = [:]
        var names: [ParentKey: Int] = [:]
        for (index, entry) in entries.enumerated() where entry.isOpen {
            readers[index] = DividedReader(for: entry.id, place: entry.candidate.whole?.place, found: entry.records)
            for name in entry.parentKeys { names[name] = index }
        }
        let isWhole = try topics.readOpen(in: [topics.terms.parents], until: deadline) { _, record in
            guard let key = record.key, let (parent, _) = ParentKey.read(key), let index = names[parent] else { return }
            readers[index]?.take(key: key, value: record.value, at: WaitingReader.moment(record.timestamp ?? 0))
        }
        if !isWhole { isComplete = false }
        let now = topics.now
        for (index, reader) in readers {
            entries[index].divided = reader.divided
            decide(index, at: now)
        }
    }

    /// Looks for those that could not be understood, or whose results brokers do not take.
    private mutating func readDeadLetters(since time: Int64) throws(JobFailure) {
        let offsets = Set(entries.filter(\.isOpen).map(\.candidate.origin.offset))
        let partitions = try topics.partitions(of: [topics.context.topics.deadLetters])
        let kept = try topics.kept(of: partitions)
        let starts = try topics.offsets(since: time.addingSaturated(-BackwardScan.disorder), of: partitions, within: kept)
        let parts = zip(partitions, zip(starts, kept)).map { RangeReader.Part($0, offsets: $1.0..<$1.1.upperBound) }
        let isWhole = try topics.read(parts, until: deadline) { _, record in
            guard let offset = record.number(ofHeader: "pushfan-dlq-offset"), offsets.contains(offset) else { return true }
            guard let origin = DeadLetterOrigin(OwnHeaders.of(record)), let index = byPlace[origin.place],
                entries[index].isOpen, origin.isOf(entries[index].candidate)
            else { return true }
            entries[index].standing = .init(state: nil)
            return true
        }
        if !isWhole { isComplete = false }
    }
}
