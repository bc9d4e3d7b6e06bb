package import Basics
import EventLoop
package import GatewayAPI
package import Kafka
import Publishing
package import PushModel
package import Results
import Synchronization

package struct LookupClock: Sendable {
    /// For deadlines.
    package var now: @Sendable () -> MonotonicTime = { MonotonicTime.now() }
    /// For what people read.
    package var wall: @Sendable () -> Timestamp = { Timestamp(milliseconds: WallClock.millisecondsSince1970()) }

    package init(
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() },
        wall: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: WallClock.millisecondsSince1970()) }
    ) {
        self.now = now
        self.wall = wall
    }
}

/// Knows what became of the requests that this gateway has published, and wakes those who wait for it. No thread waits.
package final class RequestLookup: Sendable {
    /// The most that wait or follow events at a time: half of what the follower of results takes, so that sends always find room there.
    package static let watchLimit = 10_000

    package let clock: LookupClock
    /// Those who wait.
    private struct Watches {
        enum Addition { case added, full, closed }

        private(set) var all: [ObjectIdentifier: RequestWatch] = [:]
        private(set) var isClosed = false

        mutating func add(_ watch: RequestWatch, atMost limit: Int) -> Addition {
            guard !isClosed else { return .closed }
            guard all.count < limit else { return .full }
            all[ObjectIdentifier(watch)] = watch
            return .added
        }

        mutating func remove(_ watch: RequestWatch) { all[ObjectIdentifier(watch)] = nil }

        mutating func close() -> [RequestWatch] {
            isClosed = true
            return Array(all.values)
        }
    }

    /// Searches the final result of a request that was written before anybody listened here, for whoever owns it. `then` is called once, in any
    /// thread, with nil where it could not be searched.
    package typealias Tracing =
        @Sendable (
            _ request: PublishedRequest, _ search: ResultSearch,
            _ then: @escaping @Sendable (ResultTracer.Answer?) -> Void
        ) -> Void

    private let watchLimit: Int
    private let held: HeldAnswers
    private let trace: Tracing
    /// Those who wait for the search of a request, which is made once for all of them.
    private let searches = Mutex<[PublishedRequests.Key: [@Sendable () -> Void]]>([:])
    /// Both are held alone, and nothing is called meanwhile.
    private let requests: Mutex<PublishedRequests>
    private let watches = Mutex(Watches())
    private let results = Mutex<(any ResultWaiting)?>(nil)

    package init(
        _ limits: PublishedRequests.Limits = PublishedRequests.Limits(), clock: LookupClock = LookupClock(),
        watchLimit: Int = RequestLookup.watchLimit, held: HeldAnswers = HeldAnswers(connections: 8192), trace: @escaping Tracing
    ) {
        self.held = held
        self.trace = trace
        requests = Mutex(PublishedRequests(limits))
        self.clock = clock
        self.watchLimit = watchLimit
    }

    /// From now on results are waited for there.
    package func follow(_ results: any ResultWaiting) { self.results.withLock { $0 = results } }

    /// Waits there no more. Results hold their listener, so that neither would be released otherwise.
    package func unfollow() { results.withLock { $0 = nil } }

    /// How many requests are known.
    var requestCount: Int { requests.withLock { $0.count } }

    /// How many wait or follow events.
    package var watcherCount: Int { watches.withLock { $0.all.count } }

    /// The problem with which one more of a claimant is refused, or nil.
    func problem(for claimant: Claimant) -> APIProblem? {
        guard watcherCount < watchLimit else { return .overloaded(after: 1000) }
        return held.refusal(for: claimant)?.problem(after: 1000)
    }

    // MARK: Publishing

    /// Adds a request before its record is written, or one whose record was found. Returns the key for ``note(_:of:topic:)``.
    package func add(_ request: PublishedRequest) -> PublishedRequests.Key {
        let now = clock.wall()
        return requests.withLock { $0.add(request, at: now) }
    }

    /// Notes what became of its record, which has this time. Where that is unknown, its result may still come.
    package func note(_ delivery: Producer.Delivery, of key: PublishedRequests.Key, topic: String, time: Timestamp) {
        switch delivery {
        case .persisted(let partition, .some(let offset)):
            let record = StoredPlace(topic: topic, partition: partition, offset: offset)
            requests.withLock { $0.noteWritten(key, at: RequestPlace(record: record, time: time)) }
        case .persisted, .possiblyPersisted: return
        case .notPersisted: forget(key)
        }
    }

    /// Notes that a record of it was not written.
    func forget(_ key: PublishedRequests.Key) { requests.withLock { $0.noteNotWritten(key) } }

    /// Notes that its cancellation was written.
    func noteCancelled(_ key: PublishedRequests.Key, at moment: Timestamp) {
        requests.withLock { $0.noteCancelled(key, at: moment) }
    }

    // MARK: Asking

    /// A request as it is now; nil for one that is not known any more.
    subscript(_ key: PublishedRequests.Key) -> PublishedRequest? { requests.withLock { $0[key] } }

    /// The request of an id that an asker may see.
    package func find(_ id: String, for asker: Asker) -> (key: PublishedRequests.Key, request: PublishedRequest)? {
        let now = clock.wall()
        return requests.withLock { $0.find(id, for: asker, at: now) }
    }

    /// Searches the final result of a request, if its state cannot be said without. `then` is called once, before this returns or later, in any
    /// thread, and must not block.
    func search(_ key: PublishedRequests.Key, then: @escaping @Sendable () -> Void) {
        guard let request = self[key], let search = request.missingSearch else { return then() }
        let isFirst = searches.withLock { searches -> Bool in
            searches[key, default: []].append(then)
            return searches[key]?.count == 1
        }
        guard isFirst else { return }
        trace(request, search) { [self] answer in
            let now = clock.wall()
            if let answer { requests.withLock { $0.note(answer, to: search, of: key, at: now) } }
            let waiting = searches.withLock { $0.removeValue(forKey: key) }
            for each in waiting ?? [] { each() }
        }
    }

    /// Waits until a request has ended as the goal says, or time is over, in a place of a claimant. `then` is called once, before this returns or later, in any thread,
    /// unless ``end(_:)`` ends the watch before. It must not block. `holding` ends the watch of a caller who has lost its rights.
    func watch(
        _ key: PublishedRequests.Key, for goal: RequestWatch.Goal = .result, by claimant: Claimant, until deadline: MonotonicTime,
        holding: Holding = { _ in {} },
        then: @escaping @Sendable (RequestWatch.Ending) -> Void
    ) -> RequestWatch {
        let watch = RequestWatch(key, of: goal, for: claimant, until: deadline, then: then)
        // Takes no place for what is over.
        let request = self[key]
        if isOver(request, for: goal) {
            watch.end(with: .request(request))
            return watch
        }
        let refusal = held.take(for: claimant)
        let addition = watches.withLock { watches -> Watches.Addition in
            guard refusal != nil else { return watches.add(watch, atMost: watchLimit) }
            return watches.isClosed ? .closed : .full
        }
        if addition != .added, refusal == nil { held.giveBack(of: claimant) }
        switch addition {
        case .added:
            watch.keep(holding { [self] problem in finish(watch, with: .problem(problem)) })
            go(on: watch)
        case .full: watch.end(with: .problem((refusal ?? .full).problem(after: 1000)))
        case .closed: watch.end(with: .stopping(self[key]))
        }
        return watch
    }

    /// Ends all watches with what is known now, and from now on each as soon as it begins.
    package func endWatches() {
        for watch in watches.withLock({ $0.close() }) { finish(watch, with: .stopping(self[watch.key])) }
    }

    /// Ends a watch without a word; does nothing if it has ended.
    func end(_ watch: RequestWatch) { finish(watch, with: nil) }

    private func finish(_ watch: RequestWatch, with ending: RequestWatch.Ending?) {
        // The place is free before its owner hears of it, and the owner may watch again.
        watch.end(with: ending) {
            watches.withLock { $0.remove(watch) }
            held.giveBack(of: watch.claimant)
        }
    }

    /// Waits on, or ends a watch whose request has ended or whose time is over.
    private func go(on watch: RequestWatch) {
        guard !endIfDue(watch), let turn = watch.nextTurn() else { return }
        let goal = watch.goal == .result ? Awaited.Goal.finalResult : .nextResult
        let deadline = min(watch.deadline, moment(ofLastOutcome: self[watch.key]))
        guard let results = results.withLock({ $0 }) else { return finish(watch, with: .problem(.resultsUnwatched)) }
        do throws(ResultFollower.WaitRefusal) {
            let forget = try results.wait(for: watch.key.id, awaiting: goal, until: deadline) { [self] reason in
                if reason == .closed { finish(watch, with: .stopping(self[watch.key])) } else { go(on: watch) }
            }
            watch.hold(forget, of: turn)
            // A result that came before the wait began is in the store by now, or in the topic.
            check(watch)
        } catch {
            switch error {
            case .notReading: finish(watch, with: .problem(.resultsUnwatched))
            case .full: finish(watch, with: .problem(.overloaded(after: 1000)))
            case .closed: finish(watch, with: .stopping(self[watch.key]))
            }
        }
    }

    /// Ends a watch whose request has ended, which is searched if need be.
    func check(_ watch: RequestWatch) {
        guard !endIfDue(watch) else { return }
        search(watch.key) { [self] in _ = endIfDue(watch) }
    }

    private func endIfDue(_ watch: RequestWatch) -> Bool {
        let request = self[watch.key]
        guard isOver(request, for: watch.goal) || clock.now() >= watch.deadline else { return false }
        finish(watch, with: .request(request))
        return true
    }

    private func isOver(_ request: PublishedRequest?, for goal: RequestWatch.Goal) -> Bool {
        guard let request else { return true }
        return goal == .result ? request.isFinal : request.isSettled(at: clock.wall())
    }

    /// The moment from which no outcome is awaited any more.
    private func moment(ofLastOutcome request: PublishedRequest?) -> MonotonicTime {
        guard let until = request?.awaitsOutcomeUntil, request?.isFinal == true else { return .never }
        return clock.now().advanced(byNanoseconds: max(0, until.nanoseconds(since: clock.wall())))
    }
}

extension RequestLookup: ResultListener {
    func wants(_ id: String) -> Bool { requests.withLock { $0.contain(id) } }

    func take(_ result: ResultRecord) {
        let now = clock.wall()
        requests.withLock { $0.take(result, at: now) }
    }
}
