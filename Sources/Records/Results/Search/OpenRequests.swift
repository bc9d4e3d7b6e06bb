import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel
import Replay
import ResultQuery

/// Reads the requests that have no result from the records that wait for the group, and from the topic of large requests.
struct OpenRequests {
    /// The most large requests that are listed, the newest.
    private static let wholeLimit = 1000

    private let topics: SearchTopics
    private let filter: ResultFilter
    private var reader: CandidateReader
    /// True if everything was read.
    private(set) var isComplete = true

    init(_ topics: SearchTopics, for matcher: RequestMatcher) {
        self.topics = topics
        filter = matcher.filter
        reader = CandidateReader(matcher, own: topics.context.topics.requestsOwn)
    }

    /// Reads the candidates that are in some states, but for those in lanes.
    mutating func read(
        _ states: Set<RequestWhereabouts.State>, until deadline: Deadline, perform body: (SearchCandidate) -> Void
    ) throws(JobFailure) {
        var waiting: [String] = []
        // One that is due is in work while it stands in a delay lane.
        if states.contains(.delayed) || states.contains(.inWork) { waiting += topics.terms.delays }
        if states.contains(.held) { waiting.append(topics.terms.held) }
        if !waiting.isEmpty { try readWaiting(in: waiting, until: deadline, perform: body) }
        if states.contains(.inParts) { try readWholes(until: deadline, perform: body) }
    }

    private mutating func readWaiting(
        in names: [String], until deadline: Deadline, perform body: (SearchCandidate) -> Void
    ) throws(JobFailure) {
        let isWhole = try topics.readOpen(in: names, until: deadline) { position, record in
            guard let value = record.value, let waiting = topics.waiting(record, at: position) else { return }
            let origin = waiting.request.origin
            // Of what is delayed, the times are those of publication, and of being due.
            guard
                filter.covers(origin.timestamp.milliseconds)
                    || waiting.request.due.map({ filter.coversDue($0.milliseconds) }) ?? false,
                var candidate = reader.candidate(of: record, value: value, from: origin)
            else { return }
            candidate.waiting = [waiting]
            body(candidate)
        }
        if !isWhole { isComplete = false }
    }

    /// The files of a filter's times that are listed. Nothing says whom a file names, so that one may be missing where something is sought.
    static func listed(_ files: [SearchCandidate], for filter: ResultFilter) -> (files: [SearchCandidate], isComplete: Bool) {
        let files = files.filter { filter.covers($0.time) }
        return filter.sought.isEmpty ? (files, true) : ([], files.isEmpty)
    }

    private mutating func readWholes(until deadline: Deadline, perform body: (SearchCandidate) -> Void) throws(JobFailure) {
        var open: [ParentKey: RecordOrigin] = [:]
        var files: [ParentKey: SearchCandidate] = [:]
        let isWhole = try topics.readOpen(in: [topics.terms.parents], until: deadline) { position, record in
            guard let key = record.key, let (parent, role) = ParentKey.read(key), role == .parent else { return }
            (open[parent], files[parent]) = (nil, nil)
            guard let value = record.value, let whole = ParentRecord(value) else { return }
            let time = Timestamp(milliseconds: record.timestamp ?? 0)
            let place = RecordOrigin(
                topic: position.partition.topic, partition: position.partition.partition, offset: record.offset, timestamp: time)
            if let origin = whole.origin { open[parent] = origin } else { files[parent] = SearchCandidate(whole, at: place) }
        }
        if !isWhole { isComplete = false }
        let listed = Self.listed(Array(files.values), for: filter)
        for file in listed.files { body(file) }
        if !listed.isComplete { isComplete = false }
        let origins = open.values.filter { filter.covers($0.timestamp.milliseconds) }
            .sorted { ($1.timestamp, $1.topic, $1.partition, $1.offset) < ($0.timestamp, $0.topic, $0.partition, $0.offset) }
        let records = OriginRecords(topics)
        let isRead = try records.read(Array(origins.prefix(Self.wholeLimit)), until: deadline) { origin, record in
            guard let value = record.value, let candidate = reader.candidate(of: record, value: value, from: origin)
            else { return }
            body(candidate)
        }
        if !isRead || origins.count > Self.wholeLimit { isComplete = false }
    }
}

