import Basics

/// Whose work may be done now: no user has more than a few pieces of it in line at a time, so whoever else comes waits for no more than
/// those. Without clock and thread; each step takes constant time.
struct UserTurns<Work: Sendable>: Sendable {
    /// What becomes of a piece of work.
    enum Admission: Sendable, Equatable {
        /// It is in line: to be done as soon as those before it are.
        case inLine
        /// It is kept until ``finish(of:)`` gives it back.
        case kept
        /// This user has too much that waits.
        case refusedToUser
        /// All users together have too much that waits.
        case refusedToAll
    }

    private struct User {
        /// What is in line or being done.
        var count = 1
        var kept = FIFO<Work>()
    }

    private let lineLimit: Int
    private let userLimit: Int
    private let limit: Int
    private var users: [String: User] = [:]
    /// What is not done yet, of all users.
    private(set) var count = 0

    /// No user has work. `lineLimit`, at least 1, is how much of one user may be in line or being done at a time, `userLimit` how
    /// much of one user may be there in all, and `limit` of all.
    init(lineLimit: Int, userLimit: Int, limit: Int) {
        self.lineLimit = lineLimit
        self.userLimit = userLimit
        self.limit = limit
    }

    /// The users who have work.
    var userCount: Int { users.count }

    /// Adds a piece of work; one that is refused is not kept.
    mutating func add(_ work: Work, of user: String) -> Admission {
        let (present, kept) = users[user].map { ($0.count, $0.kept.count) } ?? (0, 0)
        guard present + kept < userLimit else { return .refusedToUser }
        guard count < limit else { return .refusedToAll }
        count += 1
        if present == 0 {
            users[user] = User()
        } else if present < lineLimit {
            users[user]?.count += 1
        } else {
            users[user]?.kept.append(work)
            return .kept
        }
        return .inLine
    }

    /// Notes that a piece of a user's work in line is done. Returns the user's oldest that was kept, which is in line now.
    mutating func finish(of user: String) -> Work? {
        guard let present = users[user]?.count else { return nil }
        count -= 1
        if let next = users[user]?.kept.popFirst() { return next }
        if present == 1 { users[user] = nil } else { users[user]?.count = present - 1 }
        return nil
    }
}
