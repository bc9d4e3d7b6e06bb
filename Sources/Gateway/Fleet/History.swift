import PushModel
import ResultQuery

/// The events of each minute: requests finished by state, calls, and the backlog. Without clock.
///
/// Gateways write each minute to a topic, and read the last hour from it when they start. Of one minute several gateways may have seen parts:
/// the one that has seen most of it counts.
struct History: Sendable {
    struct Minute: Sendable, Equatable {
        /// Its beginning, in milliseconds since 1970.
        let at: Int64
        /// The milliseconds of it in which reports were read.
        var covered = 0
        /// Requests finished, by state.
        var finished: [String: Int] = [:]
        /// Calls to hubs.
        var calls = 0
        /// Workers that reported.
        var workers = 0
        var backlog: Backlog?
    }

    /// The requests that waited at the end of a minute.
    struct Backlog: Sendable, Equatable {
        var requests = 0
        var delayed = 0
        var held = 0
        /// For how long the oldest has waited, in milliseconds.
        var oldest = 0
    }

    /// Milliseconds.
    static let minute: Int64 = 60_000
    /// The minutes that are kept.
    static let span = 60
    /// The longest record that is read.
    private static let maximumByteCount = 8192

    private var minutes: [Int64: Minute] = [:]

    /// The beginning of the minute of a moment.
    static func beginning(of moment: Int64) -> Int64 { moment - moment % minute }

    /// The minutes since a moment, oldest first. Those of which nothing is known are missing.
    func minutes(since moment: Int64) -> [Minute] { minutes.values.filter { $0.at >= moment }.sorted { $0.at < $1.at } }

    /// Takes a minute, unless more of it is known already. Those that are too old, and far in the future, are dropped.
    mutating func take(_ minute: Minute, now: Int64) {
        let oldest = Self.beginning(of: now) - Int64(Self.span) * Self.minute
        guard minute.at >= oldest, minute.at <= now + 10 * Self.minute, minute.at % Self.minute == 0 else { return }
        if minute.covered >= minutes[minute.at]?.covered ?? 0 { minutes[minute.at] = minute }
        guard minutes.count > 2 * Self.span else { return }
        minutes = minutes.filter { $0.key >= oldest }
    }

    /// Takes a record of the topic, and passes over anything else.
    mutating func take(_ json: Span<UInt8>, now: Int64) {
        guard json.count <= Self.maximumByteCount, let minute = Minute(json) else { return }
        take(minute, now: now)
    }
}

extension History.Minute {
    /// As JSON.
    var json: [UInt8] {
        var json = JSONObject(["at": Timestamp(milliseconds: at).text, "covered_ms": covered])
        json.add("finished", raw: ReplayJSON.object(finished.map { ($0.key, $0.value) }))
        json.add(["calls": calls, "workers": workers])
        if let backlog {
            json.add("backlog", raw: backlog.json)
        }
        return json.bytes
    }

    fileprivate init?(_ json: Span<UInt8>) {
        var document = JSONDocument()
        guard (try? document.read(json)) != nil,
            let at = document.text("at", of: document.root).flatMap({ Timestamp($0.utf8.span) })
        else { return nil }
        self.init(at: at.milliseconds)
        let read = document
        func number(_ name: StaticString, _ node: JSONDocument.Node) -> Int {
            Int(min(max(read.integer(name, of: node) ?? 0, 0), 1 << 53))
        }
        covered = min(number("covered_ms", document.root), Int(History.minute))
        calls = number("calls", document.root)
        workers = number("workers", document.root)
        if let node = document.member("finished", of: document.root) {
            for state in ResultState.allCases {
                document.forEachMember(of: node) { name, value in
                    if read.isEqual(name, to: state.rawValue) {
                        finished[state.rawValue] = Int(min(max(read.integer(at: value) ?? 0, 0), 1 << 53))
                    }
                }
            }
        }
        guard let node = document.member("backlog", of: document.root) else { return }
        backlog = History.Backlog(
            requests: number("requests", node), delayed: number("delayed", node), held: number("held", node),
            oldest: number("oldest_ms", node))
    }
}

extension History.Backlog {
    /// As JSON.
    var json: [UInt8] {
        JSONObject(["requests": requests, "delayed": delayed, "held": held, "oldest_ms": oldest]).bytes
    }
}

/// Counts what workers have finished, from counters that grow until a worker starts again.
struct CounterTally: Sendable {
    /// The counters of one loop.
    struct Counters: Sendable, Equatable {
        var finished: [String: Int] = [:]
        var calls = 0
    }

    private var known: [String: Counters] = [:]

    /// Takes the counters of all loops, by names, and returns what was added since the last time. A loop that is new only begins to
    /// count, and one whose counters are smaller than before has begun at 0.
    mutating func take(_ loops: [String: Counters]) -> Counters {
        var sum = Counters()
        for (name, counters) in loops {
            guard let before = known[name] else { continue }
            let isNew =
                counters.calls < before.calls || before.finished.contains { counters.finished[$0.key, default: 0] < $0.value }
            let base = isNew ? Counters() : before
            sum.calls = sum.calls.addingClamped(counters.calls - base.calls)
            for (state, count) in counters.finished {
                let grown = count - base.finished[state, default: 0]
                if grown > 0 { sum.finished[state] = sum.finished[state, default: 0].addingClamped(grown) }
            }
        }
        known = loops
        return sum
    }
}

extension Int {
    /// The sum, or the greatest number where that is too large: a stranger may report anything.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
