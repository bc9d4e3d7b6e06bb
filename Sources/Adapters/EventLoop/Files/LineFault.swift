internal import Basics

/// A fault of a file of lines, without any part of its content.
public struct LineFault<Reason: Error & Equatable & CustomStringConvertible>: Error, Equatable {
    /// The line, from 1, or nil for a fault of the whole file.
    public let line: Int?
    /// The kind of fault.
    public let reason: Reason

    /// A fault of a line, or of the whole file.
    public init(_ reason: Reason, line: Int? = nil) {
        self.line = line
        self.reason = reason
    }

    /// Reads lines that end with a line feed, with or without a carriage return before it. Empty lines and a byte order mark in front
    /// are passed over. Throws what `read` does, with the number of its line.
    public static func read(_ bytes: [UInt8], line read: (ArraySlice<UInt8>) throws(Reason) -> Void) throws(Self) {
        var rest = bytes.withoutByteOrderMark
        var number = 0
        while !rest.isEmpty {
            number += 1
            let whole = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(whole.count + 1)
            let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
            guard !line.isEmpty else { continue }
            do throws(Reason) { try read(line) } catch { throw Self(error, line: number) }
        }
    }
}

extension LineFault: CustomStringConvertible {
    /// `line 3: there is no colon behind the name`.
    public var description: String { (line.map { "line \($0): " } ?? "") + reason.description }
}
