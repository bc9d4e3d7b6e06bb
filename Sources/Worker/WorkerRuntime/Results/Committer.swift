import Basics
import Delivery
import EventLoop
import Foundation
import GroupPositions
import Kafka
import Synchronization

/// Does what blocks, on a thread of its own: committing batches, and asking the group for committed positions.
///
/// One job at a time, in order. The loop gives jobs and takes replies; neither waits for the other. Some of librdkafka's calls can block
/// for ever (page Kafka, "Calls that hang"): a committer whose job takes too long is abandoned, with its thread and its producer, and
/// replaced by another. The new producer has the same transactional id and therefore fences the one left behind.
final class Committer: Sendable {
    /// Something to do.
    enum Job: Sendable {
        /// Get the producer ready.
        case prepare
        /// Ask for the committed positions of an assignment. Some partitions were seen to end before theirs, and some without a
        /// position were read up to an offset before.
        case positions(
            [TopicPartition], partitionsBehindCommit: Set<TopicPartition>, progress: [TopicPartition: Int64], epoch: Int)
        /// Find out whether partitions still hold what was read of them, up to these positions.
        case examine([CommittedOffset], epoch: Int)
        /// Ask the group for anything, to learn whether it answers again.
        case probe([TopicPartition])
        /// Look for partitions without a consumer, and whether a leader is back for which partitions of this worker wait.
        case survey(awaiting: [TopicPartition])
        /// Look whether the control topic is there, for this assignment.
        case control(epoch: Int)
        /// Publish a batch together with its offsets.
        case commit(CommitJob)
        /// Close the producer and end the thread.
        case stop
    }

    /// The outcome of a job.
    enum Reply: Sendable {
        /// The producer is ready. These delay lanes are there, so many partitions of the topic of parents, and perhaps the topic
        /// of dead handles.
        case prepared(lanes: DelayLanes, parents: Int32, hasHandles: Bool)
        /// The positions, and where topics ended after that.
        case positions([CommittedOffset], PartitionEnds, epoch: Int)
        case positionsFailed(KafkaError, epoch: Int)
        /// The partitions of which it is known what they hold.
        case examined(GroupReader.Findings, epoch: Int)
        /// The group answered the probe, or did not, with this error.
        case probed(KafkaError?)
        /// The partitions without a consumer, or those that waited. None where that could not be learnt.
        case surveyed([TopicPartition])
        /// The end of the control topic. Nil where that could not be learnt.
        case control(ControlEnd?, epoch: Int)
        /// The batch is committed. These delay lanes are there now.
        case committed(DelayLanes)
        /// Nothing is published, nor can it be as the partitions are.
        case impossible(CommitCycle.ResetCause)
        /// The batch is not committed, and stands so. It must be offered again.
        case commitFailed(KafkaError, CommitJob.Standing)
        /// Another process has this worker's place. This one must stop.
        case fenced(KafkaError)
        /// The producer is not ready yet. Ask again.
        case failed(KafkaError)
        case stopped
    }

    /// The ends of topics once the positions of an assignment were known.
    struct PartitionEnds: Sendable {
        /// The end of the control topic.
        var control = ControlEnd.missing
        /// The beginnings of partitions that do not begin at the group's position.
        var starts = PartitionStarts()
        /// The partitions of held requests that were assigned, open transactions included. Empty if that could not be learnt.
        var held: [Int32: Int64] = [:]
        /// The numbers of partitions of topics that publishers write to, as far as they are known.
        var partitionCounts: [String: Int32] = [:]
        /// The number of all partitions of requests, or nil where that is not known.
        var requestCount: Int?
    }

    private struct State {
        var jobs = FIFO<Job>()
        var replies = FIFO<Reply>()
        /// The moment when the present job was begun, monotonic nanoseconds.
        var busySince: MonotonicTime?
        var isAbandoned = false
    }

    /// Protects the queues, and is held for no longer than an append or a swap.
    private let state = Mutex(State())
    private let signal = ThreadSignal()
    private let ended = DispatchSemaphore(value: 0)
    private let wakeUp: WakeUp

    /// A committer whose thread runs. It signals `wakeUp` when a reply is there.
    init(
        _ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock, wakeUp: WakeUp
    ) {
        self.wakeUp = wakeUp
        let thread = Thread { [self] in
            var dispatcher = JobDispatcher(configuration, group: group, clock: clock)
            work(&dispatcher)
            ended.signal()
        }
        thread.name = "pushfan-commit"
        thread.start()
    }

    func submit(_ job: Job) {
        state.withLock { $0.jobs.append(job) }
        signal.raise()
    }

    /// Takes the oldest reply, or nil.
    func nextReply() -> Reply? { state.withLock { $0.replies.popFirst() } }

    /// The moment when the present job was begun, monotonic nanoseconds, or nil while there is none.
    var busySince: MonotonicTime? { state.withLock { $0.busySince } }

    /// Leaves the committer to itself: no job of its queue is begun any more, and the end of the present one is not reported.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.jobs = FIFO()
            state.replies = FIFO()
        }
        signal.raise()
    }

    /// Closes the producer and waits at most `limit` for the thread to end.
    func stop(within limit: Duration) {
        submit(.stop)
        _ = ended.wait(timeout: .now() + .nanoseconds(Int(limit.wholeNanoseconds)))
    }

    private func work(_ dispatcher: inout JobDispatcher) {
        while !state.withLock({ $0.isAbandoned }) {
            var job = nextJob()
            guard let reply = job.map({ dispatcher.perform($0) }) else {
                signal.wait()
                continue
            }
            // Let go before the loop hears of it, so that the batch's memory is the loop's alone again and can be used anew.
            job = nil
            let isLast = if case .stopped = reply { true } else { false }
            state.withLock { state in
                state.busySince = nil
                if !state.isAbandoned { state.replies.append(reply) }
            }
            wakeUp.signal()
            if isLast { return }
        }
    }

    private func nextJob() -> Job? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            state.busySince = MonotonicTime.now()
            return state.jobs.popFirst()
        }
    }
}

/// A batch with the positions that make it final.
struct CommitJob: Sendable {
    typealias Standing = CommitCycle.Standing

    var batch: OutcomeBatch
    var offsets: [OffsetCommit]
    /// The group's position before, for each of `offsets`, or nil where it had none.
    var before: [LedgerCommit?]
    var standing = Standing.unpublished
    /// The worker's place in the group when the batch was offered, or nil without transactions.
    var group: GroupMetadata?

    /// The same job without positions in deleted partitions, because brokers take none there.
    func leavingOut(_ isDeleted: (TopicPartition) -> Bool) -> CommitJob {
        let kept = offsets.indices.filter { !isDeleted(offsets[$0].partition) }
        guard kept.count < offsets.count else { return self }
        var job = self
        job.offsets = kept.map { offsets[$0] }
        job.before = kept.map { before[$0] }
        return job
    }

    /// True if there is nothing that could be lost or repeated: positions are committed once more, so that the group does not
    /// forget them.
    var changesNothing: Bool { batch.isEmpty && zip(offsets, before).allSatisfy { LedgerCommit($0) == $1 } }
}

extension LedgerCommit {
    init(_ offset: OffsetCommit) { self.init(offset: offset.offset, metadata: offset.metadata) }

    /// Nil if nothing was committed for the partition.
    init?(_ committed: CommittedOffset) {
        guard let offset = committed.offset else { return nil }
        self.init(offset: offset, metadata: committed.metadata)
    }
}
