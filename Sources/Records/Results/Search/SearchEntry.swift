import Publishing
import PushModel
import Replay
import ResultQuery

/// A candidate with what is known so far of its result, and of where it is.
struct SearchEntry {
    let candidate: SearchCandidate
    var choice: ResultChoice
    /// Its records. Of a whole there are none: one of its parts that waits says nothing of the others.
    var records: [FoundRequest]
    var divided: DividedRequest?
    var standing: SearchRow.Standing?

    /// A candidate of which nothing but its waiting records is known.
    init(_ candidate: SearchCandidate) {
        self.candidate = candidate
        choice = ResultChoice(for: candidate)
        records = candidate.whole == nil ? candidate.waiting : []
    }

    /// The id of its results.
    var id: String { candidate.whole?.id ?? candidate.id }

    /// True if nothing says yet where it is.
    var isOpen: Bool { choice.result == nil && standing == nil }

    /// True if it may be in a delay lane, or held. A whole is in parts.
    var mayWait: Bool { isOpen && candidate.whole == nil }

    /// The names that it may have in the topic of large requests.
    var parentKeys: [ParentKey] {
        if let whole = candidate.whole { return [ParentKey(fileID: id)] + [whole.key].compactMap(\.self) }
        let id = Array(id.utf8)
        return [ParentKey(of: candidate.origin, id: id.span), ParentKey(at: candidate.origin)]
    }

    /// The row.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - isComplete: False if not everything was read, so that a request without a result may have one.
    /// - Returns: The row.
    func row(at now: Timestamp, isComplete: Bool) -> SearchRow {
        var row = SearchRow(id: id, publishedAt: candidate.whole?.publishedAt ?? candidate.publishedAt)
        row.facts = candidate.facts
        if let whole = candidate.whole {
            row.sender = candidate.facts.map { .init(tenant: $0.tenant, source: $0.source, hub: $0.hub) }
            row.facts = whole.isSeen ? row.facts : nil
            row.facts?.id = whole.id
            row.facts?.whole = nil
        } else {
            row.place = candidate.place
        }
        row.result = choice.result
        row.standing = row.result == nil ? standing ?? otherStanding(at: now, isComplete: isComplete) : nil
        row.isNamed = candidate.isNamed
        row.cursor = candidate.cursor
        return row
    }

    /// The place of one that was found nowhere.
    private func otherStanding(at now: Timestamp, isComplete: Bool) -> SearchRow.Standing {
        if isComplete { return .init(state: .done) }
        guard let due = candidate.facts?.due, due > now else { return .init(state: .unknown) }
        return .init(state: .delayed, due: due.milliseconds)
    }
}

/// The record of which a dead letter tells.
struct DeadLetterOrigin {
    let place: RecordPlace
    /// The moment of its publication, in milliseconds since 1970, where the letter has it.
    let publishedAt: Int64?

    /// Reads the headers of a dead letter. Nil for one that names no record.
    init?(_ headers: [String: String]) {
        guard let topic = headers["pushfan-dlq-topic"], let partition = headers["pushfan-dlq-partition"].flatMap({ Int32($0) }),
            let offset = headers["pushfan-dlq-offset"].flatMap({ Int64($0) })
        else { return nil }
        place = RecordPlace(topic: topic, partition: partition, offset: offset)
        // One in place of a result has the moment of the refusal as its time.
        let name = headers["pushfan-dlq-reason"] == "not_taken" ? "pushfan-dlq-published-ms" : "pushfan-dlq-timestamp-ms"
        publishedAt = headers[name].flatMap { Int64($0) }
    }

    /// True if it tells of this request. A topic that was made again has other records at the same places.
    func isOf(_ candidate: SearchCandidate) -> Bool {
        place == candidate.place && publishedAt.map { $0 == candidate.publishedAt } ?? true
    }
}

extension ResultFilter {
    /// True if every term holds for the result of a request, or for what is known without one. Where nothing is known of that, terms about
    /// it leave the request in the list.
    func wants(_ row: SearchRow, of candidate: SearchCandidate) -> Bool {
        guard !terms.isEmpty else { return true }
        var document = JSONDocument()
        if let result = row.result { return document.readResult(result.json.span) && matches(document) }
        var facts = candidate.facts ?? RequestFacts(id: row.id, audience: AudienceSummary(.users, count: 0))
        facts.id = row.id
        let (place, state) = (candidate.place, row.state)
        let shape = facts.resultShape(state: state, topic: place.topic, partition: place.partition, offset: place.offset)
        guard document.readResult(shape.span) else { return false }
        return row.standing?.state == .unknown ? matches(document, as: .sender) : matches(document)
    }
}
