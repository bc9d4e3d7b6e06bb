/// The places up to which the partitions of the lanes were read, and those behind which the index lacks nothing. Without effects.
///
/// A place counts as added with the rows before it, and never sooner: what was read may be dropped on the way.
struct LaneProgress {
    /// The place where the reading of each slot goes on.
    private(set) var positions: [IndexPosition]
    /// The slots that were read on since rows were added last.
    private var read: Set<Int> = []
    /// The places up to which all was added, of those that are not written.
    private var added: [Int: IndexPosition] = [:]
    /// The ends that the slots had at a moment, which are not all reached yet.
    private var ends: (offsets: [Int64], moment: Int64)?
    /// The last moment up to which the index is known to have everything, in milliseconds since 1970.
    private(set) var upTo: Int64?

    /// Nothing is read yet.
    init(_ positions: [IndexPosition]) { self.positions = positions }

    /// True while there are ends to be reached.
    var hasEnds: Bool { ends != nil }

    /// Notes the ends that the slots had at a moment or later, in milliseconds since 1970.
    mutating func note(ends offsets: [Int64], at moment: Int64) { ends = (offsets, moment) }

    /// Notes that a slot was read up to a place.
    mutating func move(slot: Int, to position: IndexPosition) {
        positions[slot] = position
        read.insert(slot)
    }

    /// Notes that all that was read is added.
    mutating func finishAddition() {
        for slot in read { added[slot] = positions[slot] }
        read.removeAll(keepingCapacity: true)
        guard let ends, zip(positions, ends.offsets).allSatisfy({ $0.next >= $1 }) else { return }
        (upTo, self.ends) = (ends.moment, nil)
    }

    /// Notes that what was read and added before is not all there any more, so that none of these places may be written.
    mutating func giveUp() {
        read.removeAll()
        added.removeAll()
    }

    /// Takes out the places up to which all was added, to write them.
    mutating func takeAdded() -> [Int: IndexPosition] {
        defer { added.removeAll(keepingCapacity: true) }
        return added
    }
}
