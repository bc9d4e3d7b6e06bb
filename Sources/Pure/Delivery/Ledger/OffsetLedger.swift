/// The records of one assigned partition that have their outcome, so that a commit names exactly what is done: a low-water mark
/// and a bitmap of what is finished above it.
///
/// Offsets are Kafka record offsets. Offsets that the broker skips (transaction markers, aborted and compacted records) count
/// as finished as soon as a later one is seen. At most `window` offsets lie between the low-water mark and the next record to
/// read, so the bitmap always fits the commit's metadata. One ledger lives as long as one assignment; its owner is the loop.
public struct OffsetLedger: Sendable {
    /// The most offsets a ledger can span, 16,384: at most 2,853 characters of metadata, under the broker's 4,096.
    public static let maximumWindow = 16_384

    /// The offsets that are believed. Sums with a window stay within 64 bits.
    static let offsets: ClosedRange<Int64> = 0...(Int64.max - 4 * Int64(maximumWindow))

    /// The way to treat a record that arrived.
    public enum Reception: Sendable, Equatable {
        /// It is new: work on it, and say `finished` when its outcome is there.
        case process
        /// Its outcome was published before this assignment: drop it.
        case alreadyFinished
        /// It lies beyond the window: keep it, and offer it again when the low-water mark has moved.
        case beyondWindow
    }

    /// The most offsets between the low-water mark and the next record to read.
    public let window: Int
    /// The first offset without an outcome, which a commit names.
    public private(set) var lowWaterMark: Int64
    /// The offset after the last one seen. Everything below it and not finished is in work.
    public private(set) var position: Int64
    /// The number of records in work.
    public private(set) var unfinishedCount = 0

    /// A ring with one bit per offset, set when finished, all zero outside the window. It always has room for the largest
    /// bitmap that can be restored, even if the window was made smaller since. Empty before a bit was set: it takes 2 KB, and most
    /// partitions of delay lanes are never written to.
    private var bits: [UInt64] = []
    /// The end of the restored bitmap. A set bit below it may belong to a record that was not seen again yet.
    private var restored: Int64
    /// There is no record from the position up to here. The position follows when the ring has room.
    private var gapEnd: Int64

    /// A ledger for an assignment that starts at a committed position.
    ///
    /// - Parameters:
    ///   - start: The committed offset, or where reading starts when there is none.
    ///   - finished: What the commit's metadata says is finished above `start`.
    ///   - window: 16 – 16,384 offsets; other values are clamped.
    public init(start: Int64, finished: FinishedOffsets = FinishedOffsets(), window: Int = OffsetLedger.maximumWindow) {
        self.window = min(max(window, 16), Self.maximumWindow)
        let start = min(max(start, Self.offsets.lowerBound), Self.offsets.upperBound)
        lowWaterMark = start
        position = start
        restored = start
        gapEnd = start
        for index in 0..<finished.wordCount {
            let word = finished.word(index)
            guard word != 0 else { continue }
            makeRing()
            add(word, at: start + Int64(index * 64))
            restored = start + Int64(index * 64 + 64 - word.leadingZeroBitCount)
        }
    }

    /// True if the next record may be read: the window has room.
    public var hasRoom: Bool { position - lowWaterMark < Int64(window) }

    /// Takes in a record that the consumer delivered.
    ///
    /// `beyondWindow` is answered only while there are records in work, so it ends when they do.
    ///
    /// - Parameter offset: Its offset; never below one taken in before.
    /// - Returns: What to do with it.
    public mutating func received(_ offset: Int64) -> Reception {
        guard offset >= position else { return .alreadyFinished }
        guard offset <= Self.offsets.upperBound else { return .beyondWindow }
        skip(to: offset)
        // A restored bit counts whatever the window is now: its outcome must not be published again.
        if position == offset, offset < restored, isFinished(offset) {
            position = offset + 1
            advance()
            return .alreadyFinished
        }
        guard offset - lowWaterMark < Int64(window) else { return .beyondWindow }
        position = offset + 1
        unfinishedCount += 1
        return .process
    }

