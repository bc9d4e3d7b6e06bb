import EventLoop
import JobSupport
import Kafka
import Synchronization

/// Asks for the positions of many groups, several at once.
final class PositionSurvey: Sendable {
    private struct State {
        var next = 0
        var answers: [Int: [Int64?]] = [:]
        var failure: KafkaError?
    }

    /// The groups that are asked at a time, by a client each.
    private static let width = 16

    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let groups: [String]
    private let partitions: [TopicPartition]
    private let context: JobContext

    /// A survey that has asked nothing yet.
    init(_ groups: [String], partitions: [TopicPartition], context: JobContext) {
        (self.groups, self.partitions, self.context) = (groups, partitions, context)
    }

    /// The positions of each group in the partitions, in their order. Throws the first failure, after which no other group is asked.
    func positions() throws(KafkaError) -> [[Int64?]] {
        let threads = (0..<min(Self.width, groups.count)).map { _ in ServiceThread() }
        for thread in threads { thread.start(named: "pushfan-groups") { [self] in work() } }
        for thread in threads { thread.waitForEnd() }
        let (answers, failure) = state.withLock { ($0.answers, $0.failure) }
        if let failure { throw failure }
        return groups.indices.map { answers[$0] ?? partitions.map { _ in nil } }
    }

    private func work() {
        while let index = takeNext() {
            do throws(KafkaError) {
                let group = MemberlessGroup(context.kafka, id: groups[index])
                let offsets = try group.committed(partitions, timeout: context.timeout).map(\.offset)
                state.withLock { $0.answers[index] = offsets }
            } catch {
                state.withLock { $0.failure = $0.failure ?? error }
            }
        }
    }

    private func takeNext() -> Int? {
        state.withLock { state in
            guard state.failure == nil, state.next < groups.count, !context.isCancelled() else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }
}
