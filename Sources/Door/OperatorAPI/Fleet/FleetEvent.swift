import GatewayAPI
import Groups
import PushModel
import Results

/// The event that those who follow the fleet get once a second: its work, its hubs and its workers.
///
/// It has at most ``EventFrames/limit`` bytes. Hubs and workers in trouble have their place first, then workers before the loops of any.
struct FleetEvent {
    /// The most hubs.
    private static let hubLimit = 64
    /// The most bytes of hubs.
    private static let hubRoom = 24_576
    /// The bytes that are kept for the names of members and for counts of what has no room, of the event and of each worker.
    private static let slack = (event: 256, worker: 48)
    /// The most characters of a text that is not a name.
    private static let textLimit = 160

    let members: [Fleet.Member]
    let work: RecentWork
    /// The calls of hubs a second, by their names, as far as they are known.
    var hubRates: [String: Double] = [:]
    /// The answers of brokers of late.
    var kafka = KafkaReach()
    /// Adds the orders that stand.
    var addOrders: (inout JSONObject) -> Void = { _ in }
    /// Adds incidents, and what is open.
    var addIncidents: (inout JSONObject) -> Void = { _ in }

    /// As JSON, at a time in milliseconds since 1970.
    func json(at wall: Int64) -> [UInt8] {
        var json = JSONObject(["at": Timestamp(milliseconds: wall).text])
        if let kafka = kafka.json(hearing: members.map(\.age).min()) { json.add("kafka", raw: kafka) }
        addOrders(&json)
        addIncidents(&json)
        json.add("finished_per_second", tenths: work.finishedPerSecond)
        json.add("sent_per_second", tenths: work.sentPerSecond)
        json.add("calls_per_second", tenths: work.callsPerSecond)
        json.add("finished", counts: work.finished.map { ($0.key, $0.value) })
        if let latency = work.latency.figures { json.add("latency", raw: latency) }
        let pages = members.filter { !$0.isStale }.map(\.page)
        let hubs = HubSummary.all(of: pages)
        let pieces = hubs.map { ($0.json(callsPerSecond: hubRates[$0.name]), $0.isGood) }
        let shownHubs = Self.choose(pieces, limit: Self.hubLimit, slack: 1, room: Self.hubRoom)
        json.add("hubs", array: shownHubs.map(\.bytes))
        if shownHubs.count < hubs.count { json.add("hubs_omitted", value: hubs.count - shownHubs.count) }
        if !pages.allSatisfy(\.hasAllHubs) { json.add("hubs_partial", value: true) }
        var room = EventFrames.limit - json.bytes.count - Self.slack.event
        let shown = Self.choose(members.map { ($0.head, $0.isGood) }, limit: .max, slack: Self.slack.worker, room: room)
        room -= shown.reduce(0) { $0 + $1.bytes.count + Self.slack.worker }
        json.add("workers", array: shown.map { members[$0.place].json(behind: $0.bytes, room: &room) })
        if shown.count < members.count { json.add("workers_omitted", value: members.count - shown.count) }
        return json.bytes
    }

    /// Chooses what has room, each with some bytes besides, and keeps the order. What is not good is chosen first.
    private static func choose(
        _ pieces: [(bytes: [UInt8], isGood: Bool)], limit: Int, slack: Int, room: Int
    ) -> [(place: Int, bytes: [UInt8])] {
        var (room, chosen) = (room, [Int]())
        for place in pieces.indices.filter({ !pieces[$0].isGood }) + pieces.indices.filter({ pieces[$0].isGood }) {
            guard chosen.count < limit else { break }
            guard pieces[place].bytes.count + slack <= room else { continue }
            room -= pieces[place].bytes.count + slack
            chosen.append(place)
        }
        return chosen.sorted().map { ($0, pieces[$0].bytes) }
    }

    /// The beginning of a text that a worker wrote.
    static func cut(_ text: String) -> String { cut(text, to: textLimit) }

    /// The beginning of a text, so many scalars at most.
    static func cut(_ text: String, to limit: Int) -> String { String(Substring(text.unicodeScalars.prefix(limit))) }
}

extension Fleet.Member {
    /// True if nothing about it is in trouble.
    fileprivate var isGood: Bool { !isStale && troubledHubs == 0 && page.loops.allSatisfy { $0.problem == nil } }

    private var troubledHubs: Int {
        Set(page.loops.flatMap(\.hubs).filter { !$0.isGood }.map(page.name)).count
    }

    /// The worker without its loops.
    fileprivate var head: [UInt8] {
        var json = JSONObject([
            "id": id, "age_ms": Int(clamping: age), "stale": isStale, "version": page.version.map(FleetEvent.cut),
            "partitions": page.loops.reduce(0) { $0.addingSaturated($1.partitionCount) }, "hubs_trouble": troubledHubs,
            "last_rebalance": page.loops.compactMap(\.lastRebalance).max()?.text,
        ])
        json.add(
            "finished_per_second",
            tenths: page.loops.reduce(0) { sum, loop in
                Double(loop.finishedPerSecond).map { $0.isFinite ? sum + max(0, $0) : sum } ?? sum
            })
        let waiting = page.loops.flatMap(\.partitions).filter { $0.oldest?.publishedAt != nil }
        let oldest = waiting.min { ($0.oldest?.publishedAt ?? .never) < ($1.oldest?.publishedAt ?? .never) }
        if let oldest, let request = oldest.oldest { json.add("oldest", raw: Self.json(request, in: oldest)) }
        return json.bytes
    }

    private static func json(_ request: WorkerPage.Oldest, in partition: WorkerPage.Partition) -> [UInt8] {
        JSONObject([
            "topic": partition.topic, "partition": partition.partition, "offset": request.offset,
            "published_at": request.publishedAt?.text, "attempt": request.attempt, "waits_for": FleetEvent.cut(request.waitsFor),
        ]).bytes
    }

    /// The worker with as many of its loops as there is room for.
    fileprivate func json(behind head: [UInt8], room: inout Int) -> [UInt8] {
        var (json, loops) = (JSONObject(continuing: head), [[UInt8]]())
        for loop in page.loops.map(\.summary) where loop.count < room {
            loops.append(loop)
            room -= loop.count + 1
        }
        json.add("loops", array: loops)
        let omitted = page.omittedLoops.addingSaturated(page.loops.count - loops.count)
        if omitted > 0 { json.add("loops_omitted", value: omitted) }
        return json.bytes
    }
}

extension WorkerPage {
    /// True if each hub of each loop had room in its report.
    fileprivate var hasAllHubs: Bool { omittedLoops == 0 && loops.allSatisfy { $0.omittedHubs == 0 } }
}

extension WorkerPage.Loop {
    /// The partitions that it reads.
    fileprivate var partitionCount: Int { omittedPartitions.addingSaturated(partitions.count) }

    /// The loop in short.
    fileprivate var summary: [UInt8] {
        var json = JSONObject([
            "worker": worker, "mode": mode, "circuit": total.circuit, "in_flight": total.inFlight, "limit": total.limit,
            "partitions": partitionCount, "trouble": problem.map(FleetEvent.cut),
        ])
        if Double(finishedPerSecond) != nil { json.add("finished_per_second", raw: Array(finishedPerSecond.utf8)) }
        return json.bytes
    }
}

extension JSONObject {
    /// Adds a number that is not negative with one digit behind the point.
    mutating func add(_ name: String, tenths value: Double) {
        let tenths = value.isFinite ? Int((min(max(value, 0), 1e15) * 10).rounded()) : 0
        add(name, raw: Array("\(tenths / 10).\(tenths % 10)".utf8))
    }
}