extension SearchTopics {
    /// A record of a delay lane or of the topic of held requests that waits for the group, or nil for another one.
    func waiting(_ record: borrowing ConsumedRecord, at position: GroupPosition) -> FoundRequest? {
        guard let waiting = WaitingRecord(OwnHeaders.of(record), of: terms.group), !waiting.isPoll, let from = waiting.origin
        else { return nil }
        let published = WaitingReader.moment(waiting.published ?? record.timestamp ?? 0)
        let origin = RecordOrigin(topic: from.topic, partition: from.partition, offset: from.offset, timestamp: published)
        let request = WaitingRequest(
            id: "", origin: origin, due: waiting.due.map(WaitingReader.moment), attempts: waiting.attempts)
        return FoundRequest(
            kind: terms.kind(of: position.partition.topic), partition: position.partition, offset: record.offset,
            request: request, position: position.start, reading: reading(of: record.offset, at: position))
    }
}

/// Reads the records that some requests were published with, of all partitions at once.
struct OriginRecords {
    /// The most offsets between two records that are read in one go.
    private static let nearness: Int64 = 200

    private let topics: SearchTopics

    init(_ topics: SearchTopics) { self.topics = topics }

    /// Reads the records that are still there, each once.
    ///
    /// - Returns: False if the deadline passed before the end.
    func read(
        _ origins: [RecordOrigin], until deadline: Deadline, perform body: (RecordOrigin, borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) -> Bool {
        let wanted = Dictionary(grouping: origins) { TopicPartition(topic: $0.topic, partition: $0.partition) }
        // Results may name any topic.
        let lanes = Set(try topics.partitions(of: topics.terms.requests))
        let partitions = wanted.keys.filter { lanes.contains($0) }
        var ranges: [(partition: TopicPartition, ranges: ArraySlice<Range<Int64>>)] = []
        for (partition, kept) in zip(partitions, try topics.kept(of: partitions)) {
            let offsets = (wanted[partition] ?? []).map(\.offset).filter { kept.contains($0) }
            ranges.append((partition, Self.ranges(of: offsets)[...]))
        }
        let byPlace = Dictionary(
            origins.map { (RecordPlace($0), $0) }
        ) { first, _ in first }
        while ranges.contains(where: { !$0.ranges.isEmpty }) {
            let parts = ranges.compactMap { partition, ranges in ranges.first.map { RangeReader.Part(partition, offsets: $0) } }
            for index in ranges.indices { _ = ranges[index].ranges.popFirst() }
            let isWhole = try topics.read(parts, until: deadline) { index, record in
                let partition = parts[index].partition
                let place = RecordPlace(topic: partition.topic, partition: partition.partition, offset: record.offset)
                // A topic that was made again has other records at the same places.
                if let origin = byPlace[place],
                    !origin.isDated || record.timestamp.map({ $0 == origin.timestamp.milliseconds }) ?? true
                {
                    body(origin, record)
                }
                return true
            }
            guard isWhole, !deadline.hasPassed else { return false }
        }
        return true
    }

    /// The ranges in which some offsets are, with few others.
    static func ranges(of offsets: [Int64]) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for offset in offsets.sorted() {
            if let last = ranges.last, offset - last.upperBound < nearness {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, offset + 1)
            } else {
                ranges.append(offset..<offset + 1)
            }
        }
        return ranges
    }
}

extension ConsumedRecord {
    /// The whole number in a header, or nil if there is none.
    borrowing func number(ofHeader name: String) -> Int64? {
        var found: Int64?
        forEachHeader { header, value in
            guard header.equals(name), let value, (1...19).contains(value.count) else { return }
            found = value.withUnsafeBufferPointer { Int64(String(decoding: $0, as: UTF8.self)) }
        }
        return found
    }
}
