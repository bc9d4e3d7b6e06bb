import Basics
import Delivery
import Groups
import Kafka
import PushModel

extension History {
    /// The requests that wait, within the last seconds of a minute or at present.
    struct Backlog: Sendable, Equatable {
        var requests = 0
        var delayed = 0
        var held = 0
        /// For how long the oldest has waited, in milliseconds.
        var oldest = 0
        /// The requests of each lane that has a topic.
        var lanes: [LaneBacklog] = []
    }

    /// The requests that wait in a lane.
    struct LaneBacklog: Sendable, Equatable {
        /// The lanes of requests, all delay lanes together, and what waits for an ordering key.
        static let names = Lane.allCases.map(\.name) + [delayed, held]
        fileprivate static let (delayed, held) = ("delayed", "held")

        /// One of ``names``.
        package let name: String
        var requests = 0
        /// For how long the oldest has waited, or a delayed one been due, in milliseconds.
        var oldest = 0
    }
}

extension History.Backlog {
    /// The backlog in a report about a fleet with these topics.
    init(_ report: StatusReport, topics: Topics) {
        let lanes = Dictionary(Lane.allCases.map { (topics.requests(of: $0), $0.name) }) { first, _ in first }
        let parts = Dictionary(grouping: report.partitions) { partition -> String in
            if partition.isDelayed { return History.LaneBacklog.delayed }
            if partition.isHeld { return History.LaneBacklog.held }
            return lanes[partition.position.partition.topic] ?? ""
        }
        self.init(
            requests: Int(clamping: report.lag), delayed: Int(clamping: report.delayedCount),
            held: Int(clamping: report.heldCount), oldest: Int(clamping: report.lagMilliseconds),
            lanes: History.LaneBacklog.names.compactMap { name in
                parts[name].map { partitions in
                    let oldest = partitions.compactMap { report.age(of: $0) }.max() ?? 0
                    return .init(
                        name: name, requests: Int(clamping: StatusReport.lag(of: partitions)), oldest: Int(clamping: oldest))
                }
            })
    }

    /// The backlog in a record of a minute. Lanes of other names are passed over.
    init(_ document: JSONDocument, at node: JSONDocument.Node) {
        func read(_ name: StaticString) -> Int { document.count(name, of: node) }
        self.init(requests: read("requests"), delayed: read("delayed"), held: read("held"), oldest: read("oldest_ms"))
        guard let list = document.member("lanes", of: node), document.kind(of: list) == .array else { return }
        document.forEachElement(of: list) { lane in
            guard let text = document.text("lane", of: lane),
                let name = History.LaneBacklog.names.first(where: { $0 == text }), !lanes.contains(where: { $0.name == name })
            else { return }
            lanes.append(
                .init(name: name, requests: document.count("requests", of: lane), oldest: document.count("oldest_ms", of: lane)))
        }
    }

    private var object: JSONObject {
        var json = JSONObject(["requests": requests, "delayed": delayed, "held": held, "oldest_ms": oldest])
        json.add(
            "lanes", array: lanes.map { JSONObject(["lane": $0.name, "requests": $0.requests, "oldest_ms": $0.oldest]).bytes })
        return json
    }

    /// As JSON.
    var json: [UInt8] { object.bytes }

    /// The event for those who follow the fleet.
    ///
    /// - Parameters:
    ///   - at: The time at which the topics were examined.
    ///   - publishedPerSecond: The requests published a second, or nil while that is not known.
    ///   - reasons: The reasons for which requests wait, of which the first 20 are in it.
    ///   - causes: The lines that say whose requests wait, and until when.
    /// - Returns: JSON.
    func event(
        at: Timestamp, publishedPerSecond: Double?, reasons: [StatusReport.WaitCause], causes: [String] = []
    ) -> [UInt8] {
        var json = object
        json.add("at", value: at.text)
        if let publishedPerSecond { json.add("published_per_second", tenths: publishedPerSecond) }
        json.add(
            "reasons",
            array: reasons.prefix(20).map { $0.json(limit: 500) })
        json.add("causes", texts: causes.map { FleetEvent.cut($0, to: 1000) })
        return json.bytes
    }

    /// The event where the topics could not be examined.
    static func unknown(at: Timestamp) -> [UInt8] { JSONObject(["at": at.text, "unknown": true]).bytes }
}

/// Counts what is published, by the ends of the topics of requests. Without clock.
struct PublishedCount: Sendable {
    private var ends: [TopicPartition: Int64] = [:]
    private var readAt: MonotonicTime?
    private var untaken: Int?
    /// The records a second between the last two readings, or nil before the second one.
    private(set) var perSecond: Double?

    /// Notes the ends of partitions, by the offsets that their next records get. A partition that is new only begins to count.
    mutating func note(_ ends: [TopicPartition: Int64], at time: MonotonicTime) {
        defer { (self.ends, readAt) = (ends, time) }
        guard let readAt, time > readAt else { return }
        var grown: Int64 = 0
        for (partition, end) in ends { grown = grown.addingSaturated(max(0, end - (self.ends[partition] ?? end))) }
        untaken = (untaken ?? 0).addingSaturated(Int(clamping: grown))
        perSecond = Double(grown) * 1_000_000_000 / Double(time.nanoseconds(since: readAt))
    }

    /// Takes what was published since it was last taken, or nil where nothing was read twice since then.
    mutating func take() -> Int? {
        defer { untaken = nil }
        return untaken
    }
}

extension StatusReport {
    /// The ends of the partitions that publishers write to.
    func publishedEnds(_ topics: Topics) -> [TopicPartition: Int64] {
        let names = Lane.allCases.filter { $0 != .own }.map { topics.requests(of: $0) }
        let found = partitions.map(\.position).filter { names.contains($0.partition.topic) }
        return Dictionary(found.map { ($0.partition, $0.high) }) { $1 }
    }
}
