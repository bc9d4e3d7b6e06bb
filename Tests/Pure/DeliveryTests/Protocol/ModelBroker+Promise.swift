import Delivery

/// The promise, and what an operator makes of it.
extension ModelBroker {
    /// Every record has either one result or none and is pending: at or above the committed offset and not in its map.
    mutating func check(_ partition: Int, from start: Int) {
        let position = committed[partition] ?? LedgerCommit(offset: 0, metadata: "")
        guard let map = try? FinishedOffsets(decoding: position.metadata) else {
            fail("the metadata of \(partition) cannot be read")
            return
        }
        let log = logs[partition]
        var index = start
        while index < log.count {
            let record = log[index]
            let distance = records[record].offset - position.offset
            index += 1
            if distance < 0 { firstUncommitted[partition] = index }
            let isDone = distance < 0 || (distance < Int64(map.bitCount) && map.contains(Int(distance)))
            let hasResult = records[record].resultCount == 1
            // One that was deleted may count as done without a result.
            if isDone == hasResult || (isDone && records[record].isDeleted) { continue }
            fail("\(name(record)) is \(isDone ? "done" : "pending") and has \(records[record].resultCount) results")
        }
    }

    /// Checks everything from the first record on.
    mutating func checkAll() {
        for partition in logs.indices { check(partition, from: 0) }
        let open = records.count { $0.resultCount == 0 && !$0.isDeleted }
        if open != openCount { fail("\(open) records have no result, \(openCount) were counted") }
    }

    /// An operator begins the group with what has no result, while no worker runs: its positions are found from the results.
    mutating func startGroup() {
        for partition in logs.indices {
            var start = FinishedStart()
            // What was deleted without a result is not there to be read.
            for record in logs[partition] where !records[record].isDeleted || records[record].resultCount == 1 {
                let isFinished = records[record].resultCount == 1
                start.add(records[record].offset, publishedAt: nil, isFinished: isFinished)
            }
            // What it cannot say would be repeated.
            guard start.repeatedCount == 0 else { continue }
            let position = start.commit(end: ends[partition])
            guard takes(position) else { continue }
            committed[partition] = position
            check(partition, from: 0)
            count(\.groupStarts)
        }
    }
}
