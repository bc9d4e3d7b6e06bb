import Kafka
import PushModel
import ResultQuery

/// Reads requests from the records that they were published with, or that hold them while they wait, and compares them with a filter.
struct CandidateReader {
    /// The number of the part of a large request that stands for it where its parts alone tell of it.
    private static let firstPart = 0

    private let matcher: RequestMatcher
    private let bytes: ByteMatcher
    private let own: String
    private var request = PushRequest()
    private var headers = RecordHeaders()

    /// A reader for a filter. Of the topic `own`, pushfan alone writes the records.
    init(_ matcher: RequestMatcher, own: String) {
        self.matcher = matcher
        self.own = own
        bytes = ByteMatcher(matcher.filter.sought)
    }

    /// Reads a record of a lane. Nil for one that does not match.
    mutating func candidate(of record: borrowing ConsumedRecord, in partition: TopicPartition) -> SearchCandidate? {
        guard let value = record.value, !matcher.rulesOut(value) else { return nil }
        let origin = RecordOrigin(
            topic: partition.topic, partition: partition.partition, offset: record.offset,
            timestamp: Timestamp(milliseconds: record.timestamp ?? 0), isDated: record.timestamp != nil)
        // Headers may say an id, and most records have none.
        takeHeaders(of: record)
        guard !matcher.rulesOut(value, headers: headers) else { return nil }
        return read(value, from: origin)
    }

    /// Reads a record that holds a request which was published at `origin`. Nil for one that does not match.
    mutating func candidate(
        of record: borrowing ConsumedRecord, value: Span<UInt8>, from origin: RecordOrigin
    ) -> SearchCandidate? {
        takeHeaders(of: record)
        return read(value, from: origin)
    }

    /// A reader of the records of a lane. Elsewhere than in its own anybody may write what pushfan alone decides.
    private func reader(for origin: RecordOrigin) -> RequestReader { RequestReader(from: origin.topic == own ? .own : .open) }

    private mutating func read(_ value: Span<UInt8>, from origin: RecordOrigin) -> SearchCandidate? {
        let reading = reader(for: origin).read(value, headers: headers, origin: origin, into: &request)
        if case .unreadable = reading { return unreadable(value, from: origin) }
        let match = matcher.match(request, from: origin.topic, partition: origin.partition)
        guard match != .none else { return nil }
        let facts = RequestFacts(request)
        var candidate = SearchCandidate(at: origin, id: facts.id, facts: facts)
        switch match {
        case .none: return nil
        case .possible: candidate.isNamed = false
        case .named(let asPerson): candidate.isNamedAsPerson = asPerson
        }
        return stands(&candidate) ? candidate : nil
    }

    /// Reads the facts of a record that was published at `origin`, or nil for one that cannot be read.
    mutating func facts(of record: borrowing ConsumedRecord, from origin: RecordOrigin) -> RequestFacts? {
        guard let value = record.value else { return nil }
        takeHeaders(of: record)
        let reading = reader(for: origin).read(value, headers: headers, origin: origin, into: &request)
        if case .unreadable = reading { return nil }
        return RequestFacts(request)
    }

    private mutating func takeHeaders(of record: borrowing ConsumedRecord) {
        headers.removeAll()
        record.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
    }

    /// A record that cannot be read has no owner, and its words alone say something, those of its title among them.
    private func unreadable(_ value: Span<UInt8>, from origin: RecordOrigin) -> SearchCandidate? {
        guard matcher.filter.sought.allSatisfy(\.matchesTitles), !matcher.filter.requiresTenant,
            bytes.matches(value.withUnsafeBufferPointer { Array($0) })
        else { return nil }
        return SearchCandidate(at: origin, id: request.document.string(request.id), facts: nil)
    }

    /// True if a candidate is one of its own, or stands for the whole of which it is a part.
    ///
    /// A whole that has a record is a candidate itself. The parts of another one are many, and one of them tells of it: that which names the
    /// person who is sought, else the first.
    private func stands(_ candidate: inout SearchCandidate) -> Bool {
        guard let part = PartReference(of: request), !matcher.filter.namesRequest(candidate.id) else { return true }
        guard part.key.text.hasPrefix(":"), candidate.isNamedAsPerson || part.chunk == Self.firstPart
        else { return false }
        candidate.whole = .init(id: part.parentID, publishedAt: part.publishedAt.milliseconds, key: part.key)
        return true
    }
}

extension SearchCandidate {
    /// The same for a request of the index, in which of the parts of a whole with a record there are none. False for one that is passed over.
    ///
    /// Of words that every part has, the first part alone tells, so that a whole is not on page after page.
    mutating func standsInIndex(for filter: ResultFilter) -> Bool {
        guard let whole = facts?.whole, !filter.namesRequest(id) else { return true }
        guard isNamedAsPerson || id.hasSuffix(".0") else { return false }
        self.whole = Whole(id: whole, publishedAt: publishedAt)
        return true
    }
}
