import Basics
package import GatewayAPI
package import HTTPServing
import Kafka
import Keys
import Publishing
import PushModel
import Results
package import Users

/// A call about one request, whose key is right.
package struct LookupCall: Sendable {
    package let operation: APIOperation.Lookup
    /// The id of the request.
    package let id: String
    /// The call, whole.
    let request: HTTPServerRequest
    /// The caller that asks.
    var asker: Asker
    /// Takes the answer, and ignores any after the first.
    package let answer: @Sendable (APIAnswer) -> Void
    /// Begins an answer whose body is written later.
    let stream: EventStreaming
    /// The network that it comes from, or nil where that is not known.
    var client: ClientNetwork?
    /// Has its caller looked at while it waits.
    var holding: Holding = { _ in {} }

    package init(
        operation: APIOperation.Lookup, id: String, request: HTTPServerRequest, asker: Asker,
        answer: @escaping @Sendable (APIAnswer) -> Void, stream: @escaping EventStreaming, client: ClientNetwork? = nil,
        holding: @escaping Holding = { _ in {} }
    ) {
        self.operation = operation
        self.id = id
        self.request = request
        self.asker = asker
        self.answer = answer
        self.stream = stream
        self.client = client
        self.holding = holding
    }

    /// The holder of the shares that it takes.
    var claimant: Claimant { Claimant(keyID: asker.keyID, tenant: asker.tenant, client: client) }

    package func refuse(_ problem: APIProblem) { answer(APIAnswer(problem)) }
}

