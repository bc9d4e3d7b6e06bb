import HubServer

/// The rows of tags, in lower case, and of their postings within one reading or change.
struct TagRows {
    private let connection: HubConnection
    /// Tags that were looked for already.
    private var known: [[UInt8]: Int64] = [:]
    /// Tags that have lost a posting in this change.
    private var touched: Set<[UInt8]> = []

    init(of connection: HubConnection) { self.connection = connection }

    /// The number of a tag that a registration has.
    mutating func id(of tag: [UInt8]) throws(RefusedCall) -> Int64? {
        if let id = known[tag] { return id }
        let id = try connection.row("SELECT id FROM tag WHERE name = ?", with: [.bytes(tag)]) {
            (row) throws(RefusedCall) in try row.number(0)
        }
        known[tag] = id
        return id
    }

    /// The lowest sequence numbers of a tag's registrations, from one on, ascending.
    func sequences(of id: Int64, from start: Int64, limit: Int) throws(RefusedCall) -> [Int64] {
        // The postings are in the order of devices, so the lowest are kept while all go by.
        try connection.rows(
            "SELECT registration FROM tagged WHERE tag = ? AND registration >= ? ORDER BY registration LIMIT ?",
            with: [.number(id), .number(start), .number(Int64(limit))]
        ) { (row) throws(RefusedCall) in try row.number(0) }
    }

    /// Adds a registration to the postings of tags. New ones take their numbers from `next`.
    mutating func add(_ posting: Posting, to tags: Set<[UInt8]>, numberedFrom next: inout Int64) throws(RefusedCall) {
        for tag in tags {
            let id: Int64
            if let found = try self.id(of: tag) {
                id = found
            } else {
                id = next
                next += 1
                try connection.run("INSERT INTO tag VALUES (?, ?)", with: [.bytes(tag), .number(id)])
                known[tag] = id
            }
            try connection.run(
                "INSERT INTO tagged VALUES (?, ?, ?)", with: [.number(id), .number(posting.device), .number(posting.sequence)])
        }
    }

    /// Takes a registration from the postings of its tags.
    mutating func remove(_ posting: Posting, from tags: Set<[UInt8]>) throws(RefusedCall) {
        for tag in tags {
            guard let id = try id(of: tag) else { throw .unreadable }
            try connection.run(
                "DELETE FROM tagged WHERE tag = ? AND device = ? AND registration = ?",
                with: [.number(id), .number(posting.device), .number(posting.sequence)])
            touched.insert(tag)
        }
    }

    /// Removes the tags that have lost all their postings.
    mutating func removeEmpty() throws(RefusedCall) {
        for tag in touched {
            guard let id = try id(of: tag) else { continue }
            let isUsed = try connection.row("SELECT 1 FROM tagged WHERE tag = ? LIMIT 1", with: [.number(id)]) { _ in true }
            guard isUsed == nil else { continue }
            try connection.run("DELETE FROM tag WHERE name = ?", with: [.bytes(tag)])
            known[tag] = nil
        }
        touched = []
    }
}
