import FanOut
import HTTPServing
import HubServer
import SQLite

/// The rows of notifications, as one connection sees them.
struct MessageRows {
    /// The addressees, as a row says them.
    private enum AudienceKind: Int64 {
        case everyone, tags, handles

        init(_ audience: Notification.Audience) {
            self =
                switch audience {
                case .everyone: .everyone
                case .tags: .tags
                case .handles: .handles
                }
        }
    }

    /// The last state of a notification, as a row says it.
    enum Ending: Int64 {
        case completed, noTarget, abandoned, canceled

        init(_ ending: WalkStep.Ending) {
            self =
                switch ending {
                case .completed: .completed
                case .noTarget: .noTarget
                case .abandoned: .abandoned
                }
        }

        var state: String {
            switch self {
            case .completed: "Completed"
            case .noTarget: "NoTargetFound"
            case .abandoned: "Abandoned"
            case .canceled: "Canceled"
            }
        }
    }

    /// The audience of a notification, by its number.
    struct Addressed {
        let number: Int64
        let isEnded: Bool
        /// The tags that it is for. Nil for one to devices.
        let expression: TagExpression?
        /// The devices that it names.
        let devices: [DeviceKey]
    }

    let connection: HubConnection

    /// Adds a notification.
    func insert(_ notification: Notification, of call: HubCall, due: Int64?, deadline: Int64) throws(RefusedCall) {
        let accepted = call.moment.milliseconds
        let kind = AudienceKind(notification.audience)
        var (tags, handles): (String?, [String]) = (nil, [])
        switch notification.audience {
        case .everyone: break
        case .tags(let expression): tags = call.notificationHeader("Tags") ?? expression.description
        case .handles(let named): handles = named
        }
        let end = due == nil && kind != .handles ? try FileBook(connection).end() : nil
        try connection.run(
            """
            INSERT INTO message (id, call, format, audience, tags, version, accepted, due, deadline, device_end)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            with: [
                .text(notification.id), .number(Int64(notification.callID)), .text(notification.format),
                .number(kind.rawValue), .text(tags), .text(call.apiVersion.text), .number(accepted),
                .number(due ?? accepted), .number(deadline), .number(end),
            ])
        var writer = PackedWriter()
        writer.append(notification.headers)
        writer.append(handles)
        try connection.run(
            "INSERT INTO payload (message, sealed, body) VALUES (last_insert_rowid(), ?, ?)",
            with: [.bytes(try connection.seal.sealed(writer.bytes)), .bytes(notification.body)])
    }

    /// The number of a notification.
    func number(of id: String) throws(RefusedCall) -> Int64? {
        try connection.row("SELECT number FROM message WHERE id = ?", with: [.text(id)]) { (row) throws(RefusedCall) in
            try row.number(0)
        }
    }

    /// A notification that is not at its end, by its number.
    func message(_ number: Int64) throws(RefusedCall) -> JournaledMessage? {
        try connection.row(
            """
            SELECT id, call, format, audience, tags, accepted, due, deadline, device_end, platform, device, sealed, body
            FROM message JOIN payload ON payload.message = message.number WHERE number = ? AND ended IS NULL
            """, with: [.number(number)]
        ) { (row) throws(RefusedCall) in
            var reader = PackedReader(try connection.seal.opened(row.blob(11)))
            let (headers, handles) = (try reader.fields(), try reader.texts())
            let notification = try Notification(
                id: row.string(0), callID: Int(row.number(1)), format: row.string(2), audience: audience(row, handles: handles),
                body: row.blob(12), headers: headers)
            var place: DevicePlace?
            if let code = row.integer(9) {
                place = DevicePlace(platform: try HubPlatform.coded(code), number: try row.number(10))
            }
            return JournaledMessage(
                number: number, notification: notification, acceptedAt: try row.number(5), due: try row.number(6),
                deadline: try row.number(7), end: row.integer(8), place: place,
                counts: place == nil ? OutcomeCounts() : try counts(of: number))
        }
    }

    /// The deadline of a notification that cannot be read. Without one that can be, it is over.
    func deadline(of number: Int64) throws(RefusedCall) -> Int64 {
        try connection.row("SELECT deadline FROM message WHERE number = ?", with: [.number(number)]) { $0.integer(0) ?? .min }
            ?? .min
    }

    private func audience(_ row: Statement, handles: [String]) throws(RefusedCall) -> Notification.Audience {
        switch AudienceKind(rawValue: try row.number(3)) {
        case .everyone: return .everyone
        case .handles: return .handles(handles)
        case .tags:
            guard let expression = try? TagExpression(parsing: row.blob(4)) else { throw .unreadable }
            return .tags(expression)
        case nil: throw .unreadable
        }
    }

    /// Takes a step in, if its notification is not at its end. Returns false otherwise.
    func add(_ step: WalkStep) throws(RefusedCall) -> Bool {
        let found = try connection.row(
            "SELECT number FROM message WHERE number = ? AND ended IS NULL", with: [.number(step.message)]
        ) { _ in true }
        guard found ?? false else { return false }
        try connection.run(
            """
            UPDATE message SET started = coalesce(started, ?2), platform = coalesce(?3, platform), device = coalesce(?4, device)
            WHERE number = ?1
            """,
            with: [
                .number(step.message), .number(step.at), .number(step.place?.platform.code), .number(step.place?.number),
            ])
        for entry in step.counts.entries {
            try connection.run(
                """
                INSERT INTO message_count (message, platform, name, count, ordinal)
                VALUES (?1, ?2, ?3, ?4, (SELECT count(*) FROM message_count WHERE message = ?1))
                ON CONFLICT (message, platform, name) DO UPDATE SET count = count + excluded.count
                """,
                with: [
                    .number(step.message), .number(entry.platform.code), .text(entry.name), .number(Int64(entry.count)),
                ])
        }
        if let ending = step.ending { try end(step.message, as: Ending(ending), at: step.at) }
        return true
    }

    /// Ends a notification, and removes what was needed on its way only.
    func end(_ number: Int64, as ending: Ending, at now: Int64) throws(RefusedCall) {
        try connection.run(
            "UPDATE message SET ended = ?, ending = ? WHERE number = ?",
            with: [.number(now), .number(ending.rawValue), .number(number)])
        try connection.run("DELETE FROM payload WHERE message = ?", with: [.number(number)])
    }

    /// Notifications that have tags, or handles on their way, in the order of their numbers.
    func addressed(behind number: Int64, limit: Int) throws(RefusedCall) -> [Addressed] {
        try connection.rows(
            """
            SELECT number, format, tags, ended, CASE WHEN tags IS NULL THEN sealed END
            FROM message LEFT JOIN payload ON payload.message = message.number
            WHERE number > ? AND (tags IS NOT NULL OR audience = ? AND ended IS NULL) ORDER BY number LIMIT ?
            """, with: [.number(number), .number(AudienceKind.handles.rawValue), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in
            // A payload that cannot be read holds up no other.
            let devices = try? row.bytes(4).map { (sealed) throws(RefusedCall) in
                try self.devices(in: sealed, of: row.string(1))
            }
            return Addressed(
                number: try row.number(0), isEnded: row.integer(3) != nil,
                expression: row.bytes(2).flatMap { try? TagExpression(parsing: $0) }, devices: devices ?? [])
        }
    }

    /// The devices of the handles in a payload.
    private func devices(in sealed: [UInt8], of format: String) throws(RefusedCall) -> [DeviceKey] {
        guard let platform = HubPlatform(format: format) else { return [] }
        var reader = PackedReader(try connection.seal.opened(sealed))
        _ = try reader.fields()
        return try reader.texts().map { DeviceKey(platform: platform, handle: $0) }
    }

    /// Takes the tags of a notification away, which must be at its end.
    func removeTags(of number: Int64) throws(RefusedCall) {
        try connection.run("UPDATE message SET tags = NULL WHERE number = ?", with: [.number(number)])
    }

    /// The telemetry of a notification.
    func telemetry(of id: String, now: Int64) throws(RefusedCall) -> MessageTelemetry? {
        try connection.row(
            """
            SELECT number, format, tags, version, accepted, due, started, ended, ending, body
            FROM message LEFT JOIN payload ON payload.message = message.number WHERE id = ?
            """, with: [.text(id)]
        ) { (row) throws(RefusedCall) in
            let (number, format) = (try row.number(0), try row.string(1))
            guard let version = APIVersion(try row.string(3)) else { throw .unreadable }
            let (accepted, due) = (try row.number(4), try row.number(5))
            let (started, ended) = (row.integer(6), row.integer(7))
            let state =
                if let ending = row.integer(8) { Ending(rawValue: ending)?.state } else if started != nil { "Processing" } else {
                    due > accepted && due > now ? "Scheduled" : "Enqueued"
                }
            guard let state else { throw .unreadable }
            return MessageTelemetry(
                id: id, body: row.bytes(9), tags: row.optionalString(2), platform: HubPlatform(format: format),
                apiVersion: version, queuedAt: due,
                shown: .init(state: state, startedAt: started, endedAt: ended, counts: try counts(of: number)))
        }
    }

    private func counts(of number: Int64) throws(RefusedCall) -> OutcomeCounts {
        let entries = try connection.rows(
            "SELECT platform, name, count FROM message_count WHERE message = ? ORDER BY ordinal", with: [.number(number)]
        ) { (row) throws(RefusedCall) in
            (platform: try HubPlatform.coded(row.number(0)), name: try row.string(1), count: Int(try row.number(2)))
        }
        var counts = OutcomeCounts()
        for entry in entries { counts.add(entry.name, on: entry.platform, count: entry.count) }
        return counts
    }

    /// Removes notifications that ended before a time and have no feedback any more, at most `limit`. Returns their number.
    func remove(endedBefore time: Int64, limit: Int) throws(RefusedCall) -> Int {
        let numbers = try connection.rows(
            """
            SELECT number FROM message WHERE ended IS NOT NULL AND ended < ?
            AND NOT EXISTS (SELECT 1 FROM refusal WHERE refusal.message = message.number) ORDER BY ended LIMIT ?
            """, with: [.number(time), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in try row.number(0) }
        for number in numbers {
            try connection.run("DELETE FROM message_count WHERE message = ?", with: [.number(number)])
            try connection.run("DELETE FROM message WHERE number = ?", with: [.number(number)])
        }
        return numbers.count
    }
}

extension HubPlatform {
    /// The platform of a code in a file.
    static func coded(_ code: Int64) throws(RefusedCall) -> HubPlatform {
        guard let platform = allCases.first(where: { $0.code == code }) else { throw .unreadable }
        return platform
    }
}

extension RowValue {
    /// The bytes of a text.
    static func text(_ text: String?) -> RowValue { .bytes(text.map { Array($0.utf8) }) }
}

extension Statement {
    /// A text that is never missing.
    func string(_ column: Int) throws(RefusedCall) -> String { String(decoding: try blob(column), as: UTF8.self) }

    /// A text, or nil where there is none.
    func optionalString(_ column: Int) -> String? { bytes(column).map { String(decoding: $0, as: UTF8.self) } }
}
