import HubServer
import SQLite

/// The rows of devices that push services refused, in blobs of a day, as one connection sees them.
struct FeedbackRows {
    /// A refused device, and the bytes that it takes in a blob.
    struct Refusal: Sendable {
        let feedback: PNSFeedback
        let byteCount: Int

        init(_ feedback: PNSFeedback) {
            (self.feedback, byteCount) = (feedback, PNSFeedback.document([feedback]).count)
        }
    }

    /// The bytes from which on a blob gets no more, and another of its day begins.
    static let fullByteCount: Int64 = 4 << 20
    /// The most refused devices of a notification in one answer.
    private static let maximumCount: Int64 = 10_000

    let connection: HubConnection

    /// Adds the refused devices of a notification.
    func add(_ refusals: [Refusal], of message: Int64) throws(RefusedCall) {
        for (day, refusals) in Dictionary(grouping: refusals, by: \.feedback.day).sorted(by: { $0.key < $1.key }) {
            let blob = try openBlob(of: day)
            for refusal in refusals { try insert(refusal.feedback, of: message, into: blob) }
            try connection.run(
                "UPDATE feedback SET byte_count = byte_count + ?, modified = max(modified, ?) WHERE number = ?",
                with: [
                    .number(Int64(refusals.reduce(0) { $0 + $1.byteCount })), .number(refusals.map(\.feedback.at).max()),
                    .number(blob),
                ])
        }
    }