/// Answers what became of requests, follows them, and cancels them. Waits for nothing.
package struct LookupEndpoints: Sendable {
    /// Reads the record of a place for an asker.
    package typealias Reading =
        @Sendable (_ place: StoredPlace, _ asker: String, _ then: @escaping @Sendable (RecordReader.Answer) -> Void) -> Void

    /// Searches the whole life of a request for an asker, on a thread of its own.
    package typealias Searching =
        @Sendable (
            _ id: String, _ asker: Asker, _ then: @escaping @Sendable (Result<FoundLife, APIProblem>) -> Void
        ) -> Void

    package let lookup: RequestLookup
    package let events: RequestEvents
    let cancelling: RequestCancelling
    /// The topics of requests: no other is read, whatever a caller says.
    let topics: Set<String>
    let read: Reading
    let search: Searching
    /// True if a search costs next to nothing, so that each request that has ended is searched.
    let isSearchCheap: @Sendable () -> Bool
    /// True if the index of results lacks the newest.
    package var isIndexBehind: @Sendable () -> Bool = { false }
    /// Adds what records say.
    package var completion: AnswerCompletion

    package init(
        _ lookup: RequestLookup, cancelling: RequestCancelling, topics: Set<String>, read: @escaping Reading,
        search: @escaping Searching = { $2(.success(.nothing)) }, isSearchCheap: @escaping @Sendable () -> Bool = { false }
    ) {
        self.lookup = lookup
        self.search = search
        self.isSearchCheap = isSearchCheap
        self.cancelling = cancelling
        self.topics = topics
        self.read = read
        events = RequestEvents(lookup)
        completion = AnswerCompletion(lookup: lookup, topics: topics, read: read, search: search)
    }

    /// Answers a call, before it returns or later. Called on any thread.
    package func answer(_ call: LookupCall) {
        do throws(APIProblem) {
            let (id, query) = (call.id, try LookupQuery(call.request, of: call.operation))
            switch call.operation {
            case .showRequest:
                guard !query.wantsPayload || call.asker.mayReadPayload else { throw .forbiddenScope(.payload) }
                let deadline = lookup.clock.now().advanced(by: .seconds(query.wait))
                findSearched(id, at: query.place, for: call.asker) { found in
                    switch found {
                    case .failure(let problem): call.refuse(problem)
                    case .success(let key?): show(key, query: query, until: deadline, for: call)
                    case .success(nil): searchLife(of: id, query: query, until: deadline, for: call)
                    }
                }
            case .followRequest:
                guard call.request.headers.single("Last-Event-ID") != EventFrames.endID else {
                    // The one status at which a browser does not connect again (HTML standard, section 9.2.2).
                    return call.answer(APIAnswer(status: 204))
                }
                findSearched(id, at: query.place, for: call.asker) { found in
                    switch found {
                    case .failure(let problem): call.refuse(problem)
                    case .success(let key?): follow(key, for: call)
                    case .success(nil):
                        findLife(of: id, for: call) { $0.map { follow($0, for: call) } ?? call.refuse(.unknownRequest) }
                    }
                }
            case .cancelRequest:
                let reason = try RequestCancelling.reason(in: call.request)
                findToCancel(id, at: query.place, for: call) { cancel($0, reason: reason, for: call) }
            }
        } catch {
            call.refuse(error)
        }
    }

    /// Finds a request as ``find(_:at:for:then:)`` does, and searches its final result, if need be.
    private func findSearched(
        _ id: String, at place: RequestPlace?, for asker: Asker,
        then: @escaping @Sendable (Result<PublishedRequests.Key?, APIProblem>) -> Void
    ) {
        find(id, at: place, for: asker) { [lookup] found in
            guard case .success(let key?) = found else { return then(found) }
            lookup.search(key) { then(found) }
        }
    }

    /// Finds a request that an asker may see, here or at a place, or nothing.
    private func find(
        _ id: String, at place: RequestPlace?, for asker: Asker,
        then: @escaping @Sendable (Result<PublishedRequests.Key?, APIProblem>) -> Void
    ) {
        if let found = lookup.find(id, for: asker) { return then(.success(found.key)) }
        guard let place, topics.contains(place.record.partition.topic) else { return then(.success(nil)) }
        read(place.record, "key/" + asker.keyID) { [lookup] answer in
            switch answer {
            case .failure(let problem): then(.failure(problem))
            case .success(let record):
                guard var found = record.flatMap({ PublishedRequest($0, at: place, withID: id) }), asker.maySee(found.owner)
                else { return then(.success(nil)) }
                found.party = Party(tenant: asker.tenant, source: asker.source)
                then(.success(lookup.add(found)))
            }
        }
    }

    private func show(_ key: PublishedRequests.Key, query: LookupQuery, until deadline: MonotonicTime, for call: LookupCall) {
        let applied = query.isPreferred ? query.wait : nil
        guard query.wait > 0 else {
            guard let request = lookup[key], query.wantsLife || query.wantsPayload || request.isFinal && isSearchCheap() else {
                return answer(lookup[key], applied: applied, query: query, to: call)
            }
            return searchLife(of: key.id, beside: key, query: query, until: deadline, for: call)
        }
        _ = lookup.watch(key, for: query.goal, by: call.claimant, until: deadline, holding: call.holding) { ending in
            switch ending {
            case .request(let request): answer(request, applied: applied, query: query, to: call)
            case .stopping(let request): answer(request, applied: nil, query: query, to: call)
            case .problem(let problem): call.refuse(problem)
            }
        }
    }

    /// Answers with the whole life of a request and what is remembered of it, or with where it is.
    private func searchLife(
        of id: String, beside known: PublishedRequests.Key? = nil, query: LookupQuery, until deadline: MonotonicTime,
        for call: LookupCall
    ) {
        search(id, call.asker) { found in
            switch found {
            case .failure(let problem):
                guard let known, !query.wantsLife else { return call.refuse(problem) }
                answer(lookup[known], applied: nil, without: problem, query: query, to: call)
            case .success(.life(let life)):
                remember(life, as: known, for: call.asker) { key in
                    guard query.wait == 0 else { return show(key, query: query, until: deadline, for: call) }
                    showLife(life, of: key, query: query, for: call)
                }
            case .success(.whereabouts(let report)):
                guard let known else { return wait(for: report, query: query, until: deadline, call: call) }
                showKnown(known, query: query, whereabouts: query.wantsLife && !query.wantsPayload ? report : nil, for: call)
            case .success(.nothing):
                guard let known else { return call.refuse(.unknownRequest) }
                showKnown(known, query: query, whereabouts: nil, for: call)
            }
        }
    }

    /// Remembers a request that its results have shown, and takes from them the one that counts.
    private func remember(
        _ life: RequestLife, as known: PublishedRequests.Key?, for asker: Asker,
        then: @escaping @Sendable (PublishedRequests.Key) -> Void
    ) {
        var found = PublishedRequest(life, at: lookup.clock.wall())
        found.party = Party(tenant: asker.tenant, source: asker.source)
        let key = known ?? lookup.add(found)
        for result in [life.own.last { $0.repeatsItsID }, life.final] { if let result { lookup.take(result) } }
        if life.final?.followedCount ?? 0 > 0 { for result in life.own where result.kind == "outcome" { lookup.take(result) } }
        lookup.search(key) { then(key) }
    }

    /// Finds a request by its results.
    private func findLife(of id: String, for call: LookupCall, then: @escaping @Sendable (PublishedRequests.Key?) -> Void) {
        search(id, call.asker) { found in
            switch found {
            case .failure(let problem): call.refuse(problem)
            case .success(.life(let life)): remember(life, as: nil, for: call.asker) { then($0) }
            case .success(.whereabouts(let report)):
                guard let place = report.place else { return then(nil) }
                findSearched(report.id, at: place, for: call.asker) { then(try? $0.get()) }
            case .success(.nothing): then(nil)
            }
        }
    }

    /// Answers with where a request is, or waits for it as long as its caller wants.
    private func wait(for report: WhereaboutsReport, query: LookupQuery, until deadline: MonotonicTime, call: LookupCall) {
        guard query.wait > 0, let place = report.place else { return show(report, query: query, to: call) }
        findSearched(report.id, at: place, for: call.asker) { found in
            guard case .success(let key?) = found else { return show(report, query: query, to: call) }
            show(key, query: query, until: deadline, for: call)
        }
    }

    private func showLife(_ life: RequestLife, of key: PublishedRequests.Key, query: LookupQuery, for call: LookupCall) {
        guard let request = lookup[key] else { return call.refuse(.unknownRequest) }
        var found = LookupAnswer(request: request, life: life, at: lookup.clock.wall())
        if isIndexBehind() {
            found.story.obstacle = found.story.obstacle ?? .indexBehind
            if found.story.telemetry == .missing { found.story.telemetry = .notSearched }
        }
        complete(found, query: query, to: call)
    }

    private func showKnown(
        _ key: PublishedRequests.Key, query: LookupQuery, whereabouts report: WhereaboutsReport?, for call: LookupCall
    ) {
        guard let request = lookup[key] else { return call.refuse(.unknownRequest) }
        var found = LookupAnswer(request: request, report: report, at: lookup.clock.wall())
        noteIndex(in: &found)
        complete(found, query: query, to: call)
    }

    private func show(_ report: WhereaboutsReport, query: LookupQuery, to call: LookupCall) {
        var found = LookupAnswer(report: report, at: lookup.clock.wall())
        noteIndex(in: &found)
        complete(found, query: query, to: call)
    }

    /// Notes that the result of one that the workers are done with may not be in the index yet.
    private func noteIndex(in found: inout LookupAnswer) {
        if found.report?.whereabouts.state == .done, isIndexBehind() { found.story.obstacle = .indexBehind }
    }

    private func answer(
        _ request: PublishedRequest?, applied: Int?, without problem: APIProblem? = nil, query: LookupQuery, to call: LookupCall
    ) {
        guard let request else { return call.refuse(.unknownRequest) }
        let obstacle = problem.map { problem -> RequestStory.Obstacle in
            problem.code == APIProblem.Code.brokerUnavailable.rawValue ? .kafkaAway : .notAllSearched
        }
        complete(
            LookupAnswer(request: request, applied: applied, obstacle: obstacle, at: lookup.clock.wall()), query: query, to: call)
    }

    /// Answers with what was found, and what the record of the request says.
    private func complete(_ found: LookupAnswer, query: LookupQuery, to call: LookupCall) {
        completion.complete(found, query: query, for: call.asker) { found in
            call.answer(
                found.answer(
                    to: call.request.headers, at: lookup.clock.wall(), zone: query.zone, showsPayload: call.asker.mayReadPayload))
        }
    }

    private func follow(_ key: PublishedRequests.Key, for call: LookupCall) {
        guard call.request.method != "HEAD" else { return call.answer(EventFrames.head) }
        if let problem = lookup.problem(for: call.claimant) { return call.refuse(problem) }
        events.begin(key, for: call.claimant, after: call.request.headers.single("Last-Event-ID"), on: call.stream)
    }

    /// Finds a request to be cancelled. For a key that may cancel those of others the topics are searched, too.
    private func findToCancel(
        _ id: String, at place: RequestPlace?, for call: LookupCall, then: @escaping @Sendable (PublishedRequests.Key?) -> Void
    ) {
        guard call.asker.mayOperate else {
            return find(id, at: place, for: call.asker) { $0.answer(call, then: then) }
        }
        var wide = call
        wide.asker.mayRead = true
        find(id, at: place, for: wide.asker) { [wide] found in
            found.answer(call) { key in
                if let key { then(key) } else { findLife(of: id, for: wide, then: then) }
            }
        }
    }

    private func cancel(_ key: PublishedRequests.Key?, reason: String?, for call: LookupCall) {
        guard let key else { return call.refuse(.unknownRequest) }
        guard let request = lookup[key], call.asker.mayCancel(request.owner) else { return call.refuse(.notYourRequest) }
        let moment = lookup.clock.wall()
        cancelling.cancel(request, of: call.asker, reason: reason, at: moment) { [lookup] answer in
            if answer.status == 202 { lookup.noteCancelled(key, at: moment) }
            call.answer(answer)
        }
    }
}

