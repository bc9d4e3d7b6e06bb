import HubServer

/// The rows of tags, in lower case, and of their postings within one reading or change.
///
/// Most registrations are written again with the tags that they had. So a posting that goes waits for one of the same tag and device that
/// comes: one row is changed then, and the tag is known to be in use.
struct TagRows {
    /// The facts that two postings share of which one may become the other.
    private struct Place: Hashable {
        let tag: Int64
        let device: Int64
    }

    private let connection: HubConnection
    /// Tags that were looked for already.
    private var known: [[UInt8]: Int64] = [:]
    /// Tags that have lost a posting in this change.
    private var touched: Set<[UInt8]> = []
    /// The sequence numbers of postings that go, and the names of their tags.
    private var leaving: [Place: (tag: [UInt8], sequences: [Int64])] = [:]

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
    mutating func sequences(of id: Int64, from start: Int64, limit: Int) throws(RefusedCall) -> [Int64] {
        try removeLeaving()
        // The postings are in the order of devices, so the lowest are kept while all go by.
        return try connection.rows(
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
            if let former = leaving[Place(tag: id, device: posting.device)]?.sequences.popLast() {
                try connection.run(
                    "UPDATE tagged SET registration = ? WHERE tag = ? AND device = ? AND registration = ?",
                    with: [.number(posting.sequence), .number(id), .number(posting.device), .number(former)])
            } else {
                try connection.run(
                    "INSERT INTO tagged VALUES (?, ?, ?)",
                    with: [.number(id), .number(posting.device), .number(posting.sequence)])
            }
        }
    }

    /// Takes a registration from the postings of its tags.
    mutating func remove(_ posting: Posting, from tags: Set<[UInt8]>) throws(RefusedCall) {
        for tag in tags {
            guard let id = try id(of: tag) else { throw .unreadable }
            leaving[Place(tag: id, device: posting.device), default: (tag, [])].sequences.append(posting.sequence)
        }
    }

    /// Removes the postings that go. Nothing of them may be seen from now on.
    mutating func removeLeaving() throws(RefusedCall) {
        for (place, (tag, sequences)) in leaving {
            for sequence in sequences {
                try connection.run(
                    "DELETE FROM tagged WHERE tag = ? AND device = ? AND registration = ?",
                    with: [.number(place.tag), .number(place.device), .number(sequence)])
                touched.insert(tag)
            }
        }
        leaving = [:]
    }

    /// Removes the tags that have lost all their postings.
    mutating func removeEmpty() throws(RefusedCall) {
        try removeLeaving()
        for tag in touched {
            guard let id = try id(of: tag) else { continue }
            let sql: StaticString = "SELECT 1 FROM tagged WHERE tag = ? LIMIT 1"
            guard try connection.row(sql, with: [.number(id)], read: { _ in true }) == nil else { continue }
            try connection.run("DELETE FROM tag WHERE name = ?", with: [.bytes(tag)])
            known[tag] = nil
        }
        touched = []
    }
}
