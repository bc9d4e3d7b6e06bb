import Publishing
import PushModel
import Replay
import ResultQuery
import SQLite

extension ResultIndex {
    /// Lets `body` query one state of the index. Returns nil when another command has rebuilt the index, and may not have filled
    /// it yet.
    func ask<Answer>(_ body: () throws(SQLiteError) -> Answer) throws(SQLiteError) -> Answer? {
        try database.read { () throws(SQLiteError) in try isSame() ? try body() : nil }
    }

    /// The newest results that match, oldest first.
    func newest(_ limit: Int, _ filter: ResultFilter) throws(SQLiteError) -> [ResultRecord] {
        let (found, isCut) = try results(limit, matching: filter, after: nil)
        // A list of the newest has no place from which it could go on.
        if isCut { throw .interruption }
        return found.reversed()
    }

    /// A page of the results that match, newest first, and the place of the next one. One that has a next page and is not full was
    /// interrupted, and has what was found until then.
    func page(
        _ limit: Int, matching filter: ResultFilter, after cursor: ResultCursor?
    ) throws(SQLiteError) -> (results: [ResultRecord], next: ResultCursor?) {
        let limit = max(1, limit)
        let (found, isCut) = try results(limit.addingSaturated(1), matching: filter, after: cursor)
        guard found.count > limit else { return (found, isCut ? found.last.map { ResultCursor($0) } : nil) }
        return (found.dropLast(), ResultCursor(found[limit - 1]))
    }

    /// The newest results that match, newest first. One interrupted has what was found until then, and fails without any.
    private func results(
        _ limit: Int, matching filter: ResultFilter, after cursor: ResultCursor?
    ) throws(SQLiteError) -> (found: [ResultRecord], isCut: Bool) {
        let condition = try IndexCondition(filter, in: database)
        let place = cursor == nil ? "" : "AND (time, topic_partition, topic_offset) < (?, ?, ?)"
        let rows = try database.prepare(
            """
            SELECT pack, place, length, topic_partition, topic_offset, time FROM result \(condition.namesIDs ? "" : "INDEXED BY by_time")
            WHERE \(condition.sql) \(place) ORDER BY time DESC, topic_partition DESC, topic_offset DESC LIMIT ?
            """)
        var last = try condition.bind(to: rows)
        if let cursor {
            for number in [cursor.time, Int64(cursor.partition), cursor.offset] {
                try rows.bind(number, at: last)
                last += 1
            }
        }
        try rows.bind(Int64(limit), at: last)
        var packs = try PackReader(database)
        var found: [ResultRecord] = []
        do throws(SQLiteError) {
            while try rows.step() {
                if let result = try packs.result(of: rows) { found.append(result) }
            }
        } catch {
            guard error.isInterruption, !found.isEmpty else { throw error }
            return (found, true)
        }
        return (found, false)
    }

    /// Counts the results that match by their states.
    func states(_ filter: ResultFilter) throws(SQLiteError) -> [String: Int] {
        let condition = try IndexCondition(filter, in: database)
        let rows = try database.prepare(
            """
            SELECT part, count(*) FROM result INDEXED BY by_ending JOIN facet ON facet.id = ending
            WHERE \(condition.sql) GROUP BY ending
            """)
        try condition.bind(to: rows)
        var document = JSONDocument()
        var counts: [String: Int] = [:]
        while try rows.step() {
            guard rows.withBytes(0, body: { document.readPart($0) }) == true else { continue }
            counts[document.text("state", of: document.root) ?? "unknown", default: 0] += Int(rows.integer(1) ?? 0)
        }
        return counts
    }

    /// The number of records, each of which is counted.
    func recordCount() throws(SQLiteError) -> Int { Int(try database.integer("SELECT count(*) FROM result") ?? 0) }

    /// The number of the row that was added last.
    func newestRow() throws(SQLiteError) -> Int { Int(try database.integer("SELECT max(id) FROM result") ?? 0) }

    /// Everything that is known of a request, also of others that were published under its id before, in the filter's time.
    func life(_ empty: RequestLife, in filter: ResultFilter) throws(SQLiteError) -> RequestLife {
        var life = empty
        let bytes = Array(life.id.utf8)
        let condition = IndexCondition(timeOf: filter, results: true)
        var packs = try PackReader(database)
        for column in ["request", "root", "parent"] {
            let isOwn = column == "request"
            let rows = try database.prepare(
                """
                SELECT pack, place, length, topic_partition, topic_offset, time FROM result
                WHERE "\(column)" = ? \(isOwn ? "" : "AND \"request\" <> ?") AND \(condition.sql)
                ORDER BY time DESC, topic_partition DESC, topic_offset DESC LIMIT \(RequestLife.maximumCount)
                """)
            try rows.bind(bytes, at: 0)
            if !isOwn { try rows.bind(bytes, at: 1) }
            try condition.bind(to: rows, at: isOwn ? 1 : 2)
            while try rows.step() {
                guard let result = try packs.result(of: rows) else { continue }
                life.take(
                    result.json.span, partition: result.partition, offset: result.offset, timestamp: result.timestamp)
            }
        }
        return life
    }