extension LookupEndpoints {
    /// Has nothing looked at.
    static let noHolding: Holding = { _ in {} }

    /// Answers a call of `POST /v1/requests` that prefers to wait, once its record is written: 200 with the final result, or
    /// after the time `accepted`. Where no one may wait now, and at the gateway's stop, `accepted` comes at once: the request is
    /// published all the same. The request was added before its record was written. `answer` is called once, before this returns
    /// or later. Whoever loses its rights meanwhile gets `accepted`, too.
    package func answer(
        _ key: PublishedRequests.Key, of claimant: @autoclosure () -> Claimant, to headers: HTTPFields, accepted: APIAnswer,
        holding: @autoclosure () -> Holding = Self.noHolding,
        then answer: @escaping @Sendable (APIAnswer) -> Void
    ) {
        guard let (seconds, goal) = LookupQuery.preferredWait(headers), seconds > 0 else { return answer(accepted) }
        let deadline = lookup.clock.now().advanced(by: .seconds(seconds))
        _ = lookup.watch(key, for: goal, by: claimant(), until: deadline, holding: holding()) { [lookup] ending in
            guard case .request(let request) = ending else { return answer(accepted) }
            var late = accepted
            late.headers.append("Preference-Applied", value: "wait=\(seconds)")
            let now = lookup.clock.wall()
            guard let request, request.isFinal else { return answer(late) }
            var final = APIAnswer(request, at: now, to: [:], applied: seconds)
            for name in ["Location", "Idempotency-Replayed"] {
                if let value = accepted.headers[name] { final.headers.append(name, value: value) }
            }
            answer(final)
        }
    }

