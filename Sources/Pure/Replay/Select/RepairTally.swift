public import PushModel
public import ResultQuery

extension FailureTally.Standing {
    /// Decides what became of a failed request.
    ///
    /// - Parameters:
    ///   - failed: The sends that failed; all, when it ended before any.
    ///   - original: The request.
    ///   - history: What replays took up of it, and what became of that.
    public init(of failed: SendSet, in original: Original, after history: ReplayHistory) {
        guard !failed.isEmpty, failed.subtracting(history.replayed(original)).isEmpty else {
            self = .open
            return
        }
        let rest = failed.subtracting(history.delivered(original))
        if rest.isEmpty {
            self = .repaired
        } else {
            self = rest.subtracting(history.endedSends(original)).isEmpty ? .failedAgain : .beingRepaired
        }
    }
}

/// Counts failed results in one reading, in whatever order they come, by what replays made of their requests.
///
/// Only requests that a job in the topic of replays has repeated are kept until the end, because the results of their replays may come
/// later. Of a million other results nothing stays but the counts.
public struct RepairTally: Sendable {
    private struct Replayed: Sendable {
        let batch: FailureTally.Batch
        let requestID: String
        let original: Original
        let failed: SendSet
    }

    private var tally = FailureTally()
    private var replayed: [Replayed] = []
    private var history: ReplayHistory
    private var reading = JSONDocument()

    /// Nothing is counted yet. The history is what was replayed, as the jobs tell it.
    public init(_ history: ReplayHistory) { self.history = history }

    /// Takes any result, which may be that of a replay. Anything else is passed over.
    public mutating func note(_ json: Span<UInt8>) {
        guard !history.places.isEmpty, ReplayHistory.mayConcern(json), reading.readResult(json) else { return }
        history.noteResult(reading, addsPlaces: false)
    }

    /// Counts a result that failed.
    ///
    /// - Parameters:
    ///   - document: The result.
    ///   - time: When it was written, in milliseconds since 1970.
    public mutating func add(_ document: JSONDocument, writtenAt time: Int64) {
        if !addReplayed(document, writtenAt: time) { tally.add(document, writtenAt: time) }
    }

    /// Counts a result that failed if something of its request was replayed, and nothing else.
    ///
    /// - Parameters:
    ///   - document: The result.
    ///   - time: When it was written, in milliseconds since 1970.
    /// - Returns: Whether it was counted.
    public mutating func addReplayed(_ document: JSONDocument, writtenAt time: Int64) -> Bool {
        guard !history.places.isEmpty, let result = SettledResult(document), !result.hasParts, !result.isUnspecific,
            !history.replayed(result.original).isEmpty
        else { return false }
        replayed.append(
            Replayed(
                batch: FailureTally.Batch(document, writtenAt: time), requestID: result.requestID, original: result.original,
                failed: result.failed))
        return true
    }

    /// The counts, once every result was taken.
    public consuming func close() -> FailureTally {
        for entry in replayed {
            let standing = FailureTally.Standing(of: entry.failed, in: entry.original, after: history)
            tally.add(entry.batch, as: standing, latest: entry.requestID)
        }
        return tally
    }
}
