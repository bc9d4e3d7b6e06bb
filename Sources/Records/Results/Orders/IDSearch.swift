import Delivery
import Groups
package import JobSupport
import Kafka
import PushModel
import Replay

/// The ids of a search that were found nowhere.
package struct UnknownIDs: Sendable, Equatable {
    /// The ids.
    package var ids: Set<String>
    /// False if not all was read, so that they may be somewhere.
    package var isCertain = true
}

/// The names by which records tell of requests. Without effects.
struct IDMatcher {
    /// The ids that were not found yet.
    private(set) var missing: Set<String>
    private var places: [RecordPlace: String] = [:]
    private var request = PushRequest()

    init(_ ids: Set<String>) {
        missing = ids
        for id in ids { if let place = RecordPlace(id) { places[place] = id } }
    }

    /// Notes that a request is known by an id.
    mutating func note(_ id: String) { missing.remove(id) }

    /// Takes in the offsets that a partition has: an id that is a place names one of them.
    mutating func take(_ offsets: Range<Int64>, of partition: TopicPartition) {
        for (place, id) in places
        where place.topic == partition.topic && place.partition == partition.partition && offsets.contains(place.offset) {
            note(id)
        }
    }

    /// Takes in a record of a lane, or of one that waits behind it.
    mutating func takeRequest(_ value: Span<UInt8>, headers: borrowing RecordHeaders, at origin: RecordOrigin) {
        _ = RequestReader(from: .own).read(value, headers: headers, origin: origin, into: &request)
        note(request.document.string(request.id))
        if let part = PartReference(of: request) { note(part.parentID) }
        let place = RecordPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
        if let id = places[place] { note(id) }
    }

    /// Takes in the key of a result: the id of its request.
    mutating func takeResult(key: Span<UInt8>) {
        for id in missing where key.equals(id) { return note(id) }
    }

    /// Takes in a record of the topic of parents.
    mutating func takeParent(key: Span<UInt8>, value: Span<UInt8>) {
        guard let (parent, role) = ParentKey.read(key) else { return }
        for id in missing where parent == ParentKey(fileID: id) { return note(id) }
        if case .parent = role, let record = ParentRecord(value) { note(record.id) }
    }
}

extension JobContext {
    /// The most offsets of a topic that are read for ids: so many as take a second or two. Of results the keys alone are looked at.
    private static let (searchedRequests, searchedKeys): (Int64, Int64) = (20_000, 200_000)

    /// Searches for requests by their ids where they are published, wait, and end, the newest first, for no longer than `timeout`.
    package func unknownIDs(among ids: Set<String>) throws(JobFailure) -> UnknownIDs {
        let end = Deadline(after: timeout)
        let context = ending { end.hasPassed }
        var (matcher, isCertain) = (IDMatcher(ids), true)
        let lanes = Lane.allCases.map { topics.requests(of: $0) }
        for topic in lanes + topics.delays + [topics.held, topics.parents, topics.results] where !matcher.missing.isEmpty {
            do throws(JobFailure) {
                isCertain = try context.search(topic, isLane: lanes.contains(topic), for: &matcher) && isCertain
            } catch {
                if case .cancelled = error, isCancelled() { throw error }
                isCertain = false
            }
        }
        if !matcher.missing.isEmpty, isCertain { isCertain = !hidesRequests(in: lanes.filter { $0 != topics.requestsOwn }) }
        return UnknownIDs(ids: matcher.missing, isCertain: isCertain)
    }

    /// Reads the newest records of a topic. Returns whether these are all. A missing topic holds nothing.
    private func search(_ name: String, isLane: Bool, for matcher: inout IDMatcher) throws(JobFailure) -> Bool {
        let topic = TopicScan(self, topic: name)
        let survey: TopicReader
        do throws(JobFailure) {
            survey = try topic.survey()
        } catch {
            if case .kafka(let error, _) = error, error.isUnknownTopicOrPartition { return true }
            throw error
        }
        let bounds = survey.bounds
        survey.close()
        let positions = bounds.enumerated().map { number, bounds in
            GroupPosition(
                TopicPartition(topic: name, partition: Int32(number)), low: bounds.lowerBound, high: bounds.upperBound,
                committed: nil)
        }
        if isLane { for position in positions { matcher.take(position.low..<position.high, of: position.partition) } }
        let hasKeys = name == topics.results || name == topics.parents
        let limit = hasKeys ? Self.searchedKeys : Self.searchedRequests
        let windows = SearchWindow.all(of: positions, keepsDone: true, place: nil, limit: limit)
        let isWhole = windows.allSatisfy { $0.searchedCount == $0.total }
        guard windows.contains(where: { $0.searchedCount > 0 }), !matcher.missing.isEmpty else { return isWhole }
        let reader = try topic.open(
            .offsets(Dictionary(windows.map { ($0.partition, $0.offsets.lowerBound) }) { first, _ in first }),
            .offsets(Dictionary(windows.map { ($0.partition, $0.offsets.upperBound) }) { first, _ in first }))
        defer { reader.close() }
        try topic.readOn(reader) { record in
            take(record, of: name, for: &matcher)
            return !matcher.missing.isEmpty
        }
        return isWhole
    }

    private func take(_ record: borrowing ConsumedRecord, of name: String, for matcher: inout IDMatcher) {
        guard let value = record.value else { return }
        if name == topics.results || name == topics.parents {
            guard let key = record.key else { return }
            return name == topics.results ? matcher.takeResult(key: key) : matcher.takeParent(key: key, value: value)
        }
        var headers = RecordHeaders()
        record.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        var origin = RecordOrigin(
            topic: name, partition: record.partition, offset: record.offset,
            timestamp: WaitingReader.moment(record.timestamp ?? 0))
        if let from = WaitingRecord(OwnHeaders.of(record), of: group)?.origin {
            (origin.topic, origin.partition, origin.offset) = (from.topic, from.partition, from.offset)
        }
        matcher.takeRequest(value, headers: headers, at: origin)
    }

    /// True if an open transaction may hide requests, or that is not known.
    private func hidesRequests(in lanes: [String]) -> Bool {
        do throws(KafkaError) {
            let found = try TopicAdmin(kafka).describe(topics: lanes, timeout: timeout).topics
            let partitions = zip(lanes, found).flatMap { name, found in
                guard case .existing(let count) = found else { return [TopicPartition]() }
                return (0..<Int32(clamping: count)).map { TopicPartition(topic: name, partition: $0) }
            }
            guard !partitions.isEmpty else { return false }
            // In this order: what was written first and cannot be read later is hidden.
            let highs = try TopicAdmin(kafka, seesUncommitted: true).ends(of: partitions, timeout: timeout)
            let ends = try TopicAdmin(kafka).ends(of: partitions, timeout: timeout)
            return zip(highs, ends).contains { $0 > $1 }
        } catch {
            return true
        }
    }
}
