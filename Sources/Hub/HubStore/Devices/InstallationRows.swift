import HubServer
import SQLite

/// The rows of installations within one reading or change.
struct InstallationRows {
    /// A row.
    struct Row {
        let isExpired: Bool
        let document: [UInt8]
        /// The sequence numbers of its registrations, those that are gone included.
        let registrations: [Int64]
        /// The registration that has the channel instead of the document.
        let channelHolder: Int64?
    }

    private let connection: HubConnection
    private var bodies = TemplateBodies()

    init(of connection: HubConnection) { self.connection = connection }

    /// The row of an installation.
    func row(of id: String) throws(RefusedCall) -> Row? {
        let seal = connection.seal
        return try connection.row(
            "SELECT is_expired, document, registrations, channel_holder FROM installation WHERE id = ?",
            with: [.bytes(Array(id.utf8))]
        ) { (row) throws(RefusedCall) in
            var packed = PackedReader(try row.blob(2))
            let registrations = try packed.list { (reader) throws(RefusedCall) in Int64(try reader.number()) }
            return Row(
                isExpired: try row.number(0) != 0, document: try seal.opened(try row.blob(1)), registrations: registrations,
                channelHolder: row.integer(3))
        }
    }

    /// The ids behind one, ascending.
    func ids(behind id: String, limit: Int) throws(RefusedCall) -> [String] {
        try connection.rows(
            "SELECT id FROM installation WHERE id > ? ORDER BY id LIMIT ?",
            with: [.bytes(Array(id.utf8)), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in String(decoding: try row.blob(0), as: UTF8.self) }
    }

    /// The ids of those that have expired by a time, the first to expire first.
    func expiredIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try connection.rows(
            "SELECT id FROM installation WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
            with: [.number(time), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in String(decoding: try row.blob(0), as: UTF8.self) }
    }

    /// The installation of a row.
    mutating func installation(of row: Row, id: String, channel: String?) throws(RefusedCall) -> StoredInstallation {
        var installation = try PackedInstallation.installation(of: row.document, id: id, channel: channel, bodies: &bodies)
        installation.isChannelExpired = row.isExpired
        return installation
    }

    /// Adds the row of an installation.
    func add(_ installation: StoredInstallation, registrations: [Int64], channelHolder: Int64?) throws(RefusedCall) {
        let document = PackedInstallation.bytes(of: installation, leavesOutChannel: channelHolder != nil)
        var packed = PackedWriter()
        packed.append(registrations) { $0.append(Int($1)) }
        try connection.run(
            """
            INSERT INTO installation (id, is_expired, document, registrations, channel_holder, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            with: [
                .bytes(Array(installation.id.utf8)), .number(installation.isChannelExpired ? 1 : 0),
                .bytes(try connection.seal.sealed(document)), .bytes(packed.bytes), .number(channelHolder),
                .number(installation.expiry),
            ])
    }

    /// Keeps the channel in the document, since the registration that has it goes.
    mutating func keep(_ channel: String, of id: String, heldBy sequence: Int64) throws(RefusedCall) {
        guard let row = try row(of: id), row.channelHolder == sequence else { return }
        let installation = try installation(of: row, id: id, channel: channel)
        let document = PackedInstallation.bytes(of: installation, leavesOutChannel: false)
        try connection.run(
            "UPDATE installation SET document = ?, channel_holder = NULL WHERE id = ?",
            with: [.bytes(try connection.seal.sealed(document)), .bytes(Array(id.utf8))])
    }

    /// Notes that the handle of an installation is gone.
    func markExpired(_ id: String) throws(RefusedCall) {
        try connection.run("UPDATE installation SET is_expired = 1 WHERE id = ?", with: [.bytes(Array(id.utf8))])
    }

    /// Removes the row of an installation.
    func remove(_ id: String) throws(RefusedCall) {
        try connection.run("DELETE FROM installation WHERE id = ?", with: [.bytes(Array(id.utf8))])
    }
}
