import GroupPositions
import Groups
import HTTPServing
import JobSupport
import Publishing
import PushModel
import Replay
import ResultQuery
import Results

/// Searches the whole life of a request in the results, and where it is while it has none. Blocks the calling thread.
struct LifeSearch: Sendable {
    let context: JobContext
    let answers: ResultAnswers
    let terms: GroupTerms

    /// The facts of a request beside those that this gateway remembers.
    enum Found: Sendable {
        case life(RequestLife)
        case whereabouts(WhereaboutsReport)
        case nothing
    }

    /// The same, whose work ends by another condition, too.
    func ending(when isOver: @escaping @Sendable () -> Bool) -> LifeSearch {
        LifeSearch(context: context.ending(when: isOver), answers: answers.ending(when: isOver), terms: terms)
    }

    /// The results of a request that an asker may see, or nil for none. Others may have published under its id.
    func life(of id: String, for asker: Asker) throws(APIProblem) -> RequestLife? {
        let life = try APIProblem.catching { () throws(JobFailure) in
            try answers.life(of: id, ResultFilter()) { result in
                asker.maySee(RequestOwner(source: result.source, tenant: result.tenant))
            }
        }
        return life.latest == nil ? nil : life
    }

    /// The place of a request that has no result. A record says nothing of tenants before it is read, so this is for keys that see all.
    func whereabouts(of id: String) throws(APIProblem) -> Found {
        try APIProblem.catching { () throws(JobFailure) in
            var search = WhereaboutsSearch(for: id, in: terms, context: context)
            let report = try search.run()
            return report.whereabouts.isUnknown ? .nothing : .whereabouts(report)
        }
    }
}

extension WhereaboutsReport {
    /// The place of the record with which the request was published.
    var place: RequestPlace? {
        whereabouts.found.map {
            let origin = $0.request.origin
            let record = RecordPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
            return RequestPlace(record: record, time: origin.isDated ? origin.timestamp : nil)
        }
    }
}

extension PublishedRequest {
    /// A request that is known by its results alone, of which there is one at least.
    init(_ life: RequestLife, at now: Timestamp) {
        let result = life.final ?? life.latest
        let origin = result?.origin
        self.init(
            id: life.id, owner: RequestOwner(source: result?.source, tenant: result?.tenant),
            acceptedAt: origin?.time ?? result.map { Timestamp(milliseconds: $0.timestamp) } ?? now,
            foundAt: origin)
        isFound = true
    }
}

extension ResultRecord {
    /// The place of the record that it is of, and the moment at which that was published, as far as it says so.
    var origin: RequestPlace? {
        var document = JSONDocument()
        guard (try? document.read(json.span)) != nil, let found = Replay.RecordPlace(document, originOf: document.root)
        else { return nil }
        let text = document.member("timings", of: document.root).flatMap { document.text("published_at", of: $0) }
        return RequestPlace(
            record: RecordPlace(topic: found.topic, partition: found.partition, offset: found.offset),
            time: text.flatMap { Timestamp(Array($0.utf8).span) })
    }
}
