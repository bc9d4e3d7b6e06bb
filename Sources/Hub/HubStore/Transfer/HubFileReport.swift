import HubServer
import SQLite

/// The result of a check of a hub's file.
package struct HubFileReport: Sendable, Equatable {
    package fileprivate(set) var deviceCount: Int64 = 0
    package fileprivate(set) var registrationCount: Int64 = 0
    package fileprivate(set) var installationCount: Int64 = 0
    /// Notifications that are not at their end.
    package fileprivate(set) var unfinishedCount: Int64 = 0
    /// One sentence for each thing that is wrong. None names a value of the file.
    package fileprivate(set) var problems: [String] = []
}

extension HubFile {
    /// Checks all of a file: its pages, the rows that belong together, and every value of devices. Another process may have it open.
    ///
    /// - Parameters:
    ///   - path: The file, which exists.
    ///   - handleKey: The key of its handles, or nil where they are plain.
    /// - Returns: The counts, and what is wrong.
    /// - Throws: Why it cannot be looked at.
    package static func check(path: String, handleKey: [UInt8]?) throws(HubFileError) -> HubFileReport {
        let opening = try HubFileOpening(HubFileLock.resolved(path), key: handleKey, schema: .current)
        var report = HubFileReport()
        do throws(HubFileError) {
            let connection = try opening.visitor()
            try opening.checkSeal(in: connection.database)
            do throws(SQLiteError) {
                try connection.database.read { () throws(SQLiteError) in try report.fill(from: connection.database) }
            } catch {
                throw HubFileError(error, of: path)
            }
            if report.problems.isEmpty { report.addUnreadable(of: connection) }
        } catch {
            guard case .damaged(_, let reason) = error else { throw error }
            report.problems.append(reason)
        }
        return report
    }
}

extension HubFileReport {
    fileprivate mutating func fill(from database: Database) throws(SQLiteError) {
        let integrity = try database.prepare("PRAGMA integrity_check")
        while try integrity.step() {
            let lines = integrity.text(0)?.split(separator: "\n").map(String.init) ?? []
            problems += lines.filter { $0 != "ok" && !$0.hasPrefix("***") }
        }
        // Rows of a file whose pages contradict one another prove nothing.
        guard problems.isEmpty else { return }
        for (claim, violations) in DeviceTables.rules + MessageTables.rules {
            let count = try database.integer(violations) ?? 0
            if count > 0 { problems.append("not always true, \(count) times: \(claim)") }
        }
        deviceCount = try database.integer("SELECT count(*) FROM device") ?? 0
        registrationCount = try database.integer("SELECT count(*) FROM registration") ?? 0
        installationCount = try database.integer("SELECT count(*) FROM installation") ?? 0
        unfinishedCount = try database.integer(MessageTables.unfinished) ?? 0
    }

    /// Notes the devices' rows whose values cannot be understood.
    fileprivate mutating func addUnreadable(of connection: HubConnection) {
        do throws(RefusedCall) {
            let count = try connection.snapshot { (connection) throws(RefusedCall) in
                try FileBook(connection).countUnreadable()
            }
            if count.registrations > 0 { problems.append("\(count.registrations) registrations cannot be read") }
            if count.installations > 0 { problems.append("\(count.installations) installations cannot be read") }
        } catch {
            problems.append("the rows of devices cannot be read")
        }
    }
}
