import Basics
import Synchronization

/// The bytes of answers that clients have not taken yet: so many of all together, of which each address has a share. What an address is owed
/// beyond its share is its debt: it takes nothing of the others' room, and until it is taken the address has no other.
final class AnswerBudget: Sendable {
    /// Bytes of an answer that always find room. The usual answer is shorter, and costs no lock.
    static let uncountedByteCount = 4 << 10

    private struct State {
        var shares: Shares<NumericAddress>
        /// The bytes that holders are owed beyond their shares.
        var debts: [NumericAddress?: Int] = [:]
    }

    private let state: Mutex<State>

    /// A budget of `limit` bytes, of which one address may have a quarter.
    init(limit: Int) {
        state = Mutex(State(shares: Shares(places: limit)))
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
        let kind = state.withLock { state -> AnswerRoom.Kind? in
            if state.debts[holder] == nil, state.shares.take(count, for: holder) { return .share }
            guard response.upkeep == .owed else { return nil }
            state.debts[holder, default: 0] += count
            return .debt
        }
        guard let kind else { return nil }
        var admitted = response
        admitted.room = AnswerRoom(count, from: kind, of: holder, in: self)
        return admitted
    }

    /// True if an address has no room left.
    func isSpent(by peer: String) -> Bool {
        let holder = Self.holder(peer)
        return state.withLock { $0.debts[holder] != nil || !$0.shares.admits(holder, amount: Self.uncountedByteCount) }
    }

    fileprivate func giveBack(_ count: Int, to kind: AnswerRoom.Kind, of holder: NumericAddress?) {
        state.withLock { state in
            guard kind == .debt else { return state.shares.give(back: count, of: holder) }
            let left = (state.debts[holder] ?? 0) - count
            state.debts[holder] = left > 0 ? left : nil
        }
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
    /// The account that it is taken from.
    enum Kind: Sendable {
        case share, debt
    }

    private let byteCount: Int
    private let kind: Kind
    private let holder: NumericAddress?
    private let budget: AnswerBudget

    fileprivate init(_ byteCount: Int, from kind: Kind, of holder: NumericAddress?, in budget: AnswerBudget) {
        self.byteCount = byteCount
        self.kind = kind
        self.holder = holder
        self.budget = budget
    }

    deinit { budget.giveBack(byteCount, to: kind, of: holder) }
}
