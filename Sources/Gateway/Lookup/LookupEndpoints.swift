import Basics
import HTTPServing
import Kafka
import Keys
import PushModel

/// A call about one request, whose key is right.
struct LookupCall: Sendable {
    let route: RequestRoute
    /// The call, whole.
    let request: HTTPServerRequest
    /// Who asks.
    let asker: Asker
    /// Takes the answer; what comes after the first is ignored.
    let answer: @Sendable (APIAnswer) -> Void
    /// Begins an answer whose body is written later.
    let stream: EventStreaming

    func refuse(_ problem: APIProblem) { answer(APIAnswer(problem)) }
}

/// Answers what became of requests, follows them, and cancels them. Waits for nothing.
struct LookupEndpoints: Sendable {
    /// Reads the record of a place for an asker.
    typealias Reading =
        @Sendable (_ place: RecordPlace, _ asker: String, _ then: @escaping @Sendable (RecordReader.Answer) -> Void) -> Void

    let lookup: RequestLookup
    let events: RequestEvents
    let cancelling: RequestCancelling
    /// The topics of requests: no other is read, whatever a caller says.
    let topics: Set<String>
    let read: Reading

    init(_ lookup: RequestLookup, cancelling: RequestCancelling, topics: Set<String>, read: @escaping Reading) {
        self.lookup = lookup
        self.cancelling = cancelling
        self.topics = topics
        self.read = read
        events = RequestEvents(lookup)
    }

    /// Answers a call, before it returns or later. Called on any thread.
    func answer(_ call: LookupCall) {
        do throws(APIProblem) {
            let query = try LookupQuery(call.request)
            switch call.route {
            case .show(let id):
                try Self.checkMaySee(call.asker)
                find(id, query: query, for: call) { show($0, query: query, for: call) }
            case .events(let id):
                try Self.checkMaySee(call.asker)
                guard call.request.headers["Last-Event-ID"] != EventFrames.endID else {
                    // The one status at which a browser does not connect again (HTML standard, section 9.2.2).
                    return call.answer(APIAnswer(status: 204))
                }
                find(id, query: query, for: call) { follow($0, for: call) }
            case .cancel(let id):
                guard call.asker.mayPublish else { throw .forbiddenScope(.publish) }
                let reason = try RequestCancelling.reason(in: call.request)
                find(id, query: query, for: call) { cancel($0, id: id, reason: reason, for: call) }
            }
        } catch {
            call.refuse(error)
        }
    }

    private static func checkMaySee(_ asker: Asker) throws(APIProblem) {
        guard asker.mayPublish || asker.mayRead else { throw .forbiddenScope(.read) }
    }

    /// Finds a request that the caller may see, here or at the place that the call names.
    private func find(
        _ id: String, query: LookupQuery, for call: LookupCall, then: @escaping @Sendable (PublishedRequests.Key) -> Void
    ) {
        if let found = lookup.find(id, for: call.asker) { return then(found.key) }
        guard let place = query.place, topics.contains(place.partition.topic) else { return call.refuse(.unknownRequest) }
        read(place, "key/" + call.asker.keyID) { [lookup] answer in
            switch answer {
            case .failure(let problem): call.refuse(problem)
            case .success(let record):
                guard let found = record.flatMap({ PublishedRequest($0, at: place, withID: id) }), call.asker.maySee(found.owner)
                else { return call.refuse(.unknownRequest) }
                then(lookup.add(found))
            }
        }
    }

    private func show(_ key: PublishedRequests.Key, query: LookupQuery, for call: LookupCall) {
        let applied = query.isPreferred ? query.wait : nil
        guard query.wait > 0 else { return answer(lookup[key], applied: applied, to: call) }
        _ = lookup.watch(key, until: lookup.clock.now().advanced(by: .seconds(query.wait))) { ending in
            switch ending {
            case .request(let request): answer(request, applied: applied, to: call)
            case .stopping(let request): answer(request, applied: nil, to: call)
            case .problem(let problem): call.refuse(problem)
            }
        }
    }

    private func answer(_ request: PublishedRequest?, applied: Int?, to call: LookupCall) {
        guard let request else { return call.refuse(.unknownRequest) }
        call.answer(APIAnswer(request, at: lookup.clock.wall(), to: call.request.headers, applied: applied))
    }

    private func follow(_ key: PublishedRequests.Key, for call: LookupCall) {
        guard call.request.method != "HEAD" else { return call.answer(RequestEvents.head) }
        guard lookup.hasRoom else { return call.refuse(.overloaded(after: 1000)) }
        events.begin(key, after: call.request.headers["Last-Event-ID"], on: call.stream)
    }

    private func cancel(_ key: PublishedRequests.Key, id: String, reason: String?, for call: LookupCall) {
        guard let request = lookup[key], call.asker.owns(request.owner) else { return call.refuse(.notYourRequest) }
        cancelling.cancel(request, of: call.asker, reason: reason, at: lookup.clock.wall(), then: call.answer)
    }
}

extension LookupEndpoints {
    /// Answers a call of `POST /v1/requests` that prefers to wait, once its record is written: 200 with the final result, or
    /// after the time `accepted`. Where no one may wait now, and at the gateway's stop, `accepted` comes at once: the request is
    /// published all the same. The request was added before its record was written. `answer` is called once, before this returns
    /// or later.
    func answer(
        _ key: PublishedRequests.Key, to headers: HTTPFields, accepted: APIAnswer,
        then answer: @escaping @Sendable (APIAnswer) -> Void
    ) {
        guard let seconds = LookupQuery.preferredWait(headers), seconds > 0 else { return answer(accepted) }
        _ = lookup.watch(key, until: lookup.clock.now().advanced(by: .seconds(seconds))) { [lookup] ending in
            guard case .request(let request) = ending else { return answer(accepted) }
            var late = accepted
            late.headers.append("Preference-Applied", value: "wait=\(seconds)")
            let now = lookup.clock.wall()
            guard let request, request.isFinal(at: now) else { return answer(late) }
            answer(APIAnswer(request, at: now, to: [:], applied: seconds))
        }
    }
}
