import Gzip

/// The body of one request as it comes, and its share of the server's budget, which is given back when this ends.
struct IncomingBody: ~Copyable {
    /// The reason for which a piece was not kept.
    enum Fault {
        /// The body is longer than `limit`.
        case tooLarge
        /// The budget is spent.
        case noRoom
        /// It should be gzip, and is not.
        case broken
        /// The body is too long to be worth discarding to its end.
        case endless
    }

    /// The most bytes that are read for the sake of an answer.
    private let readingLimit: Int
    private let budget: BodyBudget
    private var bytes: [UInt8] = []
    private var countedByteCount = 0
    /// True if the body comes packed.
    private var isPacked = false
    /// The decompressor of the body, from its first byte on.
    private var gunzip: Gunzip?
    /// Bytes that have come.
    private(set) var byteCount = 0
    /// The most bytes that it may have.
    private(set) var limit: Int
    /// True if bytes are kept, false if they are discarded.
    private var isKept = true

    init(limit: Int, budget: BodyBudget) {
        self.limit = limit
        self.budget = budget
        readingLimit = 8 * min(max(limit, 1 << 16), Int.max / 8)
    }

    deinit { budget.giveBack(countedByteCount) }

    mutating func restrict(to limit: Int) { self.limit = min(limit, self.limit) }

    /// Keeps what the bytes are before they are packed with gzip.
    mutating func unpack() { isPacked = true }

    /// True if nothing is missing of a packed body.
    var isComplete: Bool { gunzip?.isComplete ?? true }

    /// Keeps nothing, from now on and of what has come.
    mutating func readPast() {
        isKept = false
        bytes = []
        gunzip = nil
        budget.giveBack(countedByteCount)
        countedByteCount = 0
    }

    /// Takes the next bytes. Room for them is taken as they come, whatever length the body has announced.
    mutating func take(_ piece: UnsafeRawBufferPointer) -> Fault? {
        byteCount += piece.count
        guard byteCount < readingLimit else { return .endless }
        guard byteCount <= limit else { return .tooLarge }
        guard isKept else { return nil }
        return isPacked ? unpack(piece) : keep(piece.bytes)
    }

    private mutating func unpack(_ piece: UnsafeRawBufferPointer) -> Fault? {
        var fault: Fault?
        do throws(GzipError) {
            if gunzip == nil {
                guard reserve(Gunzip.byteCount) else { return .noRoom }
                gunzip = try Gunzip()
            }
            try gunzip?.unpack(piece.bytes) { unpacked in
                fault = keep(unpacked)
                return fault == nil
            }
        } catch {
            return error == .broken ? .broken : .noRoom
        }
        return fault
    }

    private mutating func keep(_ more: RawSpan) -> Fault? {
        let total = bytes.count + more.byteCount
        guard total <= limit else { return .tooLarge }
        guard reserve(total - max(bytes.count, budget.uncountedByteCount)) else { return .noRoom }
        more.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return nil
    }

    /// Takes so many bytes of the budget until this ends.
    private mutating func reserve(_ count: Int) -> Bool {
        guard count > 0 else { return true }
        guard budget.take(count) else { return false }
        countedByteCount += count
        return true
    }

    /// Gives all bytes away. They count until this ends. The decompressor counts no more.
    mutating func giveBytes() -> [UInt8] {
        defer { bytes = [] }
        if gunzip.take() != nil {
            budget.giveBack(Gunzip.byteCount)
            countedByteCount -= Gunzip.byteCount
        }
        return bytes
    }
}
