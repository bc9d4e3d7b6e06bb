import Delivery
import PushModel

/// The records in the place of a unit that brokers never take.
///
/// A large request has its result only when each of its parts is counted. So the tallies of parts are written whatever becomes of the
/// parts' own records.
extension Recorders {
    /// Makes a dead letter and what stays beside it.
    ///
    /// - Parameters:
    ///   - unit: The records that are not taken.
    ///   - source: The record that they finish.
    ///   - place: The place of that record.
    ///   - failure: The reason.
    ///   - reader: Reads the parts of large requests.
    /// - Returns: The dead letter. With a result that is not taken, the tally of its part, or what deletes the records of its whole. With
    ///   parts that cannot go on, tallies that say that they failed. Nothing else where that was not taken either.
    func replacement(
        of unit: borrowing OutcomeBatch, from source: OutcomeBatch.Origin, at place: RecordOrigin, failure: UnreadableRecord,
        reader: RequestReader
    ) -> OutcomeBatch {
        var batch = OutcomeBatch()
        deadLetters.record(place, slot: source.slot, failure: failure, request: unit.requestName(of: source), into: &batch)
        let counts = unit.records.indices.filter { unit.records[$0].destination.topic == .parents }
        if unit.records.contains(where: { $0.destination == .results }) {
            batch.append(contentsOf: unit.copy(of: counts))
        } else if counts.isEmpty {
            for record in unit.records { addFailure(of: record, in: unit, from: source, at: place, reader: reader, to: &batch) }
        }
        return batch
    }

    /// Adds what became of the parts that a record would have carried on, if it is one that carries parts.
    private func addFailure(
        of record: OutcomeBatch.Record, in unit: borrowing OutcomeBatch, from source: OutcomeBatch.Origin, at place: RecordOrigin,
        reader: RequestReader, to batch: inout OutcomeBatch
    ) {
        guard let outcome = record.destination.outcomeOfLostPart, let value = record.value else { return }
        var request = PushRequest()
        _ = reader.read(unit.span(value, of: record), headers: RecordHeaders(), origin: place, into: &request)
        let tally = PartTally(chunk: 0, state: .failed, outcome: outcome, code: .internal)
        expansions.record(tally, ofPartsIn: request, from: source, into: &batch)
    }
}

extension OutcomeBatch.Destination {
    /// The outcome of a part whose record cannot be written there, or nil where there are none. Calls of one in a delay lane may have been
    /// made.
    fileprivate var outcomeOfLostPart: Outcome? {
        switch self {
        case .delay: .ambiguous
        case .held, .own: .transient
        case .results, .deadLetters, .poll, .parents, .handles: nil
        }
    }
}
