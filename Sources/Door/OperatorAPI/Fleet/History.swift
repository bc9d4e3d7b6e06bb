import Basics
import GatewayAPI
package import PushModel

/// The events of each minute: requests published, and finished by state, calls, and the backlog. Without clock.
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
        /// The times from publishing to final results.
        var latency = LatencyHistogram()
        /// Requests published, or nil if the ends of their topics were not read twice.
        var published: Int?
        /// Workers that reported.
        var workers = 0
        var backlog: Backlog?
    }

    /// Milliseconds.
    static let minute: Int64 = 60_000
    /// The longest record that is read.
    private static let maximumByteCount = 8192

    private var minutes: [Int64: Minute] = [:]

    /// The beginning of the minute of a moment.
    static func beginning(of moment: Int64) -> Int64 { moment - moment % minute }

    /// The minutes since a moment, oldest first. Those of which nothing is known are missing.
    func minutes(since moment: Int64) -> [Minute] { minutes.values.filter { $0.at >= moment }.sorted { $0.at < $1.at } }

    /// Takes a minute, unless more of it is known already. Those that are too old, and far in the future, are dropped.
    mutating func take(_ minute: Minute, now: Int64) {
        let oldest = Self.beginning(of: now) - Int64(APILimit.historyMinutes) * Self.minute
        guard minute.at >= oldest, minute.at <= now + 10 * Self.minute, minute.at % Self.minute == 0 else { return }
        if minute.covered >= minutes[minute.at]?.covered ?? 0 { minutes[minute.at] = minute }
        guard minutes.count > 2 * APILimit.historyMinutes else { return }
        minutes = minutes.filter { $0.key >= oldest }
    }

    /// Takes a record of the topic, and passes over anything else.
    mutating func take(_ json: Span<UInt8>, now: Int64) {
        guard json.count <= Self.maximumByteCount, let minute = Minute(json) else { return }
        take(minute, now: now)
    }
}

extension History.Minute {
    /// Adds what was published since that was last taken, if that is known.
    mutating func addPublished(_ more: Int?) {
        if let more { published = (published ?? 0).addingSaturated(more) }
    }

    /// As JSON.
    var json: [UInt8] {
        var json = JSONObject(["at": Timestamp(milliseconds: at).text, "covered_ms": covered])
        json.add("finished", counts: finished.map { ($0.key, $0.value) })
        json.add(["calls": calls, "published": published, "workers": workers])
        if let figures = latency.figures {
            json.add("latency", raw: figures)
            json.add("total_ms", raw: latency.json)
        }
        if let backlog { json.add("backlog", raw: backlog.json) }
        return json.bytes
    }

    fileprivate init?(_ json: Span<UInt8>) {
        var document = JSONDocument()
        guard (try? document.read(json)) != nil,
            let at = document.text("at", of: document.root).flatMap({ Timestamp($0.utf8.span) })
        else { return nil }
        self.init(at: at.milliseconds)
        let (root, read) = (document.root, document)
        covered = min(read.count("covered_ms", of: root), Int(History.minute))
        calls = read.count("calls", of: root)
        workers = read.count("workers", of: root)
        if document.member("published", of: root) != nil { published = read.count("published", of: root) }
        if let node = document.member("finished", of: root) {
            for state in ResultState.allCases {
                document.forEachMember(of: node) { name, value in
                    if read.isEqual(name, to: state.rawValue) { finished[state.rawValue] = read.count(at: value) }
                }
            }
        }
        latency = LatencyHistogram(document, at: document.member("total_ms", of: root))
        backlog = document.member("backlog", of: root).map { History.Backlog(read, at: $0) }
    }
}

extension JSONDocument {
    /// A member of a record that anyone may have written: a number that is not negative, 0 if there is none.
    package func count(_ name: StaticString, of node: Node) -> Int { Self.count(integer(name, of: node)) }

    /// A value of such a record.
    package func count(at node: Node) -> Int { Self.count(integer(at: node)) }

    private static func count(_ number: Int64?) -> Int { Int(min(max(number ?? 0, 0), 1 << 53)) }
}
