import Basics
import GatewayAPI
import PushModel
import Synchronization

/// Streams the states of requests to those who follow them, until the final one. No thread waits with a stream.
package final class RequestEvents: Sendable {
    private struct Stream: Sendable {
        let sink: any EventSink
        let key: PublishedRequests.Key
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
            state.streams[number] = Stream(sink: sink, key: key, lastID: lastID)
            state.schedule.add(number, at: now)
        }
        sink.write(EventFrames.beginning)
        show(number)
        let watch = lookup.watch(key, for: claimant, until: .never) { [self] ending in conclude(number, with: ending) }
        let isThere = state.withLock { state -> Bool in
            state.streams[number]?.watch = watch
            return state.streams[number] != nil
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
        send(request, as: standing.word, to: number, at: wall)
    }

    private func send(_ request: PublishedRequest, as word: String, to number: Int, at wall: Timestamp) {
        let isNews = state.withLock { state -> Bool in
            guard let stream = state.streams[number], stream.lastID != word else { return false }
            state.streams[number]?.lastID = word
            return true
        }
        if isNews { write(EventFrames.event("state", id: word, data: request.json(at: wall)), to: number) }
    }

    /// Sends the final state and ends the stream; without one, its client is to connect again.
    private func conclude(_ number: Int, with ending: RequestWatch.Ending) {
        let wall = lookup.clock.wall()
        if case .request(.some(let request)) = ending {
            send(request, as: request.standing(at: wall).word, to: number, at: wall)
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
