/// Cuts a file of lines that comes in pieces. Lines count from 1, and blank ones are counted but not given.
package struct JobLines: Sendable {
    /// A line without its end.
    package struct Line: Sendable, Equatable {
        package let number: Int
        /// Nil for a line that is too long.
        package let bytes: [UInt8]?
    }

    /// The longest line.
    package static let maximumByteCount = 256 << 10

    private var number = 1
    /// The beginning of the line that has not ended, or nil once that is too long.
    private var rest: [UInt8]? = []

    /// Lines of which none has come.
    package init() {}

    /// Takes a piece, and gives the lines that it ends.
    package mutating func cut(_ piece: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var start = 0
        while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
            take(piece[start..<end])
            lines += finish()
            number += 1
            rest = []
            start = end + 1
        }
        take(piece[start...])
        return lines
    }

    /// Gives the last line, if no end of a line ended it.
    package mutating func finish() -> [Line] {
        guard let bytes = rest else { return [Line(number: number, bytes: nil)] }
        rest = []
        return bytes.contains { $0 > 32 } ? [Line(number: number, bytes: bytes)] : []
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard let count = rest?.count else { return }
        if count + bytes.count > Self.maximumByteCount { rest = nil } else { rest?.append(contentsOf: bytes) }
    }
}
