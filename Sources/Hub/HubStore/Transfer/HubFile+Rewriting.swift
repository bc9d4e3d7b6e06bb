import SQLite

extension HubFile {
    /// Writes all of a file again, so that nothing of removed rows is left in it.
    ///
    /// SQLite overwrites what is removed, but not the copies that stay in unused parts of pages when their rows are moved (sqlite.org,
    /// PRAGMA secure_delete).
    ///
    /// - Parameters:
    ///   - path: The file, which no process has open.
    ///   - handleKey: The key of its handles, or nil where they are plain.
    /// - Throws: Why it is as it was. It needs free space of its own length.
    package static func rewrite(path: String, handleKey: [UInt8]?) throws(HubFileError) {
        let lock = try HubFileLock(path)
        defer { lock.release() }
        let connection = try HubFileOpening(lock.path, key: handleKey, schema: .current).writer(cacheByteCount: 4 << 20)
        let isWhole: Bool
        do throws(SQLiteError) {
            try connection.database.execute("VACUUM")
            isWhole = try connection.database.emptyLog(waiting: HubFileOpening.patience)
        } catch {
            throw HubFileError(error, of: path)
        }
        guard isWhole else { throw .unusable(path: path, reason: "another process reads it") }
    }
}
