/// Cuts a file of an import that comes in pieces into portions, each small enough for one change.
package struct ImportPortions: Sendable {
    /// The most lines of a portion, and the bytes from which on it gets no more.
    private static let (lineCount, byteCount) = (200, 256 << 10)

    private let reader: RegistrationImport
    private var lines = JobLines()
    private var portion: [RegistrationImport.Line] = []
    private var byteCount = 0

    /// Portions of an import of which nothing has come.
    package init(for reader: RegistrationImport) { self.reader = reader }

    /// Takes a piece, and gives the portions that it completes. An empty one is the end, and completes the last.
    package mutating func cut(_ piece: [UInt8]) -> [[RegistrationImport.Line]] {
        var portions: [[RegistrationImport.Line]] = []
        for line in piece.isEmpty ? lines.finish() : lines.cut(piece) {
            portion.append(reader.read(line))
            byteCount += line.bytes?.count ?? 0
            if portion.count >= Self.lineCount || byteCount >= Self.byteCount { portions.append(completePortion()) }
        }
        if piece.isEmpty, !portion.isEmpty { portions.append(completePortion()) }
        return portions
    }

    private mutating func completePortion() -> [RegistrationImport.Line] {
        defer { (portion, byteCount) = ([], 0) }
        return portion
    }
}
