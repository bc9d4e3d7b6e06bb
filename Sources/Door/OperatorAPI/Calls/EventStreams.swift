import Basics
import EventLoop
import GatewayAPI
import HTTPServing
import Synchronization

/// Streams of server-sent events about named subjects. A stream begins with the last events that others have got about its subject, but for
/// those of which nothing was heard for a while. It gets an event only when its data are others than those of the one before, and a comment
/// when nothing was said for a while. No thread waits with a stream.
final class EventStreams: Sendable {
    private struct Stream: Sendable {
        let subject: String
        let sink: any EventSink
        /// The data that it got last, by the names of events.
        var last: [String: [UInt8]] = [:]
        var sentAt: MonotonicTime
    }

    private struct Event: Sendable {
        let data: [UInt8]
        let frame: [UInt8]
        let at: MonotonicTime
    }

    private struct State {
        var streams: [Int: Stream] = [:]
        var lastNumber = 0
        var shares: CallerShares
        /// The holders of the streams' places, also of one that is just beginning.
        var claimants: [Int: Claimant] = [:]
        /// The last events by the names of subjects that have a stream, and by their own.
        var latest: [String: [String: Event]] = [:]

        func hasStream(about subject: String) -> Bool { streams.values.contains { $0.subject == subject } }

        /// Takes a place for a stream, and returns its number, or the reason against it.
        mutating func begin(for claimant: Claimant) -> Result<Int, CallerShares.Refusal> {
            if let refusal = shares.take(for: claimant) { return .failure(refusal) }
            lastNumber += 1
            claimants[lastNumber] = claimant
            return .success(lastNumber)
        }

        /// Removes a stream. Returns the holder of its place, once.
        mutating func remove(_ number: Int) -> Claimant? {
            defer { forget(number) }
            guard let claimant = claimants.removeValue(forKey: number) else { return nil }
            shares.giveBack(of: claimant)
            return claimant
        }

        private mutating func forget(_ number: Int) {
            guard let subject = streams.removeValue(forKey: number)?.subject, !hasStream(about: subject) else { return }
            latest[subject] = nil
        }
    }

    /// The fleet of the fleet's streams.
    static let fleet = "fleet"
    /// Silence after which a comment is sent, and an event is not the present any more, in nanoseconds.
    private static let silence: Int64 = 15_000_000_000

    private let held: HeldAnswers
    private let now: @Sendable () -> MonotonicTime
    /// No other lock is taken while it is held, and nothing is written.
    private let state: Mutex<State>

    /// Room for at most `limit` streams, each of which is one of all held answers, too.
    init(
        limit: Int, held: HeldAnswers = HeldAnswers(connections: 8192), now: @escaping @Sendable () -> MonotonicTime = { .now() }
    ) {
        self.held = held
        state = Mutex(State(shares: CallerShares(places: limit)))
        self.now = now
    }

    /// The number of streams.
    package var count: Int { state.withLock { $0.streams.count } }

    /// The subjects of all streams.
    var subjects: Set<String> { state.withLock { Set($0.streams.values.map(\.subject)) } }

    /// Begins a stream about a subject, or answers why not.
    func begin(_ subject: String, for call: OperatorCall) {
        guard call.request.method != "HEAD" else { return call.answer(EventFrames.head) }
        guard call.request.headers.single("Last-Event-ID") != EventFrames.endID else {
            // The one status at which a browser does not connect again (HTML standard, section 9.2.2).
            return call.answer(APIAnswer(status: 204))
        }
        let number: Int
        do throws(CallerShares.Refusal) {
            number = try take(for: call.claimant)
        } catch {
            return call.refuse(error.problem(after: 5000))
        }
        let time = now()
        let latest = state.withLock { $0.latest[subject] ?? [:] }
            .filter { time.nanoseconds(since: $0.value.at) < Self.silence }
        let sink = call.stream(EventFrames.head) { [self] in remove(number) }
        let frames = latest.sorted { $0.key < $1.key }.flatMap(\.value.frame)
        guard sink.write(EventFrames.beginning + frames) else { return remove(number) }
        let stream = Stream(subject: subject, sink: sink, last: latest.mapValues(\.data), sentAt: time)
        // Its client may have gone already.
        state.withLock { if $0.claimants[number] != nil { $0.streams[number] = stream } }
    }

    /// Takes a place for a stream, and returns its number.
    private func take(for claimant: Claimant) throws(CallerShares.Refusal) -> Int {
        if let refusal = held.take(for: claimant) { throw refusal }
        let begun = state.withLock { $0.begin(for: claimant) }
        if case .failure = begun { held.giveBack(of: claimant) }
        return try begun.get()
    }

    /// Sends an event to the streams about a subject that have not got these data.
    func send(_ name: StaticString, id: String, data: [UInt8], to subject: String) {
        let time = now()
        guard state.withLock({ $0.hasStream(about: subject) }) else { return }
        let event = Event(data: data, frame: EventFrames.event(name, id: id, data: data), at: time)
        let key = "\(name)"
        let found = state.withLock { state -> [(Int, any EventSink)] in
            var found: [(Int, any EventSink)] = []
            guard state.hasStream(about: subject) else { return found }
            state.latest[subject, default: [:]][key] = event
            for (number, stream) in state.streams where stream.subject == subject && stream.last[key] != data {
                state.streams[number]?.last[key] = data
                state.streams[number]?.sentAt = time
                found.append((number, stream.sink))
            }
            return found
        }
        for (number, sink) in found where !sink.write(event.frame) { remove(number) }
    }

    /// Ends the streams about a subject behind a last event, after which a client does not connect again.
    func end(_ subject: String) {
        let found = state.withLock { state in state.streams.filter { $0.value.subject == subject } }
        for (number, stream) in found {
            remove(number)
            stream.sink.write(EventFrames.end)
            stream.sink.end()
        }
    }

    /// Sends comments where nothing was sent for long, so that proxies keep the connection.
    func tick() {
        let time = now()
        let silent = state.withLock { state -> [(Int, any EventSink)] in
            let silent = state.streams.filter { time.nanoseconds(since: $0.value.sentAt) >= Self.silence }
            for number in silent.keys { state.streams[number]?.sentAt = time }
            return silent.map { ($0.key, $0.value.sink) }
        }
        for (number, sink) in silent where !sink.write(EventFrames.comment) { remove(number) }
    }

    private func remove(_ number: Int) {
        if let claimant = state.withLock({ $0.remove(number) }) { held.giveBack(of: claimant) }
    }
}