    /// True if a record needs nothing more: `received` would say that it is finished, or was taken in before.
    ///
    /// - Parameter offset: Its offset.
    /// - Returns: Whether it is known.
    public func isKnown(_ offset: Int64) -> Bool { offset < position || offset < restored && isFinished(offset) }

    /// Takes back that the last record was taken in: it is read once more later, and is unread until then.
    ///
    /// - Parameter offset: The record's offset.
    /// - Returns: Whether it was the last one, and in work; if not, nothing has changed.
    public mutating func takeBack(_ offset: Int64) -> Bool {
        guard offset >= lowWaterMark, offset < position, offset + 1 == position, !isFinished(offset) else { return false }
        position = offset
        unfinishedCount -= 1
        return true
    }

    /// Notes that there is nothing between the last record and `offset`, the end of the partition.
    public mutating func reachedEnd(_ offset: Int64) { skip(to: offset) }

    /// Records that the outcome is there of a record for which `received` said `process`. A repeat or any other offset is
    /// ignored.
    public mutating func finished(_ offset: Int64) {
        guard offset >= lowWaterMark, offset < position, !isFinished(offset) else { return }
        makeRing()
        setBit(offset)
        unfinishedCount -= 1
        advance()
        skip(to: gapEnd)
    }

    /// The position that a commit must name so that exactly the finished records count as done.
    ///
    /// - Parameters:
    ///   - marks: The first and the last record that were read; nil when they are not kept.
    ///   - begunBefore: Behind which offset nothing is begun at this position; nil if anything may be.
    /// - Returns: The position.
    public func commit(marks: ReadMarks? = nil, begunBefore: Int64? = nil) -> LedgerCommit {
        var finished = finishedOffsets()
        finished.marks = marks
        finished.begun = begunBefore.map { max(0, $0 - lowWaterMark) }
        return LedgerCommit(offset: lowWaterMark, metadata: finished.encoded())
    }

    /// The position that a commit must name so that exactly the finished records count as done, but for some that it leaves to a
    /// later one.
    ///
    /// - Parameters:
    ///   - left: Offsets of finished records, ascending. What is finished `maximumWindow` and more behind the first of them is left
    ///   out too, so that the metadata has room; nothing of that may have been published in this commit.
    ///   - marks: As of `commit(marks:begunBefore:)`.
    /// - Returns: The position.
    public func commit(leavingOut left: [Int64], marks: ReadMarks? = nil) -> LedgerCommit {
        guard let first = left.first else { return commit(marks: marks) }
        let mark = min(lowWaterMark, first)
        let count = max(0, Int(min(max(position, restored) - mark, Int64(Self.maximumWindow))))
        var words = [UInt64](repeating: 0, count: (count + 63) / 64)
        for index in 0..<count where mark + Int64(index) < lowWaterMark || isFinished(mark + Int64(index)) {
            words[index >> 6] |= 1 << UInt64(index & 63)
        }
        for offset in left where offset - mark < Int64(count) {
            words[Int(offset - mark) >> 6] &= ~(1 << UInt64((offset - mark) & 63))
        }
        var finished = FinishedOffsets(words: words)
        finished.marks = marks
        return LedgerCommit(offset: mark, metadata: finished.encoded())
    }

