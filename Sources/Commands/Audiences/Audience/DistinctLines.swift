/// The names of a file without those that stood in it before: exact, in 16 to 32 bytes for each line, however long they are.
///
/// An open-addressed table of places in the file. Of a name it holds 24 bits of a hash, and its offset. Two names with the same
/// bits are compared in the file. The hash is seeded by the process, so no file can be written whose names all fall into one
/// place.
struct DistinctLines {
    /// 24 bits of a hash and, counted from 1, 40 bits of an offset, or 0 for an empty slot. A power of two, at most half full.
    private var slots: [UInt64]
    /// The sum of the slots that `load` met, kept so that the compiler does not remove the loading as needless.
    private var met: UInt64 = 0

    /// No names yet, and at most `lineCount` later.
    init(lineCount: Int) {
        var count = 64
        while count < lineCount * 2 { count *= 2 }
        slots = [UInt64](repeating: 0, count: count)
    }

    /// Brings the places of hashes into the processor's cache. For many names at once that takes as long as for one. Without it
    /// each waits for the memory by itself.
    @inline(never) mutating func load(_ hashes: [UInt64]) {
        var sum: UInt64 = 0
        for hash in hashes { sum &+= slots[Int(truncatingIfNeeded: hash) & (slots.count - 1)] }
        met = sum
    }

    /// Adds a name, whose line begins at an offset below 2^40. Returns whether it is new. `isSame` compares it with the line at
    /// an offset.
    mutating func insert(_ hash: UInt64, at offset: Int64, isSame: (Int64) -> Bool) -> Bool {
        let tag = hash >> 40
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let other = slots[slot]
            if other >> 40 == tag, isSame(Int64(other & 0xFF_FFFF_FFFF) - 1) { return false }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = tag << 40 | UInt64(offset + 1) & 0xFF_FFFF_FFFF
        return true
    }

    /// Hashes a name with its salt, alike for both cases of ASCII letters, which are the same in tags.
    static func hash(_ name: Span<UInt8>, _ salt: UInt8) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(salt)
        var word: UInt64 = 0
        for index in name.indices {
            word = word << 8 | UInt64(name[index] | 0x20)
            if index & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
