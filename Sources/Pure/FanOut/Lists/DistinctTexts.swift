import PushModel

/// The texts of a list without those that stood in it before.
///
/// An open-addressed table of places in the list. Two texts are the same when all of their bytes are, whatever their hashes say.
struct DistinctTexts: Sendable {
    /// The texts, in the list's order.
    private(set) var texts: [JSONDocument.Text] = []
    /// A hash and, counted from 1, a place in `texts`, or 0 where there is none. A power of two, at most half full.
    private var slots: [UInt64] = []
    private let ignoresCase: Bool

    /// No texts. ASCII letters may be the same in both cases.
    init(ignoringCase ignoresCase: Bool) { self.ignoresCase = ignoresCase }

    /// Forgets the texts.
    mutating func removeAll() {
        texts.removeAll(keepingCapacity: texts.capacity <= 1 << 10)
        slots = []
    }

    /// Adds a text, and returns whether it is new. If it `isExact`, its case counts although the list ignores case. Texts that
    /// differ in case alone must have the same.
    mutating func insert(
        _ text: JSONDocument.Text, in document: borrowing JSONDocument, exactly isExact: Bool = false
    ) -> Bool {
        if texts.count * 2 >= slots.count { grow() }
        let bytes = document.span(text)
        let hash = Self.hash(bytes)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let other = slots[slot]
            if UInt32(truncatingIfNeeded: other >> 32) == hash,
                isEqual(
                    bytes, to: document.span(texts[Int(truncatingIfNeeded: other & 0xFFFF_FFFF) - 1]),
                    ignoringCase: ignoresCase && !isExact)
            {
                return false
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        texts.append(text)
        slots[slot] = UInt64(hash) << 32 | UInt64(texts.count)
        return true
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: max(64, old.count * 2))
        for entry in old where entry != 0 {
            var slot = Int(truncatingIfNeeded: entry >> 32) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
        }
    }

    /// The same for both cases. Seeded by the process, so that no list can be written whose texts all fall into one place.
    private static func hash(_ bytes: Span<UInt8>) -> UInt32 {
        var hasher = Hasher()
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index] | 0x20)
            if index & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    private func isEqual(_ left: Span<UInt8>, to right: Span<UInt8>, ignoringCase ignoresCase: Bool) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] {
            guard ignoresCase, left[index] ^ right[index] == 0x20, (0x61...0x7A).contains(left[index] | 0x20) else {
                return false
            }
        }
        return true
    }
}
