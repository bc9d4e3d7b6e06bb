import Basics

/// The answers of late, within a bound of memory: the oldest makes room for the newest. Without clock. Each step takes constant time.
struct RecentAnswers: Sendable {
    /// Bytes that one answer takes beside its own, roughly: two digests and their places.
    private static let overhead = 400

    private struct Entry: Sendable {
        let remembered: RememberedAnswer
        let until: MonotonicTime
    }

    private let byteLimit: Int
    private var byteCount = 0
    private var entries: [IdempotencyScope: Entry] = [:]
    /// The scopes of `entries`, in the order in which they came.
    private var order = FIFO<IdempotencyScope>()

    /// Remembers nothing. Answers may take `byteLimit` bytes, and one alone more.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The number of answers.
    var count: Int { entries.count }

    func answer(to scope: IdempotencyScope, now: MonotonicTime) -> RememberedAnswer? {
        guard let entry = entries[scope], now < entry.until else { return nil }
        return entry.remembered
    }

    /// Remembers an answer until then, in place of another of the same key.
    mutating func remember(_ remembered: RememberedAnswer, of scope: IdempotencyScope, until: MonotonicTime) {
        let replaced = entries.updateValue(Entry(remembered: remembered, until: until), forKey: scope)
        byteCount += Self.byteCount(of: remembered) - (replaced.map { Self.byteCount(of: $0.remembered) } ?? 0)
        if replaced == nil { order.append(scope) }
        while byteCount > byteLimit, entries.count > 1, let oldest = order.popFirst() {
            if let entry = entries.removeValue(forKey: oldest) { byteCount -= Self.byteCount(of: entry.remembered) }
        }
    }

    private static func byteCount(of remembered: RememberedAnswer) -> Int { remembered.answer.byteCount + overhead }
}
