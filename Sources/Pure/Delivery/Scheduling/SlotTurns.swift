import Basics
import PushModel

/// The slots of one lane that have something to start, and those that will have at a moment. So the others are not looked at.
///
/// A slot may be here for nothing. Whoever takes it finds that out, and lists it again for what it has then.
struct SlotTurns {
    /// The slots that have a turn now, one after the other.
    private var ready = FIFO<Int>()
    private var waits = MomentHeap<Timestamp, Int>()
    /// By slot, the moment of its turn: `past` among the ready ones, `never` for one that is not here.
    private var moments: [Timestamp]
    /// The slots that wait for moments.
    private var waitCount = 0

    /// No slot below `count` is here.
    init(count: Int) { moments = [Timestamp](repeating: .never, count: count) }

    /// The first moment at which a slot has its turn: `past` for at once, nil when none will have one.
    var nextMoment: Timestamp? { ready.isEmpty ? waits.first : .past }

    /// The entries of slots that wait for moments, those included that count no more.
    var waitingCount: Int { waits.count }

    /// Gives a slot its turn at a moment, or before, if it has an earlier one.
    mutating func list(_ slot: Int, at moment: Timestamp?) {
        guard let moment, moment < moments[slot] else { return }
        let isNew = moments[slot] == .never
        moments[slot] = moment
        if moment == .past {
            if !isNew { waitCount -= 1 }
            ready.append(slot)
        } else {
            if isNew { waitCount += 1 }
            addWait(of: slot, at: moment)
        }
    }

    /// Takes out the slot whose turn it is.
    mutating func next(now: Timestamp) -> Int? {
        while let slot = waits.removeDue(now) { list(slot, at: .past) }
        guard let slot = ready.popFirst() else { return nil }
        moments[slot] = .never
        return slot
    }

    /// A slot whose moment has changed is in the heap more than once. It is made again when less than half of it counts, so that it takes
    /// memory in proportion to the slots.
    private mutating func addWait(of slot: Int, at moment: Timestamp) {
        waits.add(slot, at: moment)
        guard waitingCount > 2 * waitCount + 64 else { return }
        waits = MomentHeap(
            moments.indices.filter { moments[$0] > .past && moments[$0] < .never }.map { (moments[$0], $0) })
    }
}
