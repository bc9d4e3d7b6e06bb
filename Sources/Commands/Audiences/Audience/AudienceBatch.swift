import PushModel

/// The names or handles of some lines, which are looked up together.
struct AudienceBatch {
    /// The content of a line.
    struct Entry {
        let line: Int
        /// The offset in the file at which it begins.
        let offset: Int64
        let platform: Platform
        fileprivate let text: Range<Int>
    }

    /// The number of lines that are looked up together.
    private static let count = 32

    private(set) var entries: [Entry] = []
    private(set) var hashes: [UInt64] = []
    private var bytes = ByteWriter()

    var isFull: Bool { entries.count >= Self.count }

    /// Adds the content of a line that `format` has read, and that begins at `offset` in the file.
    mutating func append(_ format: borrowing AudienceFormat, salt: UInt8, line: Int, offset: Int64) {
        let start = bytes.count
        bytes.append(format.text)
        hashes.append(DistinctLines.hash(format.text.span, salt))
        entries.append(Entry(line: line, offset: offset, platform: format.platform, text: start..<bytes.count))
    }

    /// The name or handle of a line.
    @_lifetime(borrow self)
    borrowing func text(of entry: Entry) -> Span<UInt8> { bytes.span.extracting(entry.text) }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
        bytes.removeAll()
    }
}
