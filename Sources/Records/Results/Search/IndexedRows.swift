import Replay
import ResultQuery

/// The newest rows of an index of requests.
struct IndexedRows {
    let reach: Int64
    /// The first moment of publication that was asked for.
    let since: Int64
    var published = IndexedPart()
    var delayed = IndexedPart()
    /// The records that name a person or a device who is sought, or nil for all of them.
    var persons: Set<RecordPlace>?

    init(reach: Int64, since: Int64) { (self.reach, self.since) = (reach, since) }

    /// Everything of this moment or later is there.
    var reached: Int64 { max(since, published.reached ?? since, delayed.reached ?? since) }

    /// The candidates behind a place, by the moments of the index.
    func batch(after cursor: SearchCursor?, for filter: ResultFilter) -> SearchBatch {
        var gathering = CandidateGathering(published.requests.count + delayed.requests.count, after: cursor)
        var places: Set<RecordPlace> = []
        let late = delayed.requests.filter { !filter.covers($0.publishedAt) }
        for request in published.requests + late where places.insert(request.place).inserted {
            let isPerson = filter.seeksPerson && persons?.contains(request.place) ?? true
            var candidate = SearchCandidate(request, isNamed: true, isPerson: isPerson)
            if candidate.standsInIndex(for: filter) { gathering.take(candidate) }
        }
        var batch = gathering.takeOut(since: reached, isWhole: false)
        guard gathering.floor == nil else { return batch }
        batch.end = SearchCursor(time: reached, place: nil)
        batch.hasMore = reached > since || reach > filter.since ?? .min
        return batch
    }
}

extension ResultFilter {
    /// The filters that together find what a plain word of this one finds as a person or a device. Nil if a person or a device is sought by
    /// name, so that all that matches names one.
    var ofPersons: [ResultFilter]? {
        let wanted = sought.filter { !$0.isNegated }
        guard !wanted.contains(where: { $0.subject == .user || $0.subject == .device }) else { return nil }
        return wanted.filter { $0.subject == .anything }.flatMap { word in
            [Sought.Subject.user, .device].map { subject in
                var filter = self
                filter.add(Sought(subject, values: word.values))
                return filter
            }
        }
    }
}
