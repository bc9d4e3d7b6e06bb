import Delivery
import Kafka
import ResultFeed

/// The progress of a receiver in one partition.
struct DeskPartition: Sendable {
    /// The records that are done with.
    private(set) var ledger: OffsetLedger
    /// The offset that is read next.
    private(set) var next: Int64
    /// True if it is about to be given back, so that no call of it begins.
    var isLeaving = false
    /// The offset that was saved last, or nil where that is not known.
    private var saved: Int64?

    /// A partition in which all before `start` is done with. That is saved too, as another process may have saved another place.
    init(from start: Int64) {
        ledger = OffsetLedger(start: start)
        next = ledger.lowWaterMark
    }

    /// True if more of it may be read.
    var hasRoom: Bool { !isLeaving && ledger.hasRoom }

    /// Takes in a record. Returns what to do with it.
    mutating func receive(_ offset: Int64) -> OffsetLedger.Reception {
        guard offset >= next else { return .alreadyFinished }
        let reception = ledger.received(offset)
        next = reception == .beyondWindow ? offset : offset + 1
        return reception
    }

    /// Notes that there is nothing more to be called before an offset.
    mutating func pass(to offset: Int64) {
        guard offset > next else { return }
        ledger.reachedEnd(offset)
        next = offset
    }

    /// Notes that a record is done with.
    mutating func finish(_ offset: Int64) { ledger.finished(offset) }

    /// The offset to save, or nil where it is saved.
    mutating func takeUnsaved() -> Int64? {
        guard saved != ledger.lowWaterMark else { return nil }
        saved = ledger.lowWaterMark
        return saved
    }

    /// Notes that what was saved last may be lost.
    mutating func forgetSaved() { saved = nil }
}

// All of a receiver.
extension [TopicPartition: DeskPartition] {
    /// The places from which more may be read of a topic.
    func places(of topic: String) -> FeedPlaces {
        var places = FeedPlaces()
        for (place, partition) in self where place.topic == topic && partition.hasRoom {
            places.offsets[place.partition] = partition.next
        }
        return places
    }

    /// The records between what is done with and the end of a topic.
    func distance(to end: FeedPlaces, of topic: String) -> Int64 {
        reduce(0) { sum, entry in
            guard entry.key.topic == topic, let end = end.offsets[entry.key.partition] else { return sum }
            return sum + Swift.max(0, end - entry.value.ledger.lowWaterMark)
        }
    }

    /// The offsets to save that were not saved yet.
    mutating func takeUnsaved() -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        for place in keys { offsets[place] = self[place]?.takeUnsaved() }
        return offsets
    }

    /// Notes that what was saved last may be lost.
    mutating func forgetSaved() {
        for place in keys { self[place]?.forgetSaved() }
    }
}
