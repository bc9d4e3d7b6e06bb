import Basics
import GatewayAPI
import PushModel
import Results
import Synchronization

/// Streams the states of requests to those who follow them, until the final one. No thread waits with a stream.
package final class RequestEvents: Sendable {
    private struct Stream: Sendable {
        let sink: any EventSink
        let key: PublishedRequests.Key
        let claimant: Claimant
        var watch: RequestWatch?
        /// The id of the event that its client had last.
        var lastID: String?
    }

    private struct State {
        var streams: [Int: Stream] = [:]
        var schedule = EventSchedule()
        var lastNumber = 0
    }

    private let lookup: RequestLookup
    /// No other lock is taken while it is held, and nothing is written.
    private let state = Mutex(State())

    init(_ lookup: RequestLookup) {
        self.lookup = lookup
    }

    /// How many streams there are.
    package var count: Int { state.withLock { $0.streams.count } }

    /// Begins a stream for a claimant of its place. `lastID` is the event that the client had last (`Last-Event-ID`).
    func begin(_ key: PublishedRequests.Key, for claimant: Claimant, after lastID: String?, on open: EventStreaming) {
        let number = state.withLock { state -> Int in
            state.lastNumber += 1
            return state.lastNumber
        }
        let sink = open(EventFrames.head) { [self] in remove(number) }
        let now = lookup.clock.now()
        state.withLock { state in
            state.streams[number] = Stream(sink: sink, key: key, claimant: claimant, lastID: lastID)
            state.schedule.add(number, at: now)
        }
        sink.write(EventFrames.beginning)
        show(number)
        wait(for: .result, of: number, key: key, by: claimant)
    }

    /// Waits for the next end of a stream's request.
    private func wait(for goal: RequestWatch.Goal, of number: Int, key: PublishedRequests.Key, by claimant: Claimant) {
        let watch = lookup.watch(key, for: goal, by: claimant, until: .never) { [self] ending in
            conclude(number, with: ending, of: goal)
        }
        let isThere = state.withLock { state -> Bool in
            // One that has ended may have begun the next one.
            guard state.streams[number] != nil else { return false }
            if goal >= state.streams[number]?.watch?.goal ?? goal { state.streams[number]?.watch = watch }
            return true
        }
        if !isThere { lookup.end(watch) }
    }

    /// Sends what is due. To be called several times a second; waits for nothing.
    package func tick() {
        let now = lookup.clock.now()
        while let due = state.withLock({ $0.schedule.next(at: now) }) {
            show(due.stream)
            guard due.isComment else { continue }
            write(EventFrames.comment, to: due.stream)
            // What was not found before may be now.
            if let watch = state.withLock({ $0.streams[due.stream]?.watch }) { lookup.check(watch) }
        }
    }

    /// Sends a stream its request's state, unless its client has that or it is the final one, which the watch brings.
    private func show(_ number: Int) {
        guard let key = state.withLock({ $0.streams[number]?.key }), let request = lookup[key] else { return }
        let (now, wall) = (lookup.clock.now(), lookup.clock.wall())
        let standing = request.standing(at: wall)
        if case .final = standing { return }
        if case .waiting(let due) = standing {
            let left = max(0, due.nanoseconds(since: wall))
            state.withLock { $0.schedule.add(number, lookingAt: now.advanced(byNanoseconds: left)) }
        }
        send(request, to: number, at: wall)
    }

    /// Sends the state of a request, unless the client has it. That no outcome will come is news to whoever has `sent`.
    private func send(_ request: PublishedRequest, to number: Int, at wall: Timestamp) {
        let isUnknown = request.outcomeState(at: wall) == .unknown
        let word = request.word(at: wall) + (isUnknown ? "-unknown" : "")
        let isNews = state.withLock { state -> Bool in
            guard let stream = state.streams[number], stream.lastID != word else { return false }
            state.streams[number]?.lastID = word
            return true
        }
        if isNews { write(EventFrames.event("state", id: word, data: request.json(at: wall)), to: number) }
    }

    /// Sends the final state and ends the stream, or goes on for the outcome. Without a state, its client is to connect again.
    private func conclude(_ number: Int, with ending: RequestWatch.Ending, of goal: RequestWatch.Goal) {
        let wall = lookup.clock.wall()
        if case .request(.some(let request)) = ending {
            send(request, to: number, at: wall)
            if goal == .result, !request.isSettled(at: wall), let stream = state.withLock({ $0.streams[number] }) {
                return wait(for: .outcome, of: number, key: stream.key, by: stream.claimant)
            }
            write(EventFrames.end, to: number)
        }
        remove(number)?.sink.end()
    }

    private func write(_ bytes: [UInt8], to number: Int) {
        guard let sink = state.withLock({ $0.streams[number]?.sink }) else { return }
        if !sink.write(bytes) { remove(number) }
    }

    @discardableResult
    private func remove(_ number: Int) -> Stream? {
        let stream = state.withLock { state -> Stream? in
            state.schedule.remove(number)
            return state.streams.removeValue(forKey: number)
        }
        if let watch = stream?.watch { lookup.end(watch) }
        return stream
    }
}