    private func insert(_ feedback: PNSFeedback, of message: Int64, into blob: Int64) throws(RefusedCall) {
        try connection.run(
            """
            INSERT INTO refusal (feedback, message, time, outcome, platform, handle, registration, installation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            with: [
                .number(blob), .number(message), .number(feedback.at), .text(feedback.outcome),
                .number(feedback.platform.code), .bytes(try connection.seal.sealed(Array(feedback.handle.utf8))),
                .text(feedback.registrationID), .text(feedback.installationID),
            ])
    }

    /// The number of the blob of a day that is not full, which may be a new one.
    private func openBlob(of day: String) throws(RefusedCall) -> Int64 {
        let newest = try connection.row(
            "SELECT number, ordinal, byte_count FROM feedback WHERE day = ? ORDER BY ordinal DESC LIMIT 1", with: [.text(day)]
        ) { (row) throws(RefusedCall) in (number: try row.number(0), ordinal: try row.number(1), byteCount: try row.number(2)) }
        if let newest, newest.byteCount < Self.fullByteCount { return newest.number }
        let ordinal = (newest?.ordinal ?? 0) + 1
        let name = ordinal == 1 ? "\(day)-feedback.xml" : "\(day)-feedback-\(ordinal).xml"
        try connection.run(
            "INSERT INTO feedback (day, ordinal, name, byte_count, modified) VALUES (?, ?, ?, 0, 0)",
            with: [.text(day), .number(ordinal), .text(name)])
        let number = try connection.row("SELECT last_insert_rowid()", with: []) { (row) throws(RefusedCall) in
            try row.number(0)
        }
        guard let number else { throw .unreadable }
        return number
    }

    /// The first refused devices of a notification.
    func refusals(of message: Int64) throws(RefusedCall) -> [PNSFeedback] {
        try connection.rows(
            """
            SELECT time, outcome, refusal.platform, handle, registration, installation, id
            FROM refusal JOIN message ON message.number = refusal.message
            WHERE refusal.message = ? ORDER BY refusal.number LIMIT ?
            """, with: [.number(message), .number(Self.maximumCount)], read: feedback)
    }

    /// Blobs by their names, from one on.
    func heads(from name: String, limit: Int) throws(RefusedCall) -> [FeedbackBlob.Head] {
        try connection.rows(
            "SELECT name, byte_count, modified FROM feedback WHERE name >= ? ORDER BY name LIMIT ?",
            with: [.text(name), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in
            FeedbackBlob.Head(name: try row.string(0), byteCount: Int(try row.number(1)), modified: try row.number(2))
        }
    }

    /// The bytes of a blob.
    func blob(_ name: String) throws(RefusedCall) -> [UInt8]? {
        let number = try connection.row("SELECT number FROM feedback WHERE name = ?", with: [.text(name)]) {
            (row) throws(RefusedCall) in try row.number(0)
        }
        guard let number else { return nil }
        let content = try connection.rows(
            """
            SELECT time, outcome, refusal.platform, handle, registration, installation, id
            FROM refusal JOIN message ON message.number = refusal.message
            WHERE refusal.feedback = ? ORDER BY refusal.number
            """, with: [.number(number)], read: feedback)
        return PNSFeedback.document(content)
    }

    private func feedback(_ row: Statement) throws(RefusedCall) -> PNSFeedback {
        PNSFeedback(
            at: try row.number(0), outcome: try row.string(1), platform: try .coded(row.number(2)),
            handle: String(decoding: try connection.seal.opened(row.blob(3)), as: UTF8.self),
            registrationID: try row.string(4), installationID: row.optionalString(5), notificationID: try row.string(6))
    }

    /// Removes the refused devices of a user among some. Returns the number of the last that was looked at, or nil at the end, and the count
    /// of those removed.
    func remove(of user: FoundUser, behind number: Int64, limit: Int) throws(RefusedCall) -> (last: Int64?, count: Int) {
        let stored = try connection.rows(
            """
            SELECT time, outcome, refusal.platform, handle, registration, installation, id, refusal.number, refusal.feedback
            FROM refusal JOIN message ON message.number = refusal.message
            WHERE refusal.number > ? ORDER BY refusal.number LIMIT ?
            """, with: [.number(number), .number(Int64(limit))], read: stored)
        let own = stored.filter { $0.feedback.map(user.has) ?? false }
        try remove(own)
        return (stored.last?.number, own.count)
    }

    /// Removes the refused devices of a notification. Returns their number.
    func remove(of message: Int64) throws(RefusedCall) -> Int {
        let stored = try connection.rows(
            """
            SELECT time, outcome, refusal.platform, handle, registration, installation, id, refusal.number, refusal.feedback
            FROM refusal JOIN message ON message.number = refusal.message WHERE refusal.message = ?
            """, with: [.number(message)], read: stored)
        try remove(stored)
        return stored.count
    }

    /// A refused device of a row. One that cannot be read holds up no other.
    private func stored(_ row: Statement) throws(RefusedCall) -> (feedback: PNSFeedback?, number: Int64, blob: Int64) {
        (try? feedback(row), try row.number(7), try row.number(8))
    }

    /// Removes refused devices, and blobs that have no other.
    private func remove(_ stored: [(feedback: PNSFeedback?, number: Int64, blob: Int64)]) throws(RefusedCall) {
        for refusal in stored {
            let byteCount = refusal.feedback.map { Refusal($0).byteCount } ?? 0
            try connection.run("DELETE FROM refusal WHERE number = ?", with: [.number(refusal.number)])
            try connection.run(
                "UPDATE feedback SET byte_count = byte_count - ? WHERE number = ?",
                with: [.number(Int64(byteCount)), .number(refusal.blob)])
        }
        for blob in Set(stored.map(\.blob)) {
            try connection.run(
                "DELETE FROM feedback WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM refusal WHERE feedback = ?1)",
                with: [.number(blob)])
        }
    }

    /// Removes the oldest blob, if nothing was added to it at a time or later. Returns the number of those removed.
    func removeOldest(before time: Int64) throws(RefusedCall) -> Int {
        let number = try connection.row(
            "SELECT number FROM feedback WHERE modified < ? ORDER BY modified LIMIT 1", with: [.number(time)]
        ) { (row) throws(RefusedCall) in try row.number(0) }
        guard let number else { return 0 }
        try connection.run("DELETE FROM refusal WHERE feedback = ?", with: [.number(number)])
        try connection.run("DELETE FROM feedback WHERE number = ?", with: [.number(number)])
        return 1
    }
}
