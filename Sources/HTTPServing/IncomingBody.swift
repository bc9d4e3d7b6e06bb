/// The body of one request as it comes, and what it has taken of the server's budget; that is given back when this ends.
struct IncomingBody: ~Copyable {
    /// Why a piece was not kept.
    enum Fault {
        /// The body is longer than `limit`.
        case tooLarge
        /// The budget is spent.
        case noRoom
        /// So much has come that it is not worth reading past.
        case endless
    }

    /// How much is read at most for the sake of an answer.
    private let readingLimit: Int
    private let budget: BodyBudget
    private var bytes: [UInt8] = []
    private var countedByteCount = 0
    /// Bytes that have come.
    private(set) var byteCount = 0
    /// The most bytes that it may have.
    private(set) var limit: Int
    /// Whether bytes are kept, and not read past.
    private var isKept = true

    init(limit: Int, _ budget: BodyBudget) {
        self.limit = limit
        self.budget = budget
        readingLimit = 8 * min(max(limit, 1 << 16), Int.max / 8)
    }

    deinit { budget.giveBack(countedByteCount) }

    /// Lowers the limit.
    mutating func restrict(to limit: Int) { self.limit = min(limit, self.limit) }

    /// Keeps nothing, from now on and of what has come.
    mutating func readPast() {
        isKept = false
        bytes = []
        budget.giveBack(countedByteCount)
        countedByteCount = 0
    }

    /// Takes the next bytes. Room for them is taken as they come, whatever length the body has announced.
    mutating func take(_ piece: UnsafeRawBufferPointer) -> Fault? {
        byteCount += piece.count
        guard byteCount < readingLimit else { return .endless }
        guard byteCount <= limit else { return .tooLarge }
        guard isKept else { return nil }
        let missing = byteCount - budget.uncountedByteCount - countedByteCount
        if missing > 0 {
            guard budget.take(missing) else { return .noRoom }
            countedByteCount += missing
        }
        bytes.append(contentsOf: piece)
        return nil
    }

    /// Gives all bytes away; they count until this ends.
    mutating func giveBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
