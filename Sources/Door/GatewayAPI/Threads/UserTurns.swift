import Basics

/// Whose work may be done now: no user has more than a few pieces of it in line at a time, so whoever else comes waits for no more than
/// those. Users of one group, such as the keys of a tenant, share what their group may have, and take turns. Without clock and thread; each
/// step takes constant time.
package struct UserTurns<Work: Sendable>: Sendable {
    /// What becomes of a piece of work.
    package enum Admission: Sendable, Equatable {
        /// It is in line: to be done as soon as those before it are.
        case inLine
        /// It is kept until ``finish(of:in:)`` gives it back.
        case kept
        /// This user, or its group, has too much that waits.
        case refusedToUser
        /// All users together have too much that waits.
        case refusedToAll
    }

    private struct User {
        /// The pieces in line or being done.
        var inLine = 0
        var kept = FIFO<Work>()
        /// It is among those who wait for room of their group.
        var waits = false
    }

    private struct Group {
        /// The pieces that are not done yet, and those of them in line or being done.
        var (count, inLine) = (0, 0)
        /// Users whose own share has room, in the order of their turns. There are none while the group's has.
        var waiting = FIFO<Name>()
    }

    /// A user in a group, or a group alone. A user without one is a group of one.
    private struct Name: Hashable {
        let user: String?
        let group: String?

        var ofGroup: Name { group == nil ? self : Name(user: nil, group: group) }
    }

    private let lineLimit: Int
    private let userLimit: Int
    private let groupLimits: (line: Int, all: Int)
    private let limit: Int
    private var users: [Name: User] = [:]
    private var groups: [Name: Group] = [:]
    /// What is not done yet, of all users.
    package private(set) var count = 0

    /// No user has work. `lineLimit`, at least 1, is how much of one user may be in line or being done at a time, `userLimit` how
    /// much of one user may be there in all, `groupLimits` the same two of one group, and `limit` of all.
    package init(lineLimit: Int, userLimit: Int, groupLimits: (line: Int, all: Int) = (.max, .max), limit: Int) {
        self.lineLimit = lineLimit
        self.userLimit = userLimit
        self.groupLimits = groupLimits
        self.limit = limit
    }

    /// The users who have work.
    var userCount: Int { users.count }

    /// Adds a piece of work; one that is refused is not kept. The rest of work that was admitted before is not refused.
    package mutating func add(_ work: Work, of user: String, in group: String? = nil, isAdmitted: Bool = false) -> Admission {
        let name = Name(user: user, group: group)
        let present = users[name].map { $0.inLine + $0.kept.count } ?? 0
        if !isAdmitted {
            guard present < userLimit, groups[name.ofGroup]?.count ?? 0 < groupLimits.all else { return .refusedToUser }
            guard count < limit else { return .refusedToAll }
        }
        count += 1
        // Taken out, or each change would copy what is kept.
        var (own, all) = (users.removeValue(forKey: name) ?? User(), groups.removeValue(forKey: name.ofGroup) ?? Group())
        all.count += 1
        let hasRoom = own.inLine < lineLimit && all.inLine < groupLimits.line
        if hasRoom {
            own.inLine += 1
            all.inLine += 1
        } else {
            own.kept.append(work)
            enlist(name, having: &own, in: &all)
        }
        (users[name], groups[name.ofGroup]) = (own, all)
        return hasRoom ? .inLine : .kept
    }

    /// Notes that a piece of a user's work in line is done. Returns the oldest that was kept of the user in the group whose turn it is, which
    /// is in line now.
    package mutating func finish(of user: String, in group: String? = nil) -> Work? {
        let name = Name(user: user, group: group)
        guard users[name].map({ $0.inLine > 0 }) ?? false, var all = groups.removeValue(forKey: name.ofGroup),
            var own = users.removeValue(forKey: name)
        else { return nil }
        count -= 1
        own.inLine -= 1
        all.inLine -= 1
        all.count -= 1
        enlist(name, having: &own, in: &all)
        if own.inLine > 0 || !own.kept.isEmpty { users[name] = own }
        own = User()
        defer { if all.count > 0 { groups[name.ofGroup] = all } }
        guard let next = all.waiting.popFirst(), var other = users.removeValue(forKey: next) else { return nil }
        let work = other.kept.popFirst()
        other.inLine += 1
        all.inLine += 1
        other.waits = false
        enlist(next, having: &other, in: &all)
        users[next] = other
        return work
    }

    /// Has a user wait for room of its group, who has work, and room in its own share.
    private func enlist(_ name: Name, having own: inout User, in group: inout Group) {
        guard !own.waits, !own.kept.isEmpty, own.inLine < lineLimit else { return }
        own.waits = true
        group.waiting.append(name)
    }
}
