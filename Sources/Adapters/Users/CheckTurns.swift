import Basics

/// The rank that decides which passwords are checked first.
public enum SignInRank: Int, Sendable, CaseIterable {
    /// A user, and no one failed as a user from the same address, or one at an address of its own who did not fail there.
    case expected
    /// Another user.
    case user
    /// No user has the name. It is checked all the same, so that the time does not say so.
    case stranger
}

/// The passwords that wait to be checked: one takes a processor for some 50 ms, and whoever knows none can ask for it.
///
/// Of eight turns one goes to each of the later ranks, and all others to the first rank in which anything waits. Within a rank addresses
/// take turns. An address may hold no more places than its rank has left, so that there is always room for another. Pure; one owner, not
/// thread-safe.
public struct CheckTurns<Check: Sendable>: Sendable {
    /// The outcome of a wish to wait.
    public enum Entry: Sendable, Equatable {
        /// It waits.
        case waits
        /// Too many of its address wait.
        case addressIsFull
        /// Too many wait.
        case isFull
    }

    fileprivate struct Line: Sendable {
        var count = 0
        var waiting: [ClientNetwork: FIFO<Check>] = [:]
        /// The addresses in `waiting`, in the order of their turns.
        var order = FIFO<ClientNetwork>()
    }

    private var lines = SignInRank.allCases.map { _ in Line() }
    private var turn = 0

    /// Nothing waits.
    public init() {}

    /// The most that may wait in a rank. The expected ones take 2.4 s to check when nothing else waits, and 3.2 s beside all others.
    public static func limit(of rank: SignInRank) -> Int { rank == .stranger ? 16 : 48 }

    /// The number of checks that wait.
    public var count: Int { lines.reduce(0) { $0 + $1.count } }

    /// Lets one more wait.
    ///
    /// - Parameters:
    ///   - check: What waits.
    ///   - network: Where it comes from.
    ///   - rank: Its rank.
    /// - Returns: Whether it waits, or why it does not.
    public mutating func put(_ check: Check, from network: ClientNetwork, rank: SignInRank) -> Entry {
        let left = Self.limit(of: rank) - lines[rank.rawValue].count
        guard left > 0 else { return .isFull }
        let held = lines[rank.rawValue].waiting[network]?.count ?? 0
        guard held < left else { return .addressIsFull }
        lines[rank.rawValue].waiting[network, default: FIFO()].append(check)
        lines[rank.rawValue].count += 1
        if held == 0 { lines[rank.rawValue].order.append(network) }
        return .waits
    }

    /// Takes the one whose turn it is. Nil when nothing waits.
    public mutating func take() -> Check? {
        turn = (turn + 1) % 8
        let preferred: SignInRank = turn == 0 ? .stranger : turn == 4 ? .user : .expected
        for rank in [preferred] + SignInRank.allCases where lines[rank.rawValue].count > 0 {
            return lines[rank.rawValue].take()
        }
        return nil
    }
}

extension CheckTurns.Line {
    /// The first of the address whose turn it is, which goes behind the others then.
    fileprivate mutating func take() -> Check? {
        guard let network = order.popFirst() else { return nil }
        let check = waiting[network]?.popFirst()
        if waiting[network]?.count == 0 { waiting[network] = nil } else { order.append(network) }
        count -= 1
        return check
    }
}
