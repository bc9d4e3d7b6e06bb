import HubServer
import SQLite

/// A set of registrations that is looked through in ascending order, a row at a time.
protocol PostingSet: AnyObject {
    /// The first of the set at a place or behind it. Places never go back.
    func first(from place: Posting) throws(RefusedCall) -> Posting?
}

/// The registrations of a tag, or all.
final class StoredPostings: PostingSet {
    /// Rows that are stepped over before a new look-up is cheaper.
    private static let patience = 16

    private let connection: HubConnection
    private let statement: Statement
    private let tag: Int64?
    private let end: Int64
    private var current: Posting?
    private var (isOpen, isAtEnd) = (false, false)

    /// The registrations whose devices' rows are below `end`: those of a tag, or all of them.
    init(of tag: Int64?, before end: Int64, on connection: HubConnection) throws(RefusedCall) {
        (self.connection, self.tag, self.end) = (connection, tag, end)
        // A statement of its own: an expression goes through several tags at once.
        statement = try connection.storing { () throws(SQLiteError) in
            try connection.database.prepare(tag == nil ? Self.everySQL : Self.taggedSQL)
        }
    }

    static let everySQL = """
        SELECT device, sequence FROM registration WHERE device >= ? AND device < ? ORDER BY device, sequence
        """
    static let taggedSQL = """
        SELECT device, registration FROM tagged WHERE device >= ? AND device < ? AND tag = ? ORDER BY device, registration
        """

    func first(from place: Posting) throws(RefusedCall) -> Posting? {
        if let current, current >= place { return current }
        guard !isAtEnd else { return nil }
        return try connection.storing { () throws(SQLiteError) in
            if isOpen {
                for _ in 0..<Self.patience {
                    try step()
                    if isAtEnd { return nil }
                    if let current, current >= place { return current }
                }
            }
            try open(at: place.device)
            repeat { try step() } while !isAtEnd && current.map { $0 < place } ?? false
            return current
        }
    }

    private func open(at device: Int64) throws(SQLiteError) {
        statement.reset()
        try statement.bind([.number(device), .number(end)] + (tag.map { [.number($0)] } ?? []))
        isOpen = true
    }

    private func step() throws(SQLiteError) {
        if try statement.step(), let device = statement.integer(0), let sequence = statement.integer(1) {
            current = Posting(device: device, sequence: sequence)
        } else {
            (current, isAtEnd) = (nil, true)
        }
    }
}

/// The registrations that are in at least one of some sets. In none, without sets.
final class PostingUnion: PostingSet {
    private let sets: [any PostingSet]

    init(of sets: [any PostingSet]) { self.sets = sets }

    func first(from place: Posting) throws(RefusedCall) -> Posting? {
        var first: Posting?
        for set in sets {
            guard let found = try set.first(from: place) else { continue }
            first = first.map { min($0, found) } ?? found
        }
        return first
    }
}

/// The registrations that are in all of some sets, and in none of others.
final class PostingIntersection: PostingSet {
    private let sets: [any PostingSet]
    private let excluded: [any PostingSet]

    /// - Parameters:
    ///   - sets: At least one set.
    ///   - excluded: Sets whose registrations are left out.
    init(of sets: [any PostingSet], without excluded: [any PostingSet]) { (self.sets, self.excluded) = (sets, excluded) }

    func first(from place: Posting) throws(RefusedCall) -> Posting? {
        var candidate = place
        while let common = try common(from: candidate) {
            if try !isExcluded(common) { return common }
            candidate = common.next
        }
        return nil
    }

    /// The first that all sets have. The one that is farthest leads the others.
    private func common(from place: Posting) throws(RefusedCall) -> Posting? {
        var (candidate, isCommon) = (place, false)
        while !isCommon {
            let leader = candidate
            for set in sets {
                guard let found = try set.first(from: candidate) else { return nil }
                candidate = found
            }
            isCommon = candidate == leader
        }
        return candidate
    }

    private func isExcluded(_ posting: Posting) throws(RefusedCall) -> Bool {
        for set in excluded where try set.first(from: posting) == posting { return true }
        return false
    }
}
