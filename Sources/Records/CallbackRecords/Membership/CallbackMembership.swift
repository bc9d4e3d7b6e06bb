import Dispatch
import EventLoop
public import Kafka
import Synchronization

/// The place of a process in the group that divides the partitions of results among the processes of the service. It reads nothing.
///
/// A partition that the group wants back is given up only after `onChange` has returned. The thread ends with `close()`, and keeps the
/// membership until then.
public final class CallbackMembership: Sendable {
    private struct State {
        var problem: KafkaError?
        /// The turns since the last problem.
        var turnCount = 0
        var isKnown = false
        var isClosed = false
    }

    /// The interval at which the group is heard, which is what keeps the place in it.
    private static let step = DispatchTimeInterval.milliseconds(200)
    /// The turns after a problem, and after each of these questions, before the group is asked whether it answers.
    private static let questionInterval = 10
    /// The pause before another attempt to join, of the length of a session.
    private static let pause = DispatchTimeInterval.seconds(10)

    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()
    private let topics: [String]
    private let join: @Sendable () throws(KafkaError) -> Consumer
    private let onChange: @Sendable (Set<TopicPartition>) -> Void

    /// Joins the group in a thread of its own. What fails is tried again until `close()`.
    ///
    /// - Parameters:
    ///   - kafka: The brokers and the user's properties.
    ///   - groupID: The group's name.
    ///   - instanceID: The name of the process, which no other may have. One that is back within 10 s gets its partitions again without a
    ///     rebalance. Nil for none.
    ///   - topics: The topics whose partitions are divided. One that is missing is joined when it appears.
    ///   - onChange: Called in the thread with all partitions that are ours from now on. It may take 10 s, to let calls end and to keep
    ///     positions.
    public init(
        _ kafka: KafkaConfiguration, groupID: String, instanceID: String?, topics: [String],
        onChange: @escaping @Sendable (Set<TopicPartition>) -> Void
    ) {
        self.topics = topics
        self.onChange = onChange
        join = { () throws(KafkaError) in
            let consumer = try Consumer(kafka, groupID: groupID, instanceID: instanceID, wakeUpFileDescriptor: -1)
            try consumer.subscribe(topics)
            return consumer
        }
        thread.start(named: "pushfan-sharing") { [self] in work() }
    }

    /// The last problem since the group gave an answer, or nil while none is known. That brokers do not answer is none.
    public var problem: KafkaError? { state.withLock { $0.problem } }

    /// True after the group gave its first answer.
    public var isKnown: Bool { state.withLock { $0.isKnown } }

    /// Gives all partitions up, after `onChange` with none, and leaves the group. Waits for the thread. A second call does nothing.
    public func close() {
        state.withLock { $0.isClosed = true }
        closing.signal()
        thread.waitForEnd()
    }
}

// MARK: The thread

extension CallbackMembership {
    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func note(_ problem: KafkaError?) { state.withLock { ($0.problem, $0.turnCount) = (problem, 0) } }

    /// Asks the group now and then while a problem is known, which no event takes back, and forgets it when the group answers. That a topic is
    /// missing ends with another assignment.
    private func check(_ group: ConsumerGroup) {
        let isDue = state.withLock { state in
            guard let problem = state.problem, !problem.isUnknownTopicOrPartition else { return false }
            state.turnCount += 1
            return state.turnCount % Self.questionInterval == 0
        }
        guard isDue, let topic = topics.first else { return }
        let partition = TopicPartition(topic: topic, partition: 0)
        if (try? group.committed([partition], timeout: .seconds(1))) != nil { note(nil) }
    }

    private func work() {
        while !isClosed {
            do throws(KafkaError) {
                let consumer = try join()
                defer { consumer.close(timeout: .seconds(5)) }
                let isOurs = try follow(consumer)
                if isOurs { onChange([]) }
            } catch {
                note(error)
                _ = closing.wait(timeout: .now() + Self.pause)
            }
        }
    }

    /// Follows the group until the end, or until another client must take over. Returns whether partitions are ours.
    private func follow(_ consumer: Consumer) throws(KafkaError) -> Bool {
        var isOurs = false
        do throws(KafkaError) {
            while !isClosed, !consumer.isOutdated {
                while let event = consumer.nextEvent() { try take(event, of: consumer, isOurs: &isOurs) }
                if let failure = consumer.clusterFailure { throw failure }
                if isOurs { check(consumer.group) }
                _ = closing.wait(timeout: .now() + Self.step)
            }
        } catch {
            if isOurs { onChange([]) }
            throw error
        }
        return isOurs
    }

    private func take(_ event: ConsumerEvent, of consumer: Consumer, isOurs: inout Bool) throws(KafkaError) {
        switch event {
        case .assigned(let partitions):
            // The group is content, and the library reads nothing.
            try consumer.assign([])
            state.withLock { ($0.isKnown, $0.problem) = (true, nil) }
            isOurs = !partitions.isEmpty
            onChange(Set(partitions))
        case .revoked:
            isOurs = false
            onChange([])
            try consumer.unassign()
        case .error(let error):
            if error.isFatal || error.isFenced { throw error }
            // Brokers that are away are known elsewhere, and no event would say that they are back.
            if !error.isUnreachable { note(error) }
            guard isOurs, (try? consumer.group.metadata()) == nil else { return }
            isOurs = false
            onChange([])
        case .statistics, .log: return
        }
    }
}
