import SQLite
import Testing

@testable import HubServer
@testable import HubStore

/// How SQLite finds the rows of devices.
struct DevicePlanTests {
    @Test func noStatementLooksAtAWholeTable() throws {
        let file = try DeviceFile()
        let device = DeviceKey(platform: .fcmv1, handle: "handle")
        let written = try file.file.change { (connection) throws(RefusedCall) in
            try FileBook.change(on: connection) { (book) throws(RefusedCall) in
                let target = InstallationTarget(pushChannel: "handle", tags: ["a"])
                let installation = StoredInstallation(id: "i", platform: .fcmv1, target: target)
                try book.write(installation, as: installation.registrations { "1-1-1" })
                try book.removeRegistration("1-1-1")
                try book.write(installation, as: installation.registrations { "1-1-1" })
                try book.markExpired(installation: "i")
                try book.removeInstallation("i")
                try book.write(Registration(id: "2-1-1", platform: .fcmv1, handle: "handle", tags: ["a"]))
                try book.write(Registration(id: "3-1-1", platform: .fcmv1, handle: "handle", tags: ["a"]))
            }
            return try Self.statements(of: connection)
        }
        let read = try file.file.read { (connection) throws(RefusedCall) in
            let book = FileBook(connection)
            _ = try book.registrations(of: device)
            _ = try book.end()
            for list in [RegistrationList.all, .tagged("a")] { _ = try book.page(of: list, from: 0, limit: 10) }
            let audience = DeviceAudience(expression: nil, platform: .fcmv1, now: 0)
            _ = try book.registrationCount(of: device)
            _ = try book.installationIDs(behind: nil, limit: 10)
            _ = try book.expiredInstallationIDs(at: 0, limit: 10)
            _ = try book.expiredRegistrationIDs(at: 0, limit: 10)
            _ = try book.devices(of: audience, after: nil, limit: 10)
            return try Self.statements(of: connection)
        }
        let statements = Set(written + read + [StoredPostings.everySQL, StoredPostings.taggedSQL])
        #expect(statements.count > 20)
        let plans = try file.file.read { (connection) throws(RefusedCall) in
            try statements.map { (sql) throws(RefusedCall) in (sql, try Self.plan(of: sql, on: connection)) }
        }
        for (sql, plan) in plans { #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(sql): \(plan)") }
    }

    /// The statements that a connection has prepared (sqlite.org, The SQLITE_STMT Virtual Table).
    private static func statements(of connection: HubConnection) throws(RefusedCall) -> [String] {
        try texts("SELECT sql FROM sqlite_stmt", column: 0, on: connection).filter { sql in
            ["device", "registration", "tag", "installation"].contains { sql.contains($0) } && !sql.contains("sqlite_stmt")
        }
    }

    private static func plan(of sql: String, on connection: HubConnection) throws(RefusedCall) -> [String] {
        try texts("EXPLAIN QUERY PLAN " + sql, column: 3, on: connection)
    }

    private static func texts(
        _ sql: String, column: Int, on connection: HubConnection
    ) throws(RefusedCall) -> [String] {
        try connection.storing { () throws(SQLiteError) in
            let statement = try connection.database.prepare(sql)
            var texts: [String] = []
            while try statement.step() { texts.append(statement.text(column) ?? "") }
            return texts
        }
    }
}
