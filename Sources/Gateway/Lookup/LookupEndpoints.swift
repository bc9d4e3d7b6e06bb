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
    /// The caller that asks.
    let asker: Asker
    /// Takes the answer, and ignores any after the first.
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

    /// Searches the whole life of a request for an asker, on a thread of its own.
    typealias Searching =
        @Sendable (
            _ id: String, _ asker: Asker, _ then: @escaping @Sendable (Result<LifeSearch.Found, APIProblem>) -> Void
        ) -> Void

    let lookup: RequestLookup
    let events: RequestEvents
    let cancelling: RequestCancelling
    /// The topics of requests: no other is read, whatever a caller says.
    let topics: Set<String>
    let read: Reading
    let search: Searching
    /// True if a search costs next to nothing, so that each request that has ended is searched.
    let isSearchCheap: @Sendable () -> Bool

    init(
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
    }

    /// Answers a call, before it returns or later. Called on any thread.
    func answer(_ call: LookupCall) {
        do throws(APIProblem) {
            let query = try LookupQuery(call.request)
            switch call.route {
            case .show(let id):
                try Self.checkMaySee(call.asker)
                guard !query.wantsPayload || call.asker.mayReadPayload else { throw .forbiddenScope(.payload) }
                find(id, query: query, for: call, orElse: { searchLife(of: id, beside: nil, query: query, for: call) }) {
                    show($0, query: query, for: call)
                }
            case .events(let id):
                try Self.checkMaySee(call.asker)
                guard call.request.headers.single("Last-Event-ID") != EventFrames.endID else {
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
        _ id: String, query: LookupQuery, for call: LookupCall, orElse: (@Sendable () -> Void)? = nil,
        then: @escaping @Sendable (PublishedRequests.Key) -> Void
    ) {
        let miss = orElse ?? { call.refuse(.unknownRequest) }
        if let found = lookup.find(id, for: call.asker) { return then(found.key) }
        guard let place = query.place, topics.contains(place.partition.topic) else { return miss() }
        read(place, "key/" + call.asker.keyID) { [lookup] answer in
            switch answer {
            case .failure(let problem): call.refuse(problem)
            case .success(let record):
                guard let found = record.flatMap({ PublishedRequest($0, at: place, withID: id) }), call.asker.maySee(found.owner)
                else { return miss() }
                then(lookup.add(found))
            }
        }
    }

    private func show(_ key: PublishedRequests.Key, query: LookupQuery, for call: LookupCall) {
        let applied = query.isPreferred ? query.wait : nil
        guard query.wait > 0 else {
            let request = lookup[key]
            guard let request, query.wantsLife || query.wantsPayload || mayHaveMore(request) else {
                return answer(request, applied: applied, to: call)
            }
            return searchLife(of: key.id, beside: request, query: query, for: call)
        }
        _ = lookup.watch(key, until: lookup.clock.now().advanced(by: .seconds(query.wait))) { ending in
            switch ending {
            case .request(let request): answer(request, applied: applied, to: call)
            case .stopping(let request): answer(request, applied: nil, to: call)
            case .problem(let problem): call.refuse(problem)
            }
        }
    }

    /// True if the results may say more of a request than is remembered here, and searching them is worth it.
    private func mayHaveMore(_ request: PublishedRequest) -> Bool {
        let isFinal = request.isFinal(at: lookup.clock.wall())
        return request.isFound && !isFinal || isFinal && isSearchCheap()
    }

    /// Answers with the whole life of a request, with what is remembered of it, or with where it is.
    private func searchLife(of id: String, beside remembered: PublishedRequest?, query: LookupQuery, for call: LookupCall) {
        search(id, call.asker) { found in
            switch found {
            case .failure(let problem):
                if remembered == nil || query.wantsLife {
                    call.refuse(problem)
                } else {
                    answer(remembered, applied: nil, to: call)
                }
            case .success(.life(let life)):
                let place = remembered?.place ?? life.place
                readPayload(of: id, at: place, query: query, for: call) { payload in
                    call.answer(
                        APIAnswer(
                            life, remembered: remembered, at: lookup.clock.wall(), request: payload, to: call.request.headers))
                }
            case .success(.whereabouts(let report)) where remembered == nil: call.answer(APIAnswer(report))
            case .success(.whereabouts(let report)) where query.wantsLife && !query.wantsPayload:
                guard let remembered else { return call.answer(APIAnswer(report)) }
                call.answer(APIAnswer(remembered, at: lookup.clock.wall(), whereabouts: report))
            case .success:
                guard query.wantsPayload, let remembered else { return answer(remembered, applied: nil, to: call) }
                readPayload(of: id, at: remembered.place, query: query, for: call) { payload in
                    call.answer(APIAnswer(remembered, at: lookup.clock.wall(), request: payload))
                }
            }
        }
    }

    /// Reads the value of a request's record, if a caller asked for it and may see the record that is there. Anything but JSON is left out.
    private func readPayload(
        of id: String, at place: RecordPlace?, query: LookupQuery, for call: LookupCall,
        then: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        guard query.wantsPayload, let place, topics.contains(place.partition.topic) else { return then(nil) }
        read(place, "key/" + call.asker.keyID) { answer in
            var document = JSONDocument()
            guard case .success(let record?) = answer, let value = record.value,
                let found = PublishedRequest(record, at: place, withID: id), call.asker.maySee(found.owner),
                (try? document.read(value.span)) != nil
            else { return then(nil) }
            then(value.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
    }

    private func answer(_ request: PublishedRequest?, applied: Int?, to call: LookupCall) {
        guard let request else { return call.refuse(.unknownRequest) }
        call.answer(APIAnswer(request, at: lookup.clock.wall(), to: call.request.headers, applied: applied))
    }

    private func follow(_ key: PublishedRequests.Key, for call: LookupCall) {
        guard call.request.method != "HEAD" else { return call.answer(RequestEvents.head) }
        guard lookup.hasRoom else { return call.refuse(.overloaded(after: 1000)) }
        events.begin(key, after: call.request.headers.single("Last-Event-ID"), on: call.stream)
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
