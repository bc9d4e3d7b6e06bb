import GatewayAPI
import HTTPServing
import Publishing
import PushModel
import ResultQuery
import Results

/// The facts of a request for its asker, as far as they were found.
struct LookupAnswer: Sendable {
    /// The request as this gateway remembers it. Nil if only its place was found.
    var request: PublishedRequest?
    /// All its results.
    var life: RequestLife?
    /// The place where it is while it has no result.
    var report: WhereaboutsReport?
    /// The seconds of a preference `wait` that was respected.
    var applied: Int?
    /// The reason for which nothing newer is known.
    var obstacle: RequestStory.Obstacle?
    /// The times for which it was held.
    var held: [HeldSpan] = []
    /// The value of its record, if that was asked for.
    var payload: [UInt8]?
    /// The facts in its record.
    var facts: RequestFacts?
    /// Other requests with the same title to the same person, within a minute. Nil if they were not looked for, or not in time.
    var twins: [Twin]?
    /// Its story, which has a verdict.
    var story: RequestStory

    /// The request's place, where its record is read.
    package var place: RequestPlace? { request.map(\.place) ?? report?.place }

    /// An answer of what was found, of which something is not nil.
    init(
        request: PublishedRequest? = nil, life: RequestLife? = nil, report: WhereaboutsReport? = nil, applied: Int? = nil,
        obstacle: RequestStory.Obstacle? = nil, at now: Timestamp
    ) {
        (self.request, self.life, self.report) = (request, life, report)
        (self.applied, self.obstacle) = (applied, obstacle)
        var story =
            life.map { RequestStory($0) } ?? report.map { RequestStory($0) }
            ?? RequestStory(id: request?.id ?? "", publishedAt: request?.acceptedAt)
        if let request { story.take(request, at: now) }
        story.obstacle = obstacle ?? story.obstacle
        self.story = story
    }

    /// The answer for a caller.
    ///
    /// - Parameters:
    ///   - call: The call's fields.
    ///   - now: The present moment.
    ///   - zone: The zone in which the verdict tells moments.
    ///   - showsPayload: The caller may see titles and the names of users.
    /// - Returns: The answer.
    package func answer(to call: HTTPFields, at now: Timestamp, zone: LocalZone, showsPayload: Bool) -> APIAnswer {
        var json = JSONObject(continuing: head(at: now))
        if let request, let life {
            // A life says what it is of, with the state that was found last.
            if request.ending == nil, let latest = life.latest, !latest.repeatsItsID { json.add("result", raw: latest.line) }
            json.add("life", raw: life.json)
        }
        if let report { json.add("whereabouts", raw: report.json { APIProblem.words(for: $0) }) }
        if let payload { json.add("request", raw: payload) }
        json.add("verdict", raw: Verdict.of(story, now: now, zone: zone).json)
        if let facts {
            json.add("to", raw: (showsPayload ? facts.audience : facts.audience.masked(revealing: [])).json)
            if showsPayload { json.add("title", value: facts.title) }
        }
        if let twins { json.add("twins", array: twins.map(\.json)) }
        var answer = APIAnswer(status: 200, json: json.bytes)
        if let applied { answer.headers.append("Preference-Applied", value: "wait=\(applied)") }
        guard let request, report == nil, payload == nil || life != nil else {
            answer.headers.append("Cache-Control", value: "no-store")
            return answer
        }
        answer.tag(isFinal: request.isSettled(at: now), to: call)
        return answer
    }

    /// The members that say what it is and where it stands.
    private func head(at now: Timestamp) -> [UInt8] {
        if let request { return request.json(at: now, held: held) }
        guard let report else { return JSONObject(["id": story.id]).bytes }
        var json = JSONObject(["id": report.id, "state": report.whereabouts.state.rawValue])
        if let origin = report.whereabouts.origin {
            json.add([
                "topic": origin.topic, "partition": Int(origin.partition), "offset": String(origin.offset),
                "accepted_at": origin.timestamp.text,
            ])
        } else {
            json.add("accepted_at", value: report.whereabouts.divided?.at.text)
        }
        guard !held.isEmpty else { return json.bytes }
        json.add(
            "held",
            array: held.map { span in
                var writer = ByteWriter()
                span.append(to: &writer)
                return writer.bytes
            })
        return json.bytes
    }
}

extension RequestStory {
    /// Takes what is remembered of a request. Its state counts: of several publications under one id it is that of the first.
    fileprivate mutating func take(_ request: PublishedRequest, at now: Timestamp) {
        guard !request.isFinal else {
            guard ending == nil, let json = request.ending?.json,
                let result = ResultRecord(json: json, partition: 0, offset: 0, timestamp: 0)
            else { return takeTelemetry(of: request, at: now) }
            take(result)
            return takeTelemetry(of: request, at: now)
        }
        publishedAt = request.acceptedAt
        cancelledAt = cancelledAt ?? request.cancelledAt
        // A search that found more has said it already.
        guard ending != nil || standing == .open else { return }
        (ending, original, doubts) = (nil, nil, [])
        switch request.standing(at: now) {
        case .unconfirmed: standing = .unconfirmed
        case .waiting(let due): standing = .delayed(due: due, attempts: 0)
        case .unknown: (standing, obstacle) = (.open, .notAllSearched)
        case .accepted, .published, .final: standing = .open
        }
    }

    /// Takes what the hub told of its calls, where no search has found it.
    private mutating func takeTelemetry(of request: PublishedRequest, at now: Timestamp) {
        if telemetry == .notSearched || telemetry == .missing { telemetry = request.telemetry(at: now) ?? telemetry }
    }
}
