import TestSupport
import Testing

@testable import HubServer

/// Lines of a file that comes in pieces.
struct JobLinesTests {
    private static func lines(_ text: [UInt8], byteCounts: () -> Int) -> [String] {
        var (lines, found, rest) = (JobLines(), [JobLines.Line](), text[...])
        while !rest.isEmpty {
            let piece = rest.prefix(byteCounts())
            found += lines.cut(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        found += lines.finish()
        return found.map { "\($0.number):" + ($0.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "long") }
    }

    @Test(
        arguments: [
            ("", []), ("a", ["1:a"]), ("a\nb\n", ["1:a", "2:b"]), ("\n\na\r\n \nb", ["3:a\r", "5:b"]), ("a\n\n", ["1:a"]),
        ] as [(String, [String])])
    func piecesOfAnySizeGiveTheSameLines(_ text: String, _ expected: [String]) {
        for size in 1...4 { #expect(Self.lines(Array(text.utf8)) { size } == expected) }
        var random = SeededRandom(text.utf8.count)
        #expect(Self.lines(Array(text.utf8)) { 1 + random.below(3) } == expected)
    }

    @Test(arguments: [true, false]) func aLineThatIsTooLongIsGivenWithoutItsBytes(_ isLast: Bool) {
        let long = [UInt8](repeating: 65, count: JobLines.maximumByteCount + 1)
        let text = Array("a\n".utf8) + long + (isLast ? [] : Array("\nb\n".utf8))
        #expect(Self.lines(text) { 50_000 } == ["1:a", "2:long"] + (isLast ? [] : ["3:b"]))
        #expect(Self.lines(Array(long.dropLast())) { 50_000 }.first?.utf8.count == JobLines.maximumByteCount + 2)
    }
}
