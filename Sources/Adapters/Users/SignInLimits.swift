public import Basics

/// Decides whether a password is checked now, and makes those wait who failed: addresses, names, and both together.
///
/// Pure: it reads no clock and checks nothing. Its memory is fixed, each question takes constant time. One owner, not thread-safe.
///
/// An address waits for its own failures alone. A name that many guess at is held for addresses that failed themselves, so no one locks
/// its owner out. An address from which a name signed in has a way of its own for that name, with failures of its own. A user's name
/// never waits for the guesses at names that no user has, even where all come from one address.
public struct SignInLimits: Sendable {
    /// Someone who wants to sign in.
    public struct Attempt: Sendable {
        /// The network that the attempt comes from.
        public let network: ClientNetwork
        /// The name as the client wrote it.
        public let name: String
        /// True if a user has exactly this name.
        public let isUser: Bool

        /// An attempt of these parts.
        public init(from network: ClientNetwork, as name: String, isUser: Bool) {
            self.network = network
            self.name = name
            self.isUser = isUser
        }
    }

    /// The way to treat an attempt.
    public enum Decision: Sendable, Equatable {
        /// The password may be checked, in its turn.
        case check(SignInRank)
        /// It must not be checked before so many milliseconds have passed, 1 to 300,000.
        case wait(milliseconds: Int64)
    }

    /// The number of failures that cost nothing: of an address, of a name, and of a name at an address where it signed in.
    public static let freeFailures = 3
    /// The number of failures of an address that cost the users behind it nothing who never signed in there. More let them wait
    /// for 30 s at most, because one guesser may share the address with many users.
    public static let freeFailuresAtUsers = 20
    /// Of how many users and addresses it is known that the one signed in from the other.
    private static let knownAddressLimit = 20_000

    /// All failures of an address.
    private var addresses = FailureTable()
    /// Failures of an address at names that users have.
    private var addressesAtUsers = FailureTable()
    private var names = FailureTable()
    /// Failures of users at addresses from which they signed in before.
    private var knownAddresses: [UInt64: Failures] = [:]
    /// The keys of `knownAddresses`, the oldest first.
    private var order = FIFO<UInt64>()

    /// No one has failed.
    public init() {}

    /// Decides about an attempt. Changes nothing.
    ///
    /// - Parameters:
    ///   - attempt: Who tries.
    ///   - now: The present.
    /// - Returns: Whether to check the password. What waits for its turn must be decided again then.
    public func decision(on attempt: Attempt, now: MonotonicTime) -> Decision {
        if let own = knownFailures(of: attempt) {
            let wait = own.wait(after: Self.freeFailures, at: now)
            return wait > 0 ? .wait(milliseconds: wait) : .check(own.count(at: now) == 0 ? .expected : .user)
        }
        let key = Self.key(attempt.network)
        let (all, atUsers) = (addresses[key], addressesAtUsers[key])
        var wait = atUsers.wait(after: Self.freeFailuresAtUsers, longest: 30, at: now)
        if !attempt.isUser { wait = max(wait, all.wait(after: Self.freeFailures, at: now)) }
        if (attempt.isUser ? atUsers : all).count(at: now) >= Self.freeFailures {
            wait = max(wait, names[Self.key(attempt.name)].wait(after: Self.freeFailures, at: now))
        }
        if wait > 0 { return .wait(milliseconds: wait) }
        guard attempt.isUser else { return .check(.stranger) }
        return .check(atUsers.count(at: now) == 0 ? .expected : .user)
    }

    /// Counts a wrong password.
    public mutating func noteFailure(of attempt: Attempt, now: MonotonicTime) {
        if knownFailures(of: attempt) != nil {
            knownAddresses[Self.key(attempt), default: Failures()].add(at: now)
            return
        }
        addresses.add(Self.key(attempt.network), at: now)
        if attempt.isUser { addressesAtUsers.add(Self.key(attempt.network), at: now) }
        names.add(Self.key(attempt.name), at: now)
    }

    /// Gives a user whose password was right a way of its own from this address. It takes back no failure: those who guess may be
    /// users, too.
    public mutating func noteSuccess(of attempt: Attempt) {
        let key = Self.key(attempt)
        guard attempt.isUser, knownAddresses[key] == nil else { return }
        if knownAddresses.count >= Self.knownAddressLimit, let oldest = order.popFirst() { knownAddresses[oldest] = nil }
        knownAddresses[key] = Failures()
        order.append(key)
    }

    /// The failures of the user at an address from which that user signed in, or nil for any other attempt.
    private func knownFailures(of attempt: Attempt) -> Failures? {
        attempt.isUser ? knownAddresses[Self.key(attempt)] : nil
    }

    private static func key(_ attempt: Attempt) -> UInt64 { key(Pair(network: attempt.network, name: attempt.name)) }

    /// A hash with the process's random seed.
    private static func key(_ value: some Hashable) -> UInt64 {
        UInt64(bitPattern: Int64(value.hashValue))
    }

    private struct Pair: Hashable {
        let network: ClientNetwork
        let name: String
    }
}
