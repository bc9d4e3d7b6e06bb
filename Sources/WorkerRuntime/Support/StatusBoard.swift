import PushModel
import Synchronization

/// The board on which the loops of a process write down once a second what they know, and others read it. Safe from any thread.
public final class StatusBoard: Sendable {
    /// Each loop's last word, by its member's name. Nothing else is locked while it is held.
    private let loops = Mutex<[String: LoopStatus]>([:])

    /// A board on which nothing stands yet.
    public init() {}

    /// The last statuses that the loops wrote down, by their names.
    public var statuses: [LoopStatus] {
        loops.withLock { loops in loops.sorted { $0.key < $1.key }.map(\.value) }
    }

    func post(_ status: LoopStatus) { loops.withLock { $0[status.worker] = status } }

    /// Writes everything as one JSON object.
    ///
    /// - Parameters:
    ///   - version: The program's version.
    ///   - hub: The hub's name.
    /// - Returns: The object, with an array `loops`.
    public func json(version: String, hub: String) -> [UInt8] {
        var writer = ByteWriter(capacity: 2048)
        writer.append("{\"schema\":1")
        writer.add("version", value: version)
        writer.add("hub", value: hub)
        writer.append(",\"loops\":[")
        for (index, status) in statuses.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(status)
        }
        writer.append("]}\n")
        return writer.bytes
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ status: LoopStatus) {
        append("{\"worker\":")
        append(json: status.worker)
        add("mode", value: status.mode)
        add("at", value: status.at)
        add("circuit", value: status.circuit)
        add("circuit_reason", value: status.circuitReason)
        add("circuit_change", value: status.circuitChange)
        add("limit", value: Int64(status.limit))
        add("in_flight", value: Int64(status.inFlight))
        add("waiting_for_turn", value: Int64(status.waitingForTurn))
        add("waiting_for_timer", value: Int64(status.waitingForTimer))
        add("finished_per_second", tenths: status.finishedPerSecond)
        add("throttled_ms", value: status.throttledMilliseconds)
        add("throttled_until", value: status.throttledUntil)
        add("last_rebalance", value: status.lastRebalance)
        add("last_commit", value: status.lastCommit)
        add("trouble", value: status.problem)
        append(",\"hubs\":[")
        for (index, hub) in status.hubs.enumerated() {
            if index > 0 { append(",") }
            append(hub)
        }
        append("],\"partitions\":[")
        for (index, partition) in status.partitions.enumerated() {
            if index > 0 { append(",") }
            append(partition)
        }
        append("]}")
    }

    private mutating func append(_ hub: LoopStatus.Hub) {
        append("{\"hub\":")
        append(json: hub.name)
        add("region", value: hub.region)
        if hub.isRetired { append(",\"retired\":true") }
        add("trouble", value: hub.problem)
        add("circuit", value: hub.circuit)
        add("circuit_reason", value: hub.circuitReason)
        add("circuit_change", value: hub.circuitChange)
        add("limit", value: Int64(hub.limit))
        add("in_flight", value: Int64(hub.inFlight))
        add("waiting_for_turn", value: Int64(hub.waitingForTurn))
        add("waiting_for_timer", value: Int64(hub.waitingForTimer))
        if let rate = hub.ratePerSecond { add("rate_per_second", tenths: rate) }
        add("throttled_ms", value: hub.throttledMilliseconds)
        add("throttled_until", value: hub.throttledUntil)
        append("}")
    }

    private mutating func append(_ partition: LoopStatus.Partition) {
        append("{\"topic\":")
        append(json: partition.topic)
        add("partition", value: Int64(partition.partition))
        if let position = partition.position { add("position", value: position) }
        if let committed = partition.committed { add("committed", value: committed) }
        add("in_work", value: Int64(partition.inWork))
        if let oldest = partition.oldest {
            append(",\"oldest\":{\"offset\":")
            append(decimal: oldest.offset)
            add("published_at", value: oldest.publishedAt)
            add("attempt", value: Int64(oldest.attempt))
            add("waits_for", value: oldest.waitsFor)
            add("next_due", value: oldest.nextDue)
            append("}")
        }
        if partition.isLeft { append(",\"left\":true") }
        if partition.waitsForLeader { append(",\"waits_for_leader\":true") }
        if let reading = partition.reading {
            append(",\"reading\":{\"records\":")
            append(decimal: reading.count)
            add("of", value: reading.total)
            add("bytes", value: reading.byteCount)
            append("}")
        }
        append("}")
    }

    private mutating func begin(_ name: StaticString) {
        append(",\"")
        append(name)
        append("\":")
    }

    fileprivate mutating func add(_ name: StaticString, value: String?) {
        guard let value else { return }
        begin(name)
        append(json: value)
    }

    private mutating func add(_ name: StaticString, value: Int64) {
        begin(name)
        append(decimal: value)
    }

    private mutating func add(_ name: StaticString, value: Timestamp?) {
        guard let value else { return }
        begin(name)
        append(UInt8(ascii: "\""))
        append(value)
        append(UInt8(ascii: "\""))
    }

    /// Adds a number with one digit behind the point, or nothing for what is no number.
    private mutating func add(_ name: StaticString, tenths value: Double) {
        guard value.isFinite, abs(value) < 1e15 else { return }
        let tenths = Int64((max(0, value) * 10).rounded())
        add(name, value: tenths / 10)
        append(".")
        append(decimal: tenths % 10)
    }
}
