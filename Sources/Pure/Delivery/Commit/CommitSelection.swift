/// The content of the next commit, and what it leaves to a later one.
public struct CommitSelection: Sendable, Equatable {
    /// True if it is everything that waits. Then `places` and `left` are empty.
    public var isAll = false
    /// Places of the records that it holds.
    public var places: Set<Int> = []
    /// The finished records that it leaves, by the slot of their partition: ascending offsets. A position must say so.
    public var left: [Int: [Int64]] = [:]
    /// True if its positions say that nothing is in work any more.
    public var closes = false

    /// The most large requests of a partition that a position names because they are left out while later ones are not.
    public static let greatestWholeCount = 100

    /// Nothing.
    init() {}

    /// One unit by itself: all others are left, those of other partitions too.
    init(only unit: CommitUnit, of units: [CommitUnit]) {
        places = Set(unit.places)
        for other in units where other.id != unit.id { left[other.id.slot, default: []].append(other.id.offset) }
    }

    /// As much as fits of what was not refused, and of the suspects alone where there are any. One unit goes out however large it
    /// is.
    ///
    /// Partitions have their turns by what waits longest in them. So what is finished later, a large request's next step too, goes out
    /// later.
    init(_ units: [CommitUnit], isInOrder: Bool, size: CommitSize, refused: RefusedUnits) {
        var (unitCount, byteCount) = (0, 0)
        for unit in Self.inTurn(units.filter { !isInOrder || $0.isNext }, refused: refused) {
            let before = left[unit.id.slot]
            let hasRoom =
                unitCount == 0
                || unitCount < refused.unitLimit && size.holds(bytes: byteCount + unit.byteCount)
            if hasRoom, refused.allows(unit.id),
                Self.mayFollow(unit, first: before?.first, count: before?.count ?? 0, isInOrder: isInOrder)
            {
                (unitCount, byteCount) = (unitCount + 1, byteCount + unit.byteCount)
                places.formUnion(unit.places)
            } else {
                left[unit.id.slot, default: []].append(unit.id.offset)
            }
        }
    }

    /// The units by the turns of their partitions. Those of one partition stay in their order. Places are counted up as units
    /// end.
    private static func inTurn(_ units: [CommitUnit], refused: RefusedUnits) -> [CommitUnit] {
        var oldest: [Int: Int] = [:]
        for unit in units where !refused.holdsBack(unit.id) {
            oldest[unit.id.slot] = min(oldest[unit.id.slot] ?? .max, unit.places.min() ?? .max)
        }
        let bySlot = Dictionary(grouping: units) { $0.id.slot }
        let slots = bySlot.keys.sorted { (oldest[$0] ?? .max, $0) < (oldest[$1] ?? .max, $1) }
        return slots.flatMap { bySlot[$0] ?? [] }
    }

    /// True if a position can say that a unit is finished and some before it are not: `count` of them, from `first` on.
    /// `isInOrder` if positions can say nothing of that kind.
    static func mayFollow(_ unit: CommitUnit, first: Int64?, count: Int, isInOrder: Bool) -> Bool {
        guard let first else { return true }
        if isInOrder { return false }
        return unit.isWhole ? count <= greatestWholeCount : unit.id.offset - first < Int64(OffsetLedger.maximumWindow)
    }
}
