import Delivery
import PushModel

/// The recorders of one loop, each of which puts one kind of record into a batch.
struct Recorders {
    var results: ResultRecorder
    let deadLetters: DeadLetterRecorder
    let delays: DelayRecorder
    var expansions = ExpansionRecorder()

    init(_ configuration: WorkerConfiguration) {
        results = ResultRecorder(
            workerID: configuration.workerID, version: configuration.version, writesHeaders: configuration.resultsHaveHeaders)
        deadLetters = DeadLetterRecorder(group: configuration.groupID, spellings: configuration.deadLetterHeaders)
        delays = DelayRecorder(group: configuration.groupID)
    }

    /// Adds the final result of what `flight` carries, and for a part what it came to. Returns how it ended. `hub` is the member that
    /// names its hub.
    mutating func finish(
        _ flight: Flight, hub: borrowing ByteWriter, now: Timestamp, into batch: inout OutcomeBatch
    ) -> Conclusion {
        let conclusion = results.record(flight, hub: hub, now: now, into: &batch)
        if flight.request.parent != nil { expansions.record(conclusion, of: flight, into: &batch) }
        return conclusion
    }

    /// Adds the final result of a request that was sent in parts, and what deletes its records.
    ///
    /// - Parameters:
    ///   - parent: The request, whose parts have all ended.
    ///   - record: Its record in the topic of parents.
    ///   - hub: The member that names its hub, or spread.
    ///   - origin: The place where it was published.
    ///   - partition: The partition of the topic of parents that has its records.
    ///   - source: The record with which its last part ended.
    ///   - now: The present moment.
    ///   - batch: The batch that gets the records.
    /// - Returns: The state and the outcome that it ended with.
    mutating func finish(
        _ parent: OpenParents.Finished, record: ParentRecord, hub: ByteWriter, origin: RecordOrigin, partition: Int32,
        from source: OutcomeBatch.Origin, now: Timestamp, into batch: inout OutcomeBatch
    ) -> Conclusion {
        let conclusion = results.record(
            record, totals: parent.totals, hub: hub, origin: origin, from: source, now: now, into: &batch)
        expansions.close(parent, partition: partition, from: source, into: &batch)
        return conclusion
    }
}
