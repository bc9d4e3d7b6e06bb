import Kafka

/// Gives each of the committer's jobs to the part that does it, and says what became of it.
///
/// Lives on the committer's thread.
struct JobDispatcher {
    private var publisher: OutcomePublisher
    private var reader: GroupReader

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock) {
        publisher = OutcomePublisher(configuration, group: group, clock: clock)
        reader = GroupReader(configuration, group: group, clock: clock)
    }

    mutating func perform(_ job: Committer.Job) -> Committer.Reply {
        switch job {
        case .prepare:
            do throws(KafkaError) {
                let writer = try publisher.prepare()
                return .prepared(
                    lanes: writer.lanes, parents: writer.parentPartitions, hasHandles: writer.hasHandles)
            } catch {
                return publisher.isTakenOver(error) ? .fenced(error) : .failed(error)
            }
        case .positions(let partitions, let partitionsBehindCommit, let progress, let epoch):
            do throws(KafkaError) {
                let (positions, ends) = try findPositions(
                    of: partitions, behindCommit: partitionsBehindCommit, progress: progress)
                return .positions(positions, ends, epoch: epoch)
            } catch {
                return publisher.isTakenOver(error) ? .fenced(error) : .positionsFailed(error, epoch: epoch)
            }
        case .examine(let positions, let epoch): return .examined(reader.examine(positions), epoch: epoch)
        case .probe(let partitions): return .probed(reader.probe(partitions))
        case .survey(let awaiting): return .surveyed((try? reader.survey(awaiting: awaiting)) ?? [])
        case .control(let epoch):
            return .control(try? reader.controlEnd(publisher.prepare()), epoch: epoch)
        case .commit(let job): return publisher.commit(job)
        case .stop:
            publisher.close()
            return .stopped
        }
    }

    /// Finds what an assignment begins with: the positions of its partitions, and where topics ended after that.
    private mutating func findPositions(
        of partitions: [TopicPartition], behindCommit partitionsBehindCommit: Set<TopicPartition>,
        progress: [TopicPartition: Int64]
    ) throws(KafkaError) -> ([CommittedOffset], Committer.PartitionEnds) {
        reader.forgetSurvey()
        // A transaction that was left open holds the positions back until a producer of the same name settles it.
        let writer = try publisher.prepare()
        let held = reader.heldPartitions(of: partitions, count: writer.heldPartitions)
        let positions = try committedPositions(of: partitions + held, with: writer)
        let ends = try reader.ends(
            of: positions, behindCommit: partitionsBehindCommit, held: held, progress: progress, using: writer)
        return (positions, ends)
    }

    /// The committed positions. When a transaction holds them back that is this worker's own, it is ended, and they can be asked for again.
    private mutating func committedPositions(
        of partitions: [TopicPartition], with writer: OutcomeWriter
    ) throws(KafkaError) -> [CommittedOffset] {
        try publisher.settleLatest(writer)
        do throws(KafkaError) {
            return try reader.positions(of: partitions)
        } catch {
            if error.isTimeout { try publisher.release(partitions, with: writer) }
            throw error
        }
    }
}
