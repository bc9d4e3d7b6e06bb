package import HubServer
import SQLite
import Synchronization

/// The notifications of a hub in its file.
package final class FileJournal: MessageJournal {
    /// Notifications that are forgotten in one change.
    private static let portion = 500

    /// Numbers of those that are due, the time of the next, and the numbers of those that are sent now, that are due, and that are scheduled.
    /// All look at entries of an index of those that are not at their end only.
    static let dueQuery: StaticString = """
        SELECT number, due FROM message INDEXED BY message_now WHERE ended IS NULL AND due <= accepted
        UNION ALL
        SELECT number, due FROM message INDEXED BY message_scheduled WHERE ended IS NULL AND due > accepted AND due <= ?
        ORDER BY due, number
        """
    static let nextQuery: StaticString = """
        SELECT due FROM message INDEXED BY message_scheduled WHERE ended IS NULL AND due > accepted AND due > ?
        ORDER BY due LIMIT 1
        """
    static let nowCount: StaticString = """
        SELECT count(*), min(due) FROM message INDEXED BY message_now WHERE ended IS NULL AND due <= accepted
        """
    static let dueCount: StaticString = """
        SELECT count(*), min(due) FROM message INDEXED BY message_scheduled
        WHERE ended IS NULL AND due > accepted AND due <= ?
        """
    static let scheduledCount: StaticString = """
        SELECT count(*) FROM message INDEXED BY message_scheduled WHERE ended IS NULL AND due > accepted
        """

    private let file: HubFile
    private let scheduledLimit: Int
    /// The notifications that wait for their time, as far as is known.
    private let knownScheduled = Atomic<Int>(0)
    /// Protects the deadlines of notifications that are due and cannot be read, by their numbers. Nothing else is locked while it is held.
    private let unreadable = Mutex<[Int64: Int64]>([:])

    /// The journal of a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - scheduledLimit: The notifications that may wait for their time before another is refused with 429.
    package init(_ file: HubFile, scheduledLimit: Int = 100_000) {
        (self.file, self.scheduledLimit) = (file, scheduledLimit)
        // The file may be full: the next count tells.
        _ = try? backlog(now: .min)
    }

    package func add(
        _ notification: Notification, of call: HubCall, due: Int64?, deadline: Int64
    ) throws(RefusedCall) {
        guard due == nil || knownScheduled.load(ordering: .relaxed) < scheduledLimit else { throw .throttled(call) }
        try file.change { (connection) throws(RefusedCall) in
            try MessageRows(connection: connection).insert(notification, of: call, due: due, deadline: deadline)
        }
        if due != nil { knownScheduled.add(1, ordering: .relaxed) }
    }

    package func cancel(_ id: String, now: Int64) throws(RefusedCall) -> Bool {
        let isFound = try file.change { (connection) throws(RefusedCall) in
            let number = try connection.row(
                "SELECT number FROM message WHERE id = ? AND ended IS NULL AND due > accepted AND due > ?",
                with: [.text(id), .number(now)]
            ) { (row) throws(RefusedCall) in try row.number(0) }
            if let number { try MessageRows(connection: connection).end(number, as: .canceled, at: now) }
            return number != nil
        }
        if isFound { knownScheduled.subtract(1, ordering: .relaxed) }
        return isFound
    }

    package func unfinished(
        now: Int64, without numbers: Set<Int64>, limit: Int
    ) throws(RefusedCall) -> [JournaledMessage] {
        try abandonUnreadable(now: now)
        // They hold up no other until then.
        let passed = unreadable.withLock { Set($0.keys) }
        let (found, faulty) = try file.read { (connection) throws(RefusedCall) in
            let due = try connection.statement(Self.dueQuery)
            defer { due.reset() }
            try connection.storing { () throws(SQLiteError) in try due.bind(now, at: 0) }
            var (found, faulty): ([JournaledMessage], [Int64: Int64]) = ([], [:])
            while found.count < limit, try connection.storing({ () throws(SQLiteError) in try due.step() }) {
                let number = try due.number(0)
                guard !numbers.contains(number), !passed.contains(number) else { continue }
                let rows = MessageRows(connection: connection)
                do throws(RefusedCall) {
                    guard let message = try rows.message(number) else { throw .unreadable }
                    found.append(message)
                } catch {
                    // A disk that does not answer says nothing of the row.
                    if connection.failure != nil { throw error }
                    faulty[number] = try rows.deadline(of: number)
                }
            }
            return (found, faulty)
        }
        if !faulty.isEmpty { unreadable.withLock { $0.merge(faulty) { _, new in new } } }
        return try found.contains(where: \.isWithoutEnd) ? noteEnd(of: found) : found
    }

    /// Ends notifications that cannot be read and whose deadline is over.
    private func abandonUnreadable(now: Int64) throws(RefusedCall) {
        let over = unreadable.withLock { $0.filter { $0.value < now }.keys.sorted() }
        guard !over.isEmpty else { return }
        try file.change { (connection) throws(RefusedCall) in
            for number in over { try MessageRows(connection: connection).end(number, as: .abandoned, at: now) }
        }
        unreadable.withLock { unreadable in for number in over { unreadable[number] = nil } }
    }

    /// Notes the devices that there are now as those of scheduled notifications whose time has come.
    private func noteEnd(of messages: [JournaledMessage]) throws(RefusedCall) -> [JournaledMessage] {
        let end = try file.change { (connection) throws(RefusedCall) in
            let end = try FileBook(connection).end()
            for message in messages where message.isWithoutEnd {
                try connection.run(
                    "UPDATE message SET device_end = ? WHERE number = ?", with: [.number(end), .number(message.number)])
            }
            return end
        }
        return messages.map { message in
            guard message.isWithoutEnd else { return message }
            return JournaledMessage(
                number: message.number, notification: message.notification, acceptedAt: message.acceptedAt, due: message.due,
                deadline: message.deadline, end: end, place: message.place)
        }
    }

    package func nextDue(after now: Int64) throws(RefusedCall) -> Int64? {
        try file.read { (connection) throws(RefusedCall) in
            try connection.row(Self.nextQuery, with: [.number(now)]) { (row) throws(RefusedCall) in try row.number(0) }
        }
    }

    package func keep(_ step: WalkStep, done: @escaping @Sendable (RefusedCall?) -> Void) {
        let refusals = step.refused.map(FeedbackRows.Refusal.init)
        file.changeLater { (connection) throws(RefusedCall) in
            guard try MessageRows(connection: connection).add(step) else { return }
            try FeedbackRows(connection: connection).add(refusals, of: step.message)
            guard !step.gone.isEmpty else { return }
            try FileBook.change(on: connection) { (book) throws(RefusedCall) in
                for gone in step.gone { try book.expire(gone.device, before: gone.before) }
            }
        } done: { result in
            if case .failure(let refusal) = result { done(refusal) } else { done(nil) }
        }
    }

    package func telemetry(of id: String, now: Int64) throws(RefusedCall) -> MessageTelemetry? {
        try file.read { (connection) throws(RefusedCall) in
            try MessageRows(connection: connection).telemetry(of: id, now: now)
        }
    }

    /// As the protocol says, at most 10,000 devices.
    package func refused(by id: String) throws(RefusedCall) -> [PNSFeedback]? {
        try file.read { (connection) throws(RefusedCall) in
            guard let number = try MessageRows(connection: connection).number(of: id) else { return nil }
            return try FeedbackRows(connection: connection).refusals(of: number)
        }
    }

    package func feedbackBlobs(from name: String, limit: Int) throws(RefusedCall) -> [FeedbackBlob.Head] {
        try file.read { (connection) throws(RefusedCall) in
            try FeedbackRows(connection: connection).heads(from: name, limit: limit)
        }
    }

    package func feedbackBlob(_ name: String) throws(RefusedCall) -> [UInt8]? {
        try file.read { (connection) throws(RefusedCall) in try FeedbackRows(connection: connection).blob(name) }
    }

    /// As the protocol says. Feedback goes first, a blob at a time, and a notification once all of its own is gone.
    package func forget(endedBefore time: Int64) throws(RefusedCall) -> Int {
        try file.change { (connection) throws(RefusedCall) in
            let blobs = try FeedbackRows(connection: connection).removeOldest(before: time)
            return try blobs + MessageRows(connection: connection).remove(endedBefore: time, limit: Self.portion)
        }
    }

    package func backlog(now: Int64) throws(RefusedCall) -> MessageBacklog {
        let (count, oldest, scheduledCount) = try file.read { (connection) throws(RefusedCall) in
            let read = { (row: Statement) throws(RefusedCall) in (count: try row.number(0), oldest: row.integer(1)) }
            let sent = try connection.row(Self.nowCount, with: [], read: read)
            let due = try connection.row(Self.dueCount, with: [.number(now)], read: read)
            let all = try connection.row(Self.scheduledCount, with: []) { (row) throws(RefusedCall) in try row.number(0) }
            let dueCount = due?.count ?? 0
            return (
                (sent?.count ?? 0) + dueCount, [sent?.oldest, due?.oldest].compactMap(\.self).min(),
                Int((all ?? 0) - dueCount)
            )
        }
        knownScheduled.store(scheduledCount, ordering: .relaxed)
        return MessageBacklog(
            dueCount: Int(count), oldestDue: oldest, scheduledCount: scheduledCount,
            unreadableCount: unreadable.withLock { $0.count })
    }
}

extension JournaledMessage {
    /// True if it is for devices of the hub, and their end is not known yet.
    fileprivate var isWithoutEnd: Bool { if case .handles = notification.audience { false } else { end == nil } }
}
