import Kafka
import Synchronization

/// Does what blocks, on a thread of its own: committing batches, and asking the group for committed positions.
///
/// One job at a time, in order. The loop gives jobs and takes replies; neither waits for the other. Rule 2 of the commit
/// protocol (epoch, group metadata, offsets and commit as one step that no rebalance interrupts) holds, because the loop
/// answers no revocation while a commit is under way.
final class Committer: Sendable {
    /// Something to do.
    enum Job: Sendable {
        /// Get the producer ready.
        case prepare
        /// Ask for the committed positions of an assignment.
        case positions([TopicPartition], epoch: Int)
        /// Ask the group for anything, to learn whether it answers again.
        case probe([TopicPartition])
        /// Publish a batch together with its offsets.
        case commit(OutcomeBatch, [OffsetCommit], GroupMetadata?, epoch: Int)
        /// Close the producer and end the thread.
        case stop
    }

    /// What became of a job.
    enum Reply: Sendable {
        case prepared
        case positions([CommittedOffset], epoch: Int)
        case positionsFailed(KafkaError, epoch: Int)
        /// Whether the group answered the probe.
        case probed(KafkaError?)
        case committed(OutcomeBatch, epoch: Int)
        /// The batch is not published; it may be offered again, unless the failure is final.
        case commitFailed(OutcomeBatch, KafkaError, epoch: Int)
        /// Another process has this worker's place; this one must stop.
        case fenced(KafkaError)
        /// The producer is not ready yet; ask again.
        case failed(KafkaError)
        case stopped
    }

    private struct State {
        var jobs: [Job] = []
        var replies: [Reply] = []
    }

    /// Protects the two queues; held for no longer than an append or a swap.
    private let state = Mutex(State())
    private let signal: ThreadSignal
    private let notify: @Sendable () -> Void

    /// A committer that calls `notify`, from its own thread, when a reply is there.
    init(notify: @escaping @Sendable () -> Void) {
        signal = ThreadSignal()
        self.notify = notify
    }

    func submit(_ job: Job) {
        state.withLock { $0.jobs.append(job) }
        signal.raise()
    }

    /// Takes the oldest reply, or nil.
    func nextReply() -> Reply? {
        state.withLock { $0.replies.isEmpty ? nil : $0.replies.removeFirst() }
    }

    /// Does jobs until `stop`; runs on the committer's thread.
    func run(_ publisher: inout Publisher) {
        while true {
            guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else {
                signal.wait()
                continue
            }
            let reply = publisher.perform(job)
            let isLast = if case .stopped = reply { true } else { false }
            state.withLock { $0.replies.append(reply) }
            notify()
            if isLast { return }
        }
    }
}