    /// Answers the repetition of a call of `POST /v1/requests` as the first one is: one that prefers to wait gets the final result, if it
    /// comes in time. `accepted` is the answer to the first, which names the request. `answer` is called once, before this returns or later.
    package func answerRepetition(
        by asker: Asker, from client: ClientNetwork? = nil, to headers: HTTPFields, accepted: APIAnswer,
        holding: @escaping Holding = { _ in {} },
        then answer: @escaping @Sendable (APIAnswer) -> Void
    ) {
        guard accepted.status == 202, LookupQuery.preferredWait(headers)?.seconds ?? 0 > 0,
            let (id, place) = Self.request(of: accepted)
        else { return answer(accepted) }
        let wait: @Sendable (PublishedRequests.Key) -> Void = { key in
            let claimant = Claimant(keyID: asker.keyID, tenant: asker.tenant, client: client)
            self.answer(key, of: claimant, to: headers, accepted: accepted, holding: holding, then: answer)
        }
        // Searches first: just after a start nobody can wait yet.
        findSearched(id, at: place, for: asker) { found in
            if case .success(let key?) = found { return wait(key) }
            guard place == nil else { return answer(accepted) }
            search(id, asker) { found in
                guard case .success(.life(let life)) = found else { return answer(accepted) }
                remember(life, as: nil, for: asker, then: wait)
            }
        }
    }

    /// The request that an answer names, and the place of its record.
    private static func request(of accepted: APIAnswer) -> (id: String, place: RequestPlace?)? {
        var document = JSONDocument()
        guard (try? document.read(accepted.body.span)) != nil, let id = document.text("id", of: document.root) else { return nil }
        guard let topic = document.text("topic", of: document.root),
            let partition = document.integer("partition", of: document.root).flatMap({ Int32(exactly: $0) }),
            let offset = document.text("offset", of: document.root).flatMap({ Int64($0) })
        else { return (id, nil) }
        let record = StoredPlace(topic: topic, partition: partition, offset: offset)
        let time = document.text("accepted_at", of: document.root).flatMap { Timestamp(Array($0.utf8).span) }
        return (id, RequestPlace(record: record, time: time))
    }
}

extension Result<PublishedRequests.Key?, APIProblem> {
    /// Goes on with what was found, or answers why nothing could be.
    fileprivate func answer(_ call: LookupCall, then: (PublishedRequests.Key?) -> Void) {
        switch self {
        case .failure(let problem): call.refuse(problem)
        case .success(let key): then(key)
        }
    }
}
