import HubServer
import SQLite

/// A registration with its row.
struct StoredRegistration {
    let registration: Registration
    let posting: Posting
    /// The bytes of its row.
    let byteCount: Int

    /// The tags of its postings.
    var tags: Set<[UInt8]> { registration.postedTags }
}

extension Registration {
    /// The tags as postings have them.
    var postedTags: Set<[UInt8]> { Set(foldedTags.map { Array($0.utf8) }) }
}

/// The rows of registrations within one reading or change.
struct RegistrationRows {
    private let connection: HubConnection
    private var bodies = TemplateBodies()

    init(of connection: HubConnection) { self.connection = connection }

    /// The registration called `id`.
    mutating func registration(_ id: String) throws(RefusedCall) -> StoredRegistration? {
        try read(
            """
            SELECT r.sequence, r.id, r.device, r.etag, r.written_at, r.expires_at, r.content, r.sealed, d.handle
            FROM registration r JOIN device d ON d.id = r.device WHERE r.id = ?
            """, of: .bytes(RegistrationID.bytes(of: id)))
    }

    /// The registration of a sequence number, unless it has expired by then.
    mutating func registration(at sequence: Int64, notExpiredAt now: Int64? = nil) throws(RefusedCall) -> StoredRegistration? {
        try read(
            """
            SELECT r.sequence, r.id, r.device, r.etag, r.written_at, r.expires_at, r.content, r.sealed, d.handle
            FROM registration r JOIN device d ON d.id = r.device WHERE r.sequence = ?
            """, of: .number(sequence), notExpiredAt: now)
    }

    /// The sequence numbers of a device's registrations, ascending.
    func sequences(of device: Int64) throws(RefusedCall) -> [Int64] {
        try connection.rows("SELECT sequence FROM registration WHERE device = ? ORDER BY sequence", with: [.number(device)]) {
            (row) throws(RefusedCall) in try row.number(0)
        }
    }

    /// The first sequence numbers of all that are there, from one on.
    func sequences(from sequence: Int64, limit: Int) throws(RefusedCall) -> [Int64] {
        try connection.rows(
            "SELECT sequence FROM registration WHERE sequence >= ? ORDER BY sequence LIMIT ?",
            with: [.number(sequence), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in try row.number(0) }
    }

    /// The ids of those that have expired by a time, the first to expire first.
    func expiredIDs(at time: Int64, limit: Int) throws(RefusedCall) -> [String] {
        try connection.rows(
            "SELECT id FROM registration WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
            with: [.number(time), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in RegistrationID.text(of: try row.blob(0)) }.compactMap { $0 }
    }

    /// Adds the row of a registration.
    func add(_ registration: Registration, at posting: Posting, deviceHandle: String) throws(RefusedCall) {
        let packed = PackedRegistration(registration, deviceHandle: deviceHandle)
        var secret: [UInt8]?
        if let hidden = packed.secret { secret = try connection.seal.sealed(hidden) }
        try connection.run(
            "INSERT INTO registration VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            with: [
                .number(posting.sequence), .bytes(RegistrationID.bytes(of: registration.id)), .number(posting.device),
                .number(Int64(registration.etag)), .number(registration.writtenAt), .number(registration.expiresAt),
                .bytes(packed.content), .bytes(secret),
            ])
    }

    /// Removes the row of a registration.
    func remove(at sequence: Int64) throws(RefusedCall) {
        try connection.run("DELETE FROM registration WHERE sequence = ?", with: [.number(sequence)])
    }

    private mutating func read(
        _ sql: StaticString, of value: RowValue, notExpiredAt now: Int64? = nil
    ) throws(RefusedCall) -> StoredRegistration? {
        var bodies = bodies
        defer { self.bodies = bodies }
        let seal = connection.seal
        let found = try connection.row(sql, with: [value]) { (row) throws(RefusedCall) -> StoredRegistration? in
            if let now, let expiry = row.integer(5), expiry <= now { return nil }
            return try Self.stored(row, seal: seal, bodies: &bodies)
        }
        return found ?? nil
    }

    private static func stored(
        _ row: Statement, seal: HandleSeal, bodies: inout TemplateBodies
    ) throws(RefusedCall) -> StoredRegistration {
        let posting = Posting(device: try row.number(2), sequence: try row.number(0))
        guard let id = RegistrationID.text(of: try row.blob(1)), let etag = Int(exactly: try row.number(3)) else {
            throw .unreadable
        }
        let handle = String(decoding: try seal.opened(try row.blob(8)), as: UTF8.self)
        var registration = Registration(
            id: id, etag: etag, platform: try DeviceRows.place(of: posting.device).platform, handle: handle)
        (registration.writtenAt, registration.expiresAt) = (try row.number(4), row.integer(5))
        var secret: [UInt8]?
        if let sealed = row.bytes(7) { secret = try seal.opened(sealed) }
        let packed = PackedRegistration(content: try row.blob(6), secret: secret)
        try packed.unpack(into: &registration, hasTemplate: posting.hasTemplate, bodies: &bodies)
        let byteCount = packed.content.count + (secret?.count ?? 0) + handle.utf8.count
        return StoredRegistration(registration: registration, posting: posting, byteCount: byteCount)
    }
}
