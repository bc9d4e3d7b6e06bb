import GroupPositions
import HTTPServing
import Jobs
import Publishing
import PushModel
import Replay
import ResultQuery

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

extension APIAnswer {
    /// 200 with the whole life of a request, and in front of it what is remembered of it, or 304 for whoever has it already. `value` is its
    /// record's, where that was asked for.
    init(
        _ life: RequestLife, of request: PublishedRequest, at now: Timestamp, held: [HeldSpan], request value: [UInt8]?,
        to call: HTTPFields
    ) {
        var json = JSONObject(continuing: request.json(at: now, held: held))
        // A life says what it is of, with the state that was found last.
        if request.ending == nil, let latest = life.latest, !latest.repeatsItsID { json.add("result", raw: latest.line) }
        json.add("life", raw: life.json)
        if let value { json.add("request", raw: value) }
        self.init(status: 200, json: json.bytes)
        tag(isFinal: request.isFinal, to: call)
    }
}

extension APIAnswer {
    /// 200 with what is remembered of a request, and its record's value.
    init(_ remembered: PublishedRequest, at now: Timestamp, held: [HeldSpan], request: [UInt8]?) {
        var json = JSONObject(continuing: remembered.json(at: now, held: held))
        if let request { json.add("request", raw: request) }
        self.init(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// 200 with what is remembered of a request, and the place at which it waits.
    init(_ remembered: PublishedRequest, at now: Timestamp, held: [HeldSpan], whereabouts report: WhereaboutsReport) {
        var json = JSONObject(continuing: remembered.json(at: now, held: held))
        json.add("whereabouts", raw: report.json { APIProblem.words(for: $0) })
        self.init(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// 200 with where a request is that has no result yet.
    init(_ report: WhereaboutsReport) {
        var json = JSONObject(["id": report.id, "state": report.whereabouts.state.rawValue])
        if let origin = report.whereabouts.origin {
            json.add([
                "topic": origin.topic, "partition": Int(origin.partition), "offset": String(origin.offset),
                "accepted_at": origin.timestamp.text,
            ])
        } else {
            json.add("accepted_at", value: report.whereabouts.divided?.at.text)
        }
        json.add("whereabouts", raw: report.json { APIProblem.words(for: $0) })
        self.init(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
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
