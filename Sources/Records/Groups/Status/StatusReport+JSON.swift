import GroupPositions
package import JobSupport
import Kafka
import PushModel

extension StatusReport {
    /// The report as one JSON object. `describe` puts a failed query in words.
    package func json(describing describe: (ReportGap) -> String) -> [UInt8] {
        var object = JSONObject([
            "at": now.text, "group": groupID, "state": groupDescription?.state.rawValue,
            "members": groupDescription?.members.count, "lag_records": Int(lag), "lag_ms": Int(lagMilliseconds),
            "delayed_records": Int(delayedCount), "held_records": Int(heldCount), "cancelled_records": Int(cancelledCount),
            "exact": !partitions.contains(where: \.mayBeFewer),
        ])
        object.add("reasons", array: reasons.map { $0.json() })
        addCauses(to: &object)
        object.add("partitions", array: partitions.map(json))
        object.add("workers", array: workers.map(json))
        if let orders { object.add("orders", array: orders.json) }
        object.add("not_asked", texts: unasked.map(describe))
        return object.bytes
    }

    private func json(_ partition: Partition) -> [UInt8] {
        let position = partition.position
        var object = JSONObject([
            "topic": position.partition.topic, "partition": Int(position.partition.partition), "low": Int(position.low),
            "head": Int(position.high), "committed": position.committed.map { Int($0) },
            "finished_ahead": position.finishedOffsets.count, "window_percent": Int(position.windowUse * 100),
            "lag_records": Int(partition.lag),
        ])
        if let age = age(of: partition) { object.add("lag_ms", value: Int(age)) }
        object.add(partition.isDelayed || partition.isHeld ? "due" : "oldest", value: partition.oldest?.text)
        object.add("owner", value: partition.owner)
        if let cancelled = partition.counted?.cancelled { object.add("cancelled_records", value: Int(cancelled)) }
        if let transaction = partition.counted?.transaction { object.add("open_transaction", raw: json(transaction)) }
        return object.bytes
    }

    private func json(_ transaction: OpenTransaction) -> [UInt8] {
        var object = JSONObject(["offset": Int(transaction.offset), "records": Int(transaction.recordCount)])
        object.add("since", value: transaction.since?.text)
        object.add("source", value: transaction.source)
        return object.bytes
    }

    private func json(_ worker: Worker) -> [UInt8] {
        var object = JSONObject()
        if let age = worker.age {
            object.add(["worker": worker.name, "age_ms": Int(age), "stale": worker.isStale])
        } else {
            object.add("url", value: worker.name)
        }
        switch worker.page {
        case .success: object.add("status", raw: worker.raw.filter { $0 != UInt8(ascii: "\n") })
        case .failure(let failure): object.add("error", value: failure.message)
        }
        return object.bytes
    }
}
