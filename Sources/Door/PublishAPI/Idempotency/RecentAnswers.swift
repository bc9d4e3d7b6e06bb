import Basics
import GatewayAPI

/// The answers of late, within a bound of memory: the oldest one of whoever has most makes room for the newest. So no one's answers leave for
/// those of another who has more. Without clock. Each step takes the logarithm of the number of parties.
struct RecentAnswers: Sendable {
    /// Bytes that one answer takes beside its own, roughly: two digests and their places.
    private static let overhead = 400

    private struct Entry: Sendable {
        let remembered: RememberedAnswer
        let until: MonotonicTime
    }

    private let byteLimit: Int
    private var bytes = Holdings<Party?>()
    private var entries: [IdempotencyScope: Entry] = [:]
    /// The scopes of `entries` by their parties, in the order in which they came.
    private var orders: [Party?: FIFO<IdempotencyScope>] = [:]

    /// Remembers nothing. Answers may take `byteLimit` bytes, and one alone more.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The number of answers.
    package var count: Int { entries.count }

    package func answer(to scope: IdempotencyScope, now: MonotonicTime) -> RememberedAnswer? {
        guard let entry = entries[scope], now < entry.until else { return nil }
        return entry.remembered
    }

    /// Remembers an answer until then, in place of another of the same key.
    mutating func remember(_ remembered: RememberedAnswer, of scope: IdempotencyScope, until: MonotonicTime) {
        let replaced = entries.updateValue(Entry(remembered: remembered, until: until), forKey: scope)
        let old = replaced.map { Self.byteCount(of: $0.remembered) } ?? 0
        bytes.change(scope.party, by: Self.byteCount(of: remembered) - old)
        if replaced == nil { orders[scope.party, default: FIFO()].append(scope) }
        while bytes.total > byteLimit, entries.count > 1, let party = bytes.greediest,
            let oldest = orders[party]?.popFirst(), let entry = entries.removeValue(forKey: oldest)
        {
            bytes.change(party, by: -Self.byteCount(of: entry.remembered))
            if bytes[party] == 0 { orders[party] = nil }
        }
    }

    private static func byteCount(of remembered: RememberedAnswer) -> Int { remembered.answer.byteCount + overhead }
}
