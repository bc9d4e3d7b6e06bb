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
    /// 200 with the whole life of a request, and in front of it what this gateway remembers, or 304 for whoever has it already. `request` is
    /// its record's value, where that was asked for.
    init(_ life: RequestLife, remembered: PublishedRequest?, at now: Timestamp, request: [UInt8]?, to call: HTTPFields) {
        var json = remembered.map { JSONObject(continuing: $0.json(at: now)) } ?? life.head
        json.add("life", raw: life.json)
        if let request { json.add("request", raw: request) }
        self.init(status: 200, json: json.bytes)
        tag(isFinal: life.final != nil, to: call)
    }
}

extension APIAnswer {
    /// 200 with what is remembered of a request, and its record's value.
    init(_ remembered: PublishedRequest, at now: Timestamp, request: [UInt8]?) {
        var json = JSONObject(continuing: remembered.json(at: now))
        if let request { json.add("request", raw: request) }
        self.init(status: 200, json: json.bytes, headers: ["Cache-Control": "no-store"])
    }

    /// 200 with what is remembered of a request, and the place at which it waits.
    init(_ remembered: PublishedRequest, at now: Timestamp, whereabouts report: WhereaboutsReport) {
        var json = JSONObject(continuing: remembered.json(at: now))
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

extension RequestLife {
    /// The members of a request that is known by its results alone, in the order of a 202.
    fileprivate var head: JSONObject {
        guard let latest else { return JSONObject(["id": id]) }
        var document = JSONDocument()
        var json = JSONObject(["id": id, "state": latest.state])
        if (try? document.read(latest.json.span)) != nil {
            if let place = Replay.RecordPlace(document, originOf: document.root) {
                json.add(["topic": place.topic, "partition": Int(place.partition), "offset": String(place.offset)])
            }
            let timings = document.member("timings", of: document.root)
            json.add("accepted_at", value: timings.flatMap { document.text("published_at", of: $0) } ?? latest.at)
        }
        json.add("result", raw: latest.line)
        return json
    }

    /// The place of the request's record.
    var place: RecordPlace? {
        var document = JSONDocument()
        guard let latest, (try? document.read(latest.json.span)) != nil,
            let place = Replay.RecordPlace(document, originOf: document.root)
        else { return nil }
        return RecordPlace(topic: place.topic, partition: place.partition, offset: place.offset)
    }
}
