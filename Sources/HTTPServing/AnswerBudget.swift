import Basics
import Synchronization

/// The bytes of answers that clients have not taken yet: so many of all together, of which each address has a share.
final class AnswerBudget: Sendable {
    /// Bytes of an answer that always find room. The usual answer is shorter, and costs no lock.
    static let uncountedByteCount = 4 << 10

    private let shares: Mutex<Shares<NumericAddress>>

    /// A budget of `limit` bytes, of which one address may have a quarter.
    init(limit: Int) {
        shares = Mutex(Shares(places: limit))
    }

    /// Gives an answer its room for as long as it is kept anywhere.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - peer: The client's address with its port.
    /// - Returns: The same answer, or nil where its client must take others first.
    func admit(_ response: HTTPServerResponse, to peer: String) -> HTTPServerResponse? {
        let count = response.body.count
        guard count > Self.uncountedByteCount, response.upkeep != .shared, response.room == nil else { return response }
        let holder = Self.holder(peer)
        let isTaken = shares.withLock { shares -> Bool in
            if shares.take(count, for: holder) { return true }
            guard response.upkeep == .owed else { return false }
            shares.add(count, to: holder)
            return true
        }
        guard isTaken else { return nil }
        var admitted = response
        admitted.room = AnswerRoom(count, of: holder, in: self)
        return admitted
    }

    /// True if an address has no room left.
    func isSpent(by peer: String) -> Bool {
        let holder = Self.holder(peer)
        return shares.withLock { !$0.admits(holder, amount: Self.uncountedByteCount) }
    }

    fileprivate func giveBack(_ count: Int, of holder: NumericAddress?) {
        shares.withLock { $0.give(back: count, of: holder) }
    }

    /// The holder of a share: an address, of IPv6 its /64.
    private static func holder(_ peer: String) -> NumericAddress? {
        let host = peer.utf8.lastIndex(of: UInt8(ascii: ":")).map { peer[..<$0] } ?? peer[...]
        let bare = host.utf8.first == UInt8(ascii: "[") ? host.dropFirst().dropLast() : host
        guard let address = NumericAddress(bare)?.unmapped else { return nil }
        return address.width == 128 ? address.network(ofBits: 64) : address
    }
}

/// The room of one answer, given back with the last reference to the answer.
final class AnswerRoom: Sendable {
    private let byteCount: Int
    private let holder: NumericAddress?
    private let budget: AnswerBudget

    fileprivate init(_ byteCount: Int, of holder: NumericAddress?, in budget: AnswerBudget) {
        self.byteCount = byteCount
        self.holder = holder
        self.budget = budget
    }

    deinit { budget.giveBack(byteCount, of: holder) }
}
