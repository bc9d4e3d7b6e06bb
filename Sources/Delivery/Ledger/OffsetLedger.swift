/// Which records of one assigned partition have their outcome, so that a commit names exactly what is done: a low-water mark
/// and a bitmap of what is finished above it.
///
/// Offsets are Kafka record offsets. Offsets that the broker skips (transaction markers, aborted and compacted records) count
/// as finished as soon as a later one is seen. At most `window` offsets lie between the low-water mark and the next record to
/// read, so the bitmap always fits the commit's metadata. One ledger lives as long as one assignment; its owner is the loop.
public struct OffsetLedger: Sendable {
    /// The most offsets a ledger can span, 16,384: 2,733 characters of metadata, under the broker's 4,096.
    public static let maximumWindow = 16_384

    /// What is to be done with a record that arrived.
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
    /// The first offset without an outcome; a commit names it.
    public private(set) var lowWaterMark: Int64
    /// The offset after the last one seen; everything below it and not finished is in work.
    public private(set) var position: Int64
    /// The number of records in work.
    public private(set) var unfinishedCount = 0

    /// One bit per offset at `offset % capacity`, set when finished; all zero outside the window.
    private var bits: [UInt64]
    private let capacity: Int

    /// A ledger for an assignment that starts at a committed position.
    ///
    /// - Parameters:
    ///   - start: The committed offset, or where reading starts when there is none.
    ///   - finished: What the commit's metadata says is finished above `start`.
    ///   - window: 16 – 16,384 offsets; other values are clamped.
    public init(start: Int64, finished: FinishedOffsets = FinishedOffsets(), window: Int = OffsetLedger.maximumWindow) {
        self.window = min(max(window, 16), Self.maximumWindow)
        // Room for the largest bitmap that can be restored, even if the window was made smaller since.
        capacity = Self.maximumWindow
        bits = [UInt64](repeating: 0, count: capacity / 64)
        lowWaterMark = start
        position = start
        restored = start
        for distance in 0..<finished.bitCount where finished.contains(distance) {
            setBit(start + Int64(distance))
            restored = start + Int64(distance) + 1
        }
    }

    /// The end of the restored bitmap; a set bit below it may belong to a record that was not seen again yet.
    private var restored: Int64

    /// Whether the next record may be read: the window has room.
    public var hasRoom: Bool { position - lowWaterMark < Int64(window) }

    /// Takes in a record that the consumer delivered.
    ///
    /// - Parameter offset: Its offset; never below one taken in before.
    public mutating func received(_ offset: Int64) -> Reception {
        guard offset >= position else { return .alreadyFinished }
        skip(to: offset)
        guard offset - lowWaterMark < Int64(window) else { return .beyondWindow }
        position = offset + 1
        if isFinished(offset) {
            advance()
            return .alreadyFinished
        }
        unfinishedCount += 1
        return .process
    }

    /// Takes in that there is nothing between the last record and `offset`, the end of the partition.
    public mutating func reachedEnd(_ offset: Int64) {
        skip(to: offset)
    }

    /// Records that the outcome of the record at `offset` is there.
    ///
    /// - Parameter offset: A record for which `received` said `process`; a repeat or any other offset is ignored.
    public mutating func finished(_ offset: Int64) {
        guard offset >= lowWaterMark, offset < position, !isFinished(offset) else { return }
        setBit(offset)
        unfinishedCount -= 1
        advance()
    }

    /// What a commit must name so that exactly the finished records count as done.
    public func commit() -> LedgerCommit {
        LedgerCommit(offset: lowWaterMark, metadata: finishedOffsets().encoded())
    }

    /// What is finished at and above the low-water mark.
    public func finishedOffsets() -> FinishedOffsets {
        var finished = FinishedOffsets()
        var offset = lowWaterMark
        let end = max(position, restored)
        while offset < end {
            if isFinished(offset) { finished.insert(Int(offset - lowWaterMark)) }
            offset += 1
        }
        return finished
    }

    /// Marks every offset from the position to before `offset` as finished, because the broker has no record there.
    private mutating func skip(to offset: Int64) {
        guard offset > position else { return }
        if unfinishedCount == 0 && offset >= restored {
            // Nothing is in work, so the mark moves over the gap, however wide it is.
            clear(from: lowWaterMark, to: min(offset, lowWaterMark + Int64(capacity)))
            lowWaterMark = offset
            position = offset
            return
        }
        let reachable = min(offset, lowWaterMark + Int64(capacity))
        while position < reachable {
            setBit(position)
            position += 1
        }
        // What lies beyond the ring stays unseen until the mark has moved; `received` says so.
        advance()
        if position < offset && unfinishedCount == 0 { skip(to: offset) }
    }

    private mutating func advance() {
        while lowWaterMark < position && isFinished(lowWaterMark) {
            clear(from: lowWaterMark, to: lowWaterMark + 1)
            lowWaterMark += 1
        }
    }

    private func isFinished(_ offset: Int64) -> Bool {
        let index = Int(offset % Int64(capacity))
        return bits[index >> 6] & (1 << UInt64(index & 63)) != 0
    }

    private mutating func setBit(_ offset: Int64) {
        let index = Int(offset % Int64(capacity))
        bits[index >> 6] |= 1 << UInt64(index & 63)
    }

    private mutating func clear(from start: Int64, to end: Int64) {
        var offset = start
        while offset < end {
            let index = Int(offset % Int64(capacity))
            bits[index >> 6] &= ~(1 << UInt64(index & 63))
            offset += 1
        }
    }
}

/// The position that a commit names for one partition.
public struct LedgerCommit: Sendable, Equatable {
    /// The first offset without an outcome.
    public var offset: Int64
    /// What is finished above it, as `FinishedOffsets` writes it.
    public var metadata: String

    /// A position with its metadata.
    public init(offset: Int64, metadata: String) {
        self.offset = offset
        self.metadata = metadata
    }
}
