import Delivery
import PushModel

/// What is durable of requests that wait: their topics and results. A commit is atomic here, because how it comes about is what
/// `ProtocolModel` is for.
struct SchedulingBroker {
    /// A topic's partition. Held requests have one for each of requests.
    enum Place: Hashable {
        case requests(Int), delay(Int), held(Int)

        var isHeld: Bool { if case .held = self { true } else { false } }
    }

    /// What a history tells of one call.
    struct Call {
        var attempts = 0
        var isDone = false
    }

    /// A record of a request.
    struct Copy {
        let request: Int
        var due = Timestamp.past
        /// The time for which its calls wait, without a hold.
        var ownDue = Timestamp.past
        var calls: [Call]
        var writtenAt: Timestamp
    }

    struct Log {
        var end: Int64 = 0
        /// The records that are not finished; all others are, or there were none.
        var records: [Int64: Copy] = [:]
        /// The offset of the first record that is not finished.
        var start: Int64 { records.keys.min() ?? end }
    }

    struct Request: CustomStringConvertible {
        let partition: Int
        let offset: Int64
        let publishedAt: Timestamp
        let key: Int?
        let tenant: Int
        let notBefore: Timestamp
        /// The attempts at each of its calls that fail before one succeeds, and the time until the next one, milliseconds.
        let failures: [Int]
        let wait: Int64
        var isCancelled = false
        var hasDeadLetter = false
        /// True if time was up for a worker that could not hand it over.
        var isCut = false
        /// True if it was deferred: it may wait for long then.
        var wasDeferred = false
        var results = 0
        /// The attempts at each call, and those among them that nobody knows of any more.
        var attempts: [Int]
        var forgotten: [Int]
        var description: String { "\(partition)/\(offset) key \(key ?? -1) tenant \(tenant) attempts \(attempts)" }
    }

    struct Write {
        let place: Place
        let copy: Copy
    }

    var now = Timestamp(milliseconds: 1_000_000)
    var logs: [Place: Log] = [:]
    var requests: [Request] = []
    /// The tenant whose requests are held, and until when.
    private(set) var hold: (tenant: Int, until: Timestamp)?
    /// The last hold that ended before its time: the moments of that, and of its own end.
    private(set) var release: (at: Timestamp, until: Timestamp)?

    /// The end of the hold that concerns a request, or nil.
    func heldUntil(_ request: Int) -> Timestamp? {
        guard let hold, hold.until > now, requests[request].tenant == hold.tenant else { return nil }
        return hold.until
    }

    mutating func hold(tenant: Int, for milliseconds: Int64) { hold = (tenant, now.adding(milliseconds: milliseconds)) }

    mutating func releaseHold() {
        if let hold, hold.until > now { release = (now, hold.until) }
        hold = nil
    }

    /// True if a held record may wait for the end of a hold that was released before.
    func waitedForRelease(_ written: Timestamp) -> Bool {
        release.map { $0.until > now && written < $0.at.adding(milliseconds: 2000) } ?? false
    }

    /// True if records may wait for a hold that was released.
    var mayHaveWaiting: Bool { release.map { $0.until > now } ?? false }

    func records(at place: Place) -> Log { logs[place] ?? Log() }

    mutating func publish(_ request: Request) {
        requests.append(request)
        let calls = request.failures.map { _ in Call() }
        let copy = Copy(request: requests.count - 1, calls: calls, writtenAt: now)
        append(Write(place: .requests(request.partition), copy: copy))
    }

    private mutating func append(_ write: Write) {
        let end = records(at: write.place).end
        logs[write.place, default: Log()].records[end] = write.copy
        logs[write.place]?.end += 1
    }

    /// Commits what became of records, in one transaction, whose markers have offsets too.
    ///
    /// - Returns: What is wrong, or nil.
    mutating func commit(_ writes: [Write], results: [Int], finished: [(place: Place, offset: Int64)]) -> String? {
        for write in writes { append(Write(place: write.place, copy: copy(write.copy))) }
        for place in Set(writes.map(\.place)) { logs[place]?.end += 1 }
        for request in results {
            requests[request].results += 1
            if requests[request].results > 1 { return "request \(requests[request]) has two results" }
        }
        for (place, offset) in finished where logs[place]?.records.removeValue(forKey: offset) == nil {
            return "record \(offset) of \(place) is finished twice"
        }
        return nil
    }

    private func copy(_ copy: Copy) -> Copy {
        var copy = copy
        copy.writtenAt = now
        return copy
    }
}
