package import HubServer
import SQLite

/// The notifications of a hub in its file.
package final class FileJournal: MessageJournal {
    /// Notifications that are forgotten in one change.
    private static let portion = 500

    /// Numbers of those that are due, and the time of the next. Both look at those that are not at their end only.
    static let dueQuery: StaticString = "SELECT number FROM message WHERE ended IS NULL AND due <= ? ORDER BY due, number"
    static let nextQuery: StaticString = "SELECT due FROM message WHERE ended IS NULL AND due > ? ORDER BY due LIMIT 1"

    private let file: HubFile

    /// The journal of a file.
    package init(_ file: HubFile) { self.file = file }

    package func add(
        _ notification: Notification, of call: HubCall, due: Int64?, deadline: Int64
    ) throws(RefusedCall) {
        try file.change { (connection) throws(RefusedCall) in
            try MessageRows(connection: connection).insert(notification, of: call, due: due, deadline: deadline)
        }
    }

    package func cancel(_ id: String, now: Int64) throws(RefusedCall) -> Bool {
        try file.change { (connection) throws(RefusedCall) in
            let number = try connection.row(
                "SELECT number FROM message WHERE id = ? AND ended IS NULL AND due > accepted AND due > ?",
                with: [.text(id), .number(now)]
            ) { (row) throws(RefusedCall) in try row.number(0) }
            if let number { try MessageRows(connection: connection).end(number, as: .canceled, at: now) }
            return number != nil
        }
    }

    /// As the protocol says. A notification that cannot be read is passed over, so that it holds up no other.
    package func unfinished(
        now: Int64, without numbers: Set<Int64>, limit: Int
    ) throws(RefusedCall) -> [JournaledMessage] {
        let found = try file.read { (connection) throws(RefusedCall) in
            let due = try connection.statement(Self.dueQuery)
            defer { due.reset() }
            try connection.storing { () throws(SQLiteError) in try due.bind(now, at: 0) }
            var found: [JournaledMessage] = []
            while found.count < limit, try connection.storing({ () throws(SQLiteError) in try due.step() }) {
                let number = try due.number(0)
                guard !numbers.contains(number),
                    let message = try? MessageRows(connection: connection).message(number)
                else { continue }
                found.append(message)
            }
            return found
        }
        return try found.contains(where: \.isWithoutEnd) ? noteEnd(of: found) : found
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

    package func oldestDue() throws(RefusedCall) -> Int64? { try nextDue(after: .min) }

    package func unfinishedCount() throws(RefusedCall) -> Int {
        try file.read { (connection) throws(RefusedCall) in
            let count = try connection.row(
                "SELECT count(*) FROM message WHERE ended IS NULL AND (due <= accepted OR device_end IS NOT NULL)", with: []
            ) { (row) throws(RefusedCall) in try row.number(0) }
            return Int(count ?? 0)
        }
    }
}

extension JournaledMessage {
    /// True if it is for devices of the hub, and their end is not known yet.
    fileprivate var isWithoutEnd: Bool { if case .handles = notification.audience { false } else { end == nil } }
}
