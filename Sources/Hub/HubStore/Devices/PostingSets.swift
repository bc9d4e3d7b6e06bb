import HubServer
import SQLite

/// A set of registrations that is looked through in ascending order, a row at a time.
protocol PostingSet: AnyObject {
    /// The first of the set at a place or behind it, within the window. Places never go back.
    func first(from place: Posting) throws(RefusedCall) -> Posting?

    /// A place before which the set has none from a place on, wherever the window ends. Nil if it has none behind it.
    func bound(from place: Posting) throws(RefusedCall) -> Posting?
}

/// The devices that sets are looked through for at a time. Sets that have nothing in common would be looked through to their ends else.
final class PostingWindow {
    /// The row of the first device behind it.
    var end: Int64 = 0
    /// Rows that were looked at, in all windows.
    fileprivate(set) var lookedAtCount = 0
}

/// The registrations of a tag, or all.
final class StoredPostings: PostingSet {
    /// Rows that are stepped over before a new look-up is cheaper.
    private static let patience = 16

    private let connection: HubConnection
    private let statement: Statement
    private let tag: Int64?
    private let end: Int64
    private let window: PostingWindow
    private var current: Posting?
    private var (isOpen, isAtEnd) = (false, false)

    /// The registrations whose devices' rows are below `end`: those of a tag, or all of them.
    init(
        of tag: Int64?, before end: Int64, in window: PostingWindow, on connection: HubConnection
    ) throws(RefusedCall) {
        (self.connection, self.tag, self.end, self.window) = (connection, tag, end, window)
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
        guard let found = try bound(from: place), found.device < window.end else { return nil }
        return found
    }

    func bound(from place: Posting) throws(RefusedCall) -> Posting? {
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
        window.lookedAtCount += 1
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
        try least { (set) throws(RefusedCall) in try set.first(from: place) }
    }

    func bound(from place: Posting) throws(RefusedCall) -> Posting? {
        try least { (set) throws(RefusedCall) in try set.bound(from: place) }
    }

    private func least(
        of look: (any PostingSet) throws(RefusedCall) -> Posting?
    ) throws(RefusedCall) -> Posting? {
        var least: Posting?
        for set in sets {
            guard let found = try look(set) else { continue }
            least = least.map { min($0, found) } ?? found
        }
        return least
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

    func bound(from place: Posting) throws(RefusedCall) -> Posting? {
        var bound = place
        for set in sets {
            guard let found = try set.bound(from: bound) else { return nil }
            bound = found
        }
        return bound
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
