import FanOut

/// Registrations in memory, found by id, tag and handle.
///
/// A write always takes a new slot at the end and leaves a hole behind, so the indexes only grow. Stale slots in an index are
/// skipped, and everything is packed again when half of the slots are holes.
struct MemoryRegistrations: Sendable {
    private struct Slot: Sendable {
        let registration: Registration
        let foldedTags: [String]
        /// The order of lists. Grows with every write.
        let sequence: Int
    }

    private var slots: [Slot?] = []
    private var slotOfID: [String: Int] = [:]
    private var slotsOfTag: [String: [Int]] = [:]
    private var slotsOfDevice: [DeviceKey: [Int]] = [:]
    private var nextSequence = 1

    /// The registration called `id`.
    subscript(_ id: String) -> Registration? {
        slotOfID[id].flatMap { slots[$0]?.registration }
    }

    /// Writes a registration in place of the one with the same id.
    mutating func write(_ registration: Registration) {
        remove(registration.id)
        let slot = Slot(registration: registration, foldedTags: registration.foldedTags, sequence: nextSequence)
        nextSequence += 1
        index(slot, at: slots.count)
        slots.append(slot)
    }

    /// Removes and returns the registration called `id`.
    @discardableResult
    mutating func remove(_ id: String) -> Registration? {
        guard let position = slotOfID.removeValue(forKey: id) else { return nil }
        let removed = slots[position]?.registration
        slots[position] = nil
        if slots.count > 256, slotOfID.count * 2 < slots.count { pack() }
        return removed
    }

    func registrations(of device: DeviceKey) -> [Registration] {
        (slotsOfDevice[device] ?? []).compactMap { slots[$0]?.registration }
    }

    /// A page of the registrations, of these devices or all, that satisfy `condition`, in the order of their last write, and
    /// where the next one begins if there is one. The first page is at 0.
    func page(
        of devices: [DeviceKey]? = nil, from cursor: Int, limit: Int, where condition: (Registration) -> Bool
    ) -> (page: [Registration], next: Int?) {
        // Slots stand in the order of their writing.
        let listed = devices.map { devices in Set(devices.flatMap { slotsOfDevice[$0] ?? [] }).sorted() }
        if let listed { return page(at: listed, from: cursor, limit: limit, where: condition) }
        return page(at: firstSlot(from: cursor)..<slots.count, from: cursor, limit: limit, where: condition)
    }

    /// A page of the registrations that have a tag, in lower case, in the order of their last write.
    func page(ofTag tag: String, from cursor: Int, limit: Int) -> (page: [Registration], next: Int?) {
        page(at: slotsOfTag[tag] ?? [], from: cursor, limit: limit) { _ in true }
    }

    private func page(
        at positions: some Sequence<Int>, from cursor: Int, limit: Int, where condition: (Registration) -> Bool
    ) -> (page: [Registration], next: Int?) {
        var page: [Registration] = []
        for position in positions {
            guard let slot = slots[position], slot.sequence >= cursor, condition(slot.registration) else { continue }
            if page.count == limit { return (page, slot.sequence) }
            page.append(slot.registration)
        }
        return (page, nil)
    }

    /// Calls `body` with every registration that `expression` addresses, or with all of them when it is `nil`.
    func forEachMatch(of expression: TagExpression?, body: (Registration) -> Void) {
        guard let expression else {
            for case let slot? in slots { body(slot.registration) }
            return
        }
        if expression.isOrOnly {
            let positions = expression.tags.map { slotsOfTag[$0.folded] ?? [] }
            // Of several tags each registration counts once.
            for position in positions.count == 1 ? positions[0] : Set(positions.joined()).sorted() {
                if let slot = slots[position] { body(slot.registration) }
            }
        } else {
            for case let slot? in slots where expression.evaluate({ slot.foldedTags.contains($0.folded) }) {
                body(slot.registration)
            }
        }
    }

    /// The slots' sequence numbers only grow, so the first one of a page is found by halving.
    private func firstSlot(from cursor: Int) -> Int {
        var low = 0
        var high = slots.count
        while low < high {
            let middle = (low + high) / 2
            // A hole has no sequence. The next written slot stands for it.
            let written = slots[middle..<high].first { $0 != nil }.flatMap { $0 }
            if let written, written.sequence < cursor { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func index(_ slot: Slot, at position: Int) {
        slotOfID[slot.registration.id] = position
        for tag in Set(slot.foldedTags) { slotsOfTag[tag, default: []].append(position) }
        slotsOfDevice[slot.registration.deviceKey, default: []].append(position)
    }

    private mutating func pack() {
        let kept = slots.compactMap { $0 }
        slots = kept
        slotOfID = [:]
        slotsOfTag = [:]
        slotsOfDevice = [:]
        for (position, slot) in kept.enumerated() { index(slot, at: position) }
    }
}
