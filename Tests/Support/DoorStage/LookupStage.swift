package import PublishAPI
package import GatewayAPI
package import Basics
package import HTTPServing
package import Kafka
import Keys
package import Publishing
package import PushModel
package import Results
import Synchronization
package import TestSupport
import Testing

/// Waits for results that a test ends.
package final class ManualResults: ResultWaiting {
    private struct Wait {
        let id: String
        let deadline: MonotonicTime
        let then: @Sendable (ResultFollower.Ending.Kind) -> Void
    }

    private struct State {
        var waits: [Int: Wait] = [:]
        var lastNumber = 0
        var refusal: ResultFollower.WaitRefusal?
        var before: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// How many wait.
    package var count: Int { state.withLock { $0.waits.count } }

    package func refuse(_ refusal: ResultFollower.WaitRefusal) { state.withLock { $0.refusal = refusal } }

    /// Does something once, just before the next wait begins.
    package func beforeNextWait(_ before: @escaping @Sendable () -> Void) { state.withLock { $0.before = before } }

    package func wait(
        for id: String, awaiting goal: Awaited.Goal, until deadline: MonotonicTime,
        then: @escaping @Sendable (ResultFollower.Ending.Kind) -> Void
    ) throws(ResultFollower.WaitRefusal) -> @Sendable () -> Void {
        state.withLock { $0.before.take() }?()
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        let number = state.withLock { state -> Int in
            state.lastNumber += 1
            state.waits[state.lastNumber] = Wait(id: id, deadline: deadline, then: then)
            return state.lastNumber
        }
        return { [self] in state.withLock { $0.waits[number] = nil } }
    }

    /// Ends all waits.
    package func close() { end(.closed) { _, _ in true } }

    /// Ends the waits for an id.
    package func complete(_ id: String) { end(.complete) { waiting, _ in waiting == id } }

    /// Ends the waits whose time is over.
    package func expire(at now: MonotonicTime) { end(.timeOver) { _, deadline in deadline <= now } }

    private func end(_ reason: ResultFollower.Ending.Kind, where isMeant: (String, MonotonicTime) -> Bool) {
        let ended = state.withLock { state -> [Wait] in
            let found = state.waits.filter { isMeant($0.value.id, $0.value.deadline) }
            for number in found.keys { state.waits[number] = nil }
            return found.sorted { $0.key < $1.key }.map(\.value)
        }
        for wait in ended { wait.then(reason) }
    }
}

/// The endpoints of lookups on a clock that a test moves, with results, records and cancellations of its own.
package final class LookupStage: Sendable {
    package static let publisher = Asker(keyID: "k1", source: "shop", tenant: nil, mayPublish: true, mayRead: false)
    package static let reader = Asker(keyID: "k2", source: "office", tenant: nil, mayPublish: false, mayRead: true)
    package static let stranger = Asker(keyID: "k3", source: "bank", tenant: nil, mayPublish: true, mayRead: false)
    package static let otherTenant = Asker(keyID: "k4", source: "shop", tenant: "t4", mayPublish: true, mayRead: true)
    package static let powerless = Asker(keyID: "k1", source: "shop", tenant: nil, mayPublish: false, mayRead: false)

    /// Milliseconds since 1970 and of the other clock alike; it begins at 1 s.
    private let time: Milliseconds
    package let results = ManualResults()
    package let lookup: RequestLookup
    package let endpoints: LookupEndpoints
    /// The value of any record that is read; nil for none.
    package let records: Box<String?>
    package let readCount: Box<Int>
    /// The end of every search of a result, nil for one that fails; and what was searched.
    package let trace: Box<ResultTracer.Answer?>
    package let searches: Box<[ResultSearch]>
    /// Searches that wait for `endSearches()`, where a test wants them to.
    private let held: Box<[@Sendable () -> Void]>
    package let holdsSearches: Box<Bool>
    /// The results of any request that is searched for its life.
    package let lives: Box<[ResultRecord]>
    /// The place of any request that has no results, and the problem with which searches fail.
    package let report: Box<WhereaboutsReport?>
    package let problem: Box<APIProblem?>
    /// Cancellations that were written, and how each is reported.
    package let cancelled: Box<[CancelRecord]>
    package let delivery: Box<Result<Producer.Delivery, KafkaError>>

    package init(watchLimit: Int = RequestLookup.watchLimit, connections: Int = 8192) {
        let time = Milliseconds(1000)
        let (records, readCount, cancelled) = (Box<String?>(nil), Box(0), Box<[CancelRecord]>([]))
        let delivery = Box<Result<Producer.Delivery, KafkaError>>(.success(.persisted(partition: 0, offset: 1)))
        var clock = LookupClock()
        clock.now = { MonotonicTime(nanoseconds: time.value * 1_000_000) }
        clock.wall = { Timestamp(milliseconds: time.value) }
        let (trace, searches) = (Box<ResultTracer.Answer?>(.open(repetition: nil)), Box<[ResultSearch]>([]))
        let (held, holdsSearches, lives) = (Box<[@Sendable () -> Void]>([]), Box(false), Box<[ResultRecord]>([]))
        let (report, problem) = (Box<WhereaboutsReport?>(nil), Box<APIProblem?>(nil))
        lookup = RequestLookup(clock: clock, watchLimit: watchLimit, held: HeldAnswers(connections: connections)) {
            _, search, then in
            searches.withLock { $0.append(search) }
            let end: @Sendable () -> Void = { then(trace.withLock { $0 }) }
            if holdsSearches.withLock({ $0 }) { held.withLock { $0.append(end) } } else { end() }
        }
        lookup.follow(results)
        let cancelling = RequestCancelling(topic: "control") { (record, _, report) throws(KafkaError) in
            cancelled.withLock { $0.append(record) }
            report(try delivery.withLock { $0 }.get())
        }
        endpoints = LookupEndpoints(
            lookup, cancelling: cancelling, topics: ["requests"],
            read: { _, _, then in
                readCount.withLock { $0 += 1 }
                let value = records.withLock { $0 }
                then(.success(value.map { StoredRecord(timestamp: 1000, value: Array($0.utf8)) }))
            },
            search: { id, asker, then in
                if let problem = problem.withLock({ $0 }) { return then(.failure(problem)) }
                var life = RequestLife(id: id) { asker.maySee(RequestOwner(source: $0.source, tenant: $0.tenant)) }
                for result in lives.withLock({ $0 }) {
                    life.take(
                        result.json.span, partition: result.partition, offset: result.offset, timestamp: result.timestamp)
                }
                guard life.latest == nil else { return then(.success(.life(life))) }
                then(.success(report.withLock { $0 }.map { .whereabouts($0) } ?? .nothing))
            })
        (self.report, self.problem) = (report, problem)
        (self.trace, self.searches, self.held) = (trace, searches, held)
        (self.holdsSearches, self.lives) = (holdsSearches, lives)
        (self.time, self.records, self.readCount) = (time, records, readCount)
        (self.cancelled, self.delivery) = (cancelled, delivery)
    }

    /// Publishes a request of the publisher, and has Kafka take it.
    @discardableResult
    package func publish(_ id: String, notBefore: Timestamp? = nil) -> PublishedRequests.Key {
        let owner = RequestOwner(source: "shop", tenant: nil)
        let request = PublishedRequest(
            id: id, owner: owner, acceptedAt: Timestamp(milliseconds: time.value), notBefore: notBefore)
        let key = lookup.add(request)
        lookup.note(.persisted(partition: 1, offset: 7), of: key, topic: "requests", time: request.acceptedAt)
        return key
    }

    /// Brings a result, as a follower does: the listener first.
    package func bring(_ word: String, of id: String, members: String = "") throws {
        lookup.take(try LookupResults.record(word, of: id, members: members))
        results.complete(id)
    }

    /// Ends the searches that were held.
    package func endSearches() {
        let held = held.withLock { held -> [@Sendable () -> Void] in
            defer { held = [] }
            return held
        }
        for end in held { end() }
    }

    /// Moves the clocks, and ends what is due.
    package func advance(seconds: Int64) {
        time.add(seconds * 1000)
        results.expire(at: lookup.clock.now())
        endpoints.events.tick()
    }

    package func get(_ path: String, by asker: Asker = publisher, headers: HTTPFields = [:]) -> Answered {
        let request = HTTPServerRequest(method: "GET", target: "/v1/requests/" + path, headers: headers)
        let id = String(path.prefix { $0 != "?" })
        return call(.showRequest, of: id, request, by: asker).answers
    }

    package func follow(
        _ id: String, by asker: Asker = publisher, method: String = "GET", headers: HTTPFields = [:]
    ) -> (answers: Answered, sink: ManualSink) {
        let request = HTTPServerRequest(method: method, target: "/v1/requests/\(id)/events", headers: headers)
        return call(.followRequest, of: id, request, by: asker)
    }

    package func cancel(_ id: String, by asker: Asker = publisher, query: String = "", body: String = "") -> Answered {
        let request = HTTPServerRequest(
            method: "POST", target: "/v1/requests/\(id):cancel" + query, headers: ["Content-Type": "application/json"],
            body: Array(body.utf8))
        return call(.cancelRequest, of: id, request, by: asker).answers
    }

    /// Has a publish wait that prefers to wait for 10 s.
    package func waitForPublished(_ id: String, _ answers: Answered) {
        guard let found = lookup.find(id, for: Self.publisher) else { return }
        let claimant = Claimant(keyID: Self.publisher.keyID, tenant: nil)
        endpoints.answer(found.key, of: claimant, to: ["Prefer": "wait=10"], accepted: APIAnswer(status: 202)) { answers.add($0) }
    }

    private func call(
        _ operation: APIOperation.Lookup, of id: String, _ request: HTTPServerRequest, by asker: Asker
    ) -> (answers: Answered, sink: ManualSink) {
        let (answers, sink) = (Answered(), ManualSink())
        let call = LookupCall(
            operation: operation, id: id, request: request, asker: asker, answer: { answers.add($0) },
            stream: { head, _ in
                answers.add(head)
                return sink
            })
        // What a gateway does once the key is known.
        let scopes: [(Bool, Scope)] = [(asker.mayPublish, .publish), (asker.mayRead, .read), (asker.mayOperate, .operate)]
        do throws(APIProblem) {
            try operation.row.checkRights(scopes: Set(scopes.filter(\.0).map(\.1)), tenant: asker.tenant)
            endpoints.answer(call)
        } catch {
            call.refuse(error)
        }
        return (answers, sink)
    }
}
