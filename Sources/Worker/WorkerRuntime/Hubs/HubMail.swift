import Synchronization

/// The hubs that other threads have news of, for their loop, by number.
final class HubMail: Sendable {
    private let numbers = Mutex<[Int]>([])

    /// Notes that there is news of a hub. Whoever posts it wakes the loop afterwards.
    func post(_ number: Int) { numbers.withLock { if !$0.contains(number) { $0.append(number) } } }

    /// Takes the hubs of which there is news.
    func take() -> [Int] {
        numbers.withLock { numbers in
            guard !numbers.isEmpty else { return [] }
            defer { numbers.removeAll(keepingCapacity: true) }
            return numbers
        }
    }
}
