/// Bytes that were written and not read yet, at most so many at a time.
struct ByteQueue {
    private let capacity: Int
    private var bytes: [UInt8] = []
    /// The number of `bytes` that were read.
    private var readCount = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { bytes.count - readCount }

    /// Puts bytes behind all others, if there is room for all of them.
    mutating func append(_ more: [UInt8]) -> Bool {
        guard more.count <= capacity - count else { return false }
        // An empty queue takes them as they are, so that many queues of the same bytes have them once.
        if bytes.isEmpty { bytes = more } else { bytes += more }
        return true
    }

    /// Moves the first bytes into `room`, and returns their number.
    mutating func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(self.count, room.count)
        guard count > 0 else { return 0 }
        bytes.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[readCount..<readCount + count])) }
        readCount += count
        if readCount == bytes.count {
            removeAll()
        } else if readCount >= capacity {
            // Moves less than was read since the last time.
            bytes.removeFirst(readCount)
            readCount = 0
        }
        return count
    }

    /// Empties it, and keeps no memory.
    mutating func removeAll() {
        bytes = []
        readCount = 0
    }
}