    /// The results that match, by what they failed of and what became of them since, and the number of records in the filter's time.
    func failures(
        _ filter: ResultFilter, _ history: ReplayHistory = ReplayHistory()
    ) throws(SQLiteError) -> (tally: FailureTally, count: Int) {
        let condition = try IndexCondition(filter, in: database)
        var repairs = RepairTally(history)
        try database.execute("DELETE FROM temp.chosen")
        if !history.places.isEmpty {
            try noteReplays(history, into: &repairs)
            try addReplayed(condition, history, to: &repairs)
        }
        var tally = repairs.close()
        try addOthers(condition, to: &tally)
        let time = IndexCondition(timeOf: filter, results: false)
        let count = try database.prepare("SELECT count(*) FROM result WHERE \(time.sql)")
        try time.bind(to: count)
        return (tally, try count.step() ? Int(count.integer(0) ?? 0) : 0)
    }

    /// Notes the results of replays whose jobs are known.
    private func noteReplays(_ history: ReplayHistory, into repairs: inout RepairTally) throws(SQLiteError) {
        let parts = try database.prepare("SELECT id, part FROM facet WHERE kind = \(ResultFacet.handling.rawValue)")
        let choose = try database.prepare("INSERT INTO temp.chosen VALUES (?)")
        var document = JSONDocument()
        while try parts.step() {
            guard parts.withBytes(1, body: { document.readPart($0) }) == true,
                let job = document.member("replay", of: document.root).flatMap({ document.text("job_id", of: $0) }),
                history.knows(job: job)
            else { continue }
            try choose.bind(parts.integer(0), at: 0)
            try choose.run()
        }
        let rows = try database.prepare(
            """
            SELECT pack, place, length FROM result INDEXED BY by_time
            WHERE handling IN (SELECT id FROM temp.chosen)
            """)
        var packs = try PackReader(database)
        while try rows.step() {
            if let record = try packs.record(of: rows) { repairs.note(record.span) }
        }
        try database.execute("DELETE FROM temp.chosen")
    }

    /// Counts the matches among requests that were replayed. The table `chosen` then holds their rows.
    private func addReplayed(
        _ condition: IndexCondition, _ history: ReplayHistory, to repairs: inout RepairTally
    ) throws(SQLiteError) {
        let rows = try database.prepare(
            """
            SELECT pack, place, length, id, time FROM result INDEXED BY by_origin
            WHERE origin_offset = ? AND "partition" = ? AND \(condition.sql) AND id NOT IN (SELECT id FROM temp.chosen)
            """)
        var packs = try PackReader(database)
        let insert = try database.prepare("INSERT INTO temp.chosen VALUES (?)")
        var document = JSONDocument()
        for place in history.places {
            try rows.bind(place.offset, at: 0)
            try rows.bind(Int64(place.partition), at: 1)
            try condition.bind(to: rows, at: 2)
            var found: [(id: Int64, time: Int64, record: [UInt8])] = []
            while try rows.step() {
                guard let id = rows.integer(3), let time = rows.integer(4), let record = try packs.record(of: rows)
                else { continue }
                found.append((id, time, record))
            }
            rows.reset()
            for (id, time, record) in found {
                guard document.readPart(record.span), repairs.addReplayed(document, writtenAt: time) else { continue }
                try insert.bind(id, at: 0)
                try insert.run()
            }
        }
    }

    /// Counts the other rows by their ending, without looking at any record.
    private func addOthers(_ condition: IndexCondition, to tally: inout FailureTally) throws(SQLiteError) {
        var document = JSONDocument()
        let others = "\(condition.sql) AND id NOT IN (SELECT id FROM temp.chosen)"
        let result = "result \(condition.namesIDs ? "" : "INDEXED BY by_ending")"
        let groups = try database.prepare(
            "SELECT ending, count(*), min(time), max(time) FROM \(result) WHERE \(others) GROUP BY ending")
        let part = try database.prepare("SELECT part FROM facet WHERE id = ?")
        let latest = try database.prepare(
            "SELECT \"request\" FROM \(result) WHERE \(others) AND ending = ? AND time = ?")
        try condition.bind(to: groups)
        while try groups.step() {
            guard let ending = groups.integer(0), let count = groups.integer(1), let first = groups.integer(2),
                let last = groups.integer(3)
            else { continue }
            try part.bind(ending, at: 0)
            let isRead = try part.step() && part.withBytes(0) { document.readPart($0) } == true
            part.reset()
            guard isRead else { continue }
            let request = try greatestRequest(latest, condition, ending: ending, time: last)
            tally.add(document, count: Int(count), from: first, to: last, latest: request)
        }
    }

    private func greatestRequest(
        _ rows: Statement, _ condition: IndexCondition, ending: Int64, time: Int64
    ) throws(SQLiteError) -> String {
        let next = try condition.bind(to: rows)
        try rows.bind(ending, at: next)
        try rows.bind(time, at: next + 1)
        var greatest = ""
        while try rows.step() {
            if let request = rows.bytes(0) { greatest = max(greatest, String(decoding: request, as: UTF8.self)) }
        }
        return greatest
    }
}

extension JSONDocument {
    /// Reads a part of a result. Returns whether it is JSON.
    mutating func readPart(_ bytes: Span<UInt8>) -> Bool {
        do { try read(bytes) } catch { return false }
        return true
    }
}
