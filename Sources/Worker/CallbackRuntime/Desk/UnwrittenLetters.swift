import Basics

/// The dead letters of a receiver that could not be written. They are written again after a pause, which grows while none can be.
struct UnwrittenLetters: Sendable {
    /// The first pause and the longest one, in nanoseconds.
    private static let pauses: ClosedRange<Int64> = 1_000_000_000...30_000_000_000

    private var results: [UntakenResult] = []
    /// The numbers of those that are not written yet, also while they are being written again.
    private var numbers: Set<Int> = []
    private var reason = ""
    private var pause: Int64 = 0
    private var due = MonotonicTime.past

    /// The reason for which the last one could not be written, or nil when all are.
    var problem: String? { numbers.isEmpty ? nil : reason }

    /// Takes in one that could not be written.
    mutating func add(_ result: UntakenResult, because reason: String, now: MonotonicTime) {
        if results.isEmpty {
            pause = min(max(2 * pause, Self.pauses.lowerBound), Self.pauses.upperBound)
            due = now + pause
        }
        results.append(result)
        numbers.insert(result.number)
        self.reason = reason
    }

    /// Notes that one is written.
    mutating func noteWritten(_ number: Int) {
        numbers.remove(number)
        if numbers.isEmpty { pause = 0 }
    }

    /// Takes out those that must be written again now, but for those that are not meant any more.
    mutating func takeDue(now: MonotonicTime, where isMeant: (Int) -> Bool) -> [UntakenResult] {
        numbers = numbers.filter(isMeant)
        guard now >= due else { return [] }
        defer { results = [] }
        return results.filter { isMeant($0.number) }
    }
}
