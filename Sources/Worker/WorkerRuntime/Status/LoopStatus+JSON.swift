import Basics
import Delivery
import PushModel

/// The status of a loop as JSON, on one line.
extension ByteWriter {
    /// Appends the beginning of a worker's report, up to its first loop. The times of all its loops are one member, so that they take the
    /// room of one, and so are the orders that stand. These are there even if there are none: by that member a worker says that it obeys
    /// orders.
    /// `orderBytes` is the most bytes for orders. Those without room are counted.
    mutating func appendBeginning(version: String, hub: String, of statuses: [LoopStatus], orderBytes: Int = .max) {
        append("{\"schema\":1")
        add("version", value: version)
        add("hub", value: hub)
        var latency = LatencyHistogram()
        for status in statuses { latency.add(status.latency) }
        append(",\"total_ms\":")
        append(latency.json.span)
        append(LoopStatus.orders(of: statuses), omitted: statuses.map(\.omittedOrders).max() ?? 0, limit: orderBytes)
        append(",\"loops\":[")
    }

    private mutating func append(_ orders: [LoopStatus.Order], omitted omittedCount: Int, limit: Int) {
        append(",\"orders\":[")
        var (left, shownCount) = (limit, 0)
        for order in orders {
            var entry = ByteWriter()
            entry.append("{\"id\":", json: order.id)
            entry.add("kind", value: order.kind)
            entry.add("waiting", value: Int64(order.waiting))
            if let rate = order.rate { entry.add("rate", value: Int64(rate)) }
            if order.calls > 0 { entry.add("calls", value: Int64(order.calls)) }
            entry.append("}")
            guard entry.count < left else { break }
            left -= entry.count + 1
            if shownCount > 0 { append(",") }
            append(entry.bytes.span)
            shownCount += 1
        }
        append("]")
        let omittedCount = omittedCount + orders.count - shownCount
        if omittedCount > 0 { add("orders_omitted", value: Int64(omittedCount)) }
    }

    /// Appends what a loop says of itself as the members of an object, which its hubs and partitions follow.
    mutating func appendHead(of status: LoopStatus) {
        append("{\"worker\":", json: status.worker)
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
        if !status.heedsCancellations { append(",\"cancellations_off\":true") }
        add("trouble", value: status.problem)
        add("kafka_trouble", value: status.kafkaProblem)
        if let head = status.headOfLine { append(head) }
        append(unknown: status.unknownHubs)
        append(finished: status.finished, calls: status.callCount)
    }

    private mutating func append(_ head: LoopStatus.HeadOfLine) {
        append(",\"head_of_line\":{\"topic\":", json: head.topic)
        add("partition", value: Int64(head.partition))
        add("offset", value: head.key.offset)
        add("waiting", value: Int64(head.key.waiting))
        add("of", value: Int64(head.key.all))
        append("}")
    }

    /// Appends what waits for hubs that settings do not have, as a member after others, or nothing where nothing does.
    private mutating func append(unknown hubs: [UnroutedWaits.Count]) {
        guard !hubs.isEmpty else { return }
        add("unknown_hubs", list: hubs) { writer, hub in
            writer.append("{\"hub\":", json: hub.hub)
            writer.add("waiting", value: Int64(hub.count))
            writer.append("}")
        }
    }

    /// Appends the counts since the process began as members after others.
    mutating func append(finished: [LoopStatus.Finished], calls: Int64) {
        append(",\"finished\":{")
        for (index, part) in finished.enumerated() {
            if index > 0 { append(",") }
            append(json: part.state.rawValue)
            append(":", decimal: part.count)
        }
        append("}")
        add("calls", value: calls)
    }

    /// Appends a hub as an object.
    mutating func append(_ hub: LoopStatus.Hub) {
        append("{\"hub\":", json: hub.name)
        add("region", value: hub.region)
        if hub.isRetired { append(",\"retired\":true") }
        add("trouble", value: hub.problem)
        add("circuit", value: hub.circuit)
        add("circuit_reason", value: hub.circuitReason)
        add("circuit_change", value: hub.circuitChange)
        add("limit", value: Int64(hub.limit))
        add("in_flight", value: Int64(hub.inFlight))
        add("calls", value: hub.callCount)
        add("waiting_for_turn", value: Int64(hub.waitingForTurn))
        add("waiting_for_timer", value: Int64(hub.waitingForTimer))
        if let rate = hub.ratePerSecond { add("rate_per_second", tenths: rate) }
        add("throttled_ms", value: hub.throttledMilliseconds)
        add("throttled_until", value: hub.throttledUntil)
        if let limit = hub.limitedBy { append(limit) }
        append("}")
    }

    private mutating func append(_ limit: CallLimit) {
        add("limited_by", value: limit.cause.rawValue)
        if let rate = limit.rate { add("limited_to", tenths: Double(rate) / 1000) }
        add("limited_by_order", value: limit.order)
    }

    /// Appends a partition as an object.
    mutating func append(_ partition: LoopStatus.Partition) {
        append("{\"topic\":", json: partition.topic)
        add("partition", value: Int64(partition.partition))
        if let position = partition.position { add("position", value: position) }
        if let committed = partition.committed { add("committed", value: committed) }
        add("in_work", value: Int64(partition.inWork))
        if let oldest = partition.oldest {
            append(",\"oldest\":{\"offset\":", decimal: oldest.offset)
            add("published_at", value: oldest.publishedAt)
            add("attempt", value: Int64(oldest.attempt))
            add("waits_for", value: oldest.waitsFor)
            add("next_due", value: oldest.nextDue)
            append("}")
        }
        if partition.isLeft { append(",\"left\":true") }
        if partition.waitsForLeader { append(",\"waits_for_leader\":true") }
        if let reading = partition.reading {
            append(",\"reading\":{\"records\":", decimal: reading.count)
            add("of", value: reading.total)
            add("bytes", value: reading.byteCount)
            append("}")
        }
        append("}")
    }

    /// Appends a list as a member after others.
    mutating func add<Item>(_ name: StaticString, list: [Item], element: (inout ByteWriter, Item) -> Void) {
        begin(name)
        append("[")
        for (index, item) in list.enumerated() {
            if index > 0 { append(",") }
            element(&self, item)
        }
        append("]")
    }

    private mutating func begin(_ name: StaticString) {
        append(",\"")
        append(name)
        append("\":")
    }

    /// Appends a member with a text after others, or nothing without one.
    private mutating func add(_ name: StaticString, value: String?) {
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