    /// The offsets that are finished at and above the low-water mark.
    public func finishedOffsets() -> FinishedOffsets {
        let count = Int(max(position, restored) - lowWaterMark)
        guard count > 0, !bits.isEmpty else { return FinishedOffsets() }
        // 64 offsets at a time, because every commit asks; each word is put together from two neighbours of the ring.
        let first = place(of: lowWaterMark)
        let shift = UInt64(first & 63)
        var words: [UInt64] = []
        words.reserveCapacity((count + 63) / 64)
        for step in 0..<(count + 63) / 64 {
            let low = bits[(first >> 6 + step) % bits.count]
            let high = bits[(first >> 6 + step + 1) % bits.count]
            words.append(shift == 0 ? low : low >> shift | high << (64 - shift))
        }
        // Behind the last offset the ring holds what belongs to the first ones again.
        if count & 63 != 0 { words[words.count - 1] &= 1 << UInt64(count & 63) - 1 }
        return FinishedOffsets(words: words)
    }

    /// Marks every offset from the position to before `offset` as finished, because the broker has no record there.
    private mutating func skip(to offset: Int64) {
        guard offset > position, offset <= Self.offsets.upperBound else { return }
        gapEnd = max(gapEnd, offset)
        guard unfinishedCount > 0 || offset < restored else {
            // Nothing is in work, so the mark moves over the gap, however wide it is.
            clear(from: lowWaterMark, to: min(offset, lowWaterMark + Int64(Self.maximumWindow)))
            lowWaterMark = offset
            position = offset
            return
        }
        let reachable = min(offset, lowWaterMark + Int64(Self.maximumWindow))
        if position < reachable {
            makeRing()
            fill(from: position, to: reachable)
            position = reachable
        }
        // What lies beyond the ring stays unseen until the mark has moved; `finished` goes on with it.
        advance()
    }

    private mutating func makeRing() {
        if bits.isEmpty { bits = [UInt64](repeating: 0, count: Self.maximumWindow / 64) }
    }

    private mutating func advance() {
        guard !bits.isEmpty else { return }
        let start = lowWaterMark
        while lowWaterMark < position {
            let place = place(of: lowWaterMark)
            // The run of set bits that begins here; it goes on in the next word only if it reaches the end of this one.
            let run = (~(bits[place >> 6] >> UInt64(place & 63))).trailingZeroBitCount
            lowWaterMark = min(lowWaterMark + Int64(run), position)
            if place & 63 + run < 64 { break }
        }
        clear(from: start, to: lowWaterMark)
    }

    private func place(of offset: Int64) -> Int { Int(offset) & (Self.maximumWindow - 1) }

    private func isFinished(_ offset: Int64) -> Bool {
        guard !bits.isEmpty else { return false }
        let place = place(of: offset)
        return bits[place >> 6] & (1 << UInt64(place & 63)) != 0
    }

    private mutating func setBit(_ offset: Int64) {
        let place = place(of: offset)
        bits[place >> 6] |= 1 << UInt64(place & 63)
    }

    /// Sets the bits of 64 offsets at once, as far as they are set in `word`.
    private mutating func add(_ word: UInt64, at offset: Int64) {
        let place = place(of: offset)
        let shift = UInt64(place & 63)
        bits[place >> 6] |= word << shift
        if shift > 0 { bits[(place >> 6 + 1) % bits.count] |= word >> (64 - shift) }
    }

    private mutating func fill(from start: Int64, to end: Int64) {
        var offset = start
        while offset < end {
            let (index, mask, next) = part(from: offset, to: end)
            bits[index] |= mask
            offset = next
        }
    }

    private mutating func clear(from start: Int64, to end: Int64) {
        guard !bits.isEmpty else { return }
        var offset = start
        while offset < end {
            let (index, mask, next) = part(from: offset, to: end)
            bits[index] &= ~mask
            offset = next
        }
    }

    /// The bits of a range that lie in the word of its first offset, and the first offset behind them.
    private func part(from start: Int64, to end: Int64) -> (index: Int, mask: UInt64, next: Int64) {
        let place = place(of: start)
        let count = min(64 - place & 63, Int(end - start))
        let mask: UInt64 = count == 64 ? .max : (1 << UInt64(count) - 1) << UInt64(place & 63)
        return (place >> 6, mask, start + Int64(count))
    }
}
