import Keys
import Testing

@testable import EventLoop

/// The rule by which a changed file follows the one that counts, without a file and a clock.
@Suite struct TakenFileTests {
    typealias Verdict = TakenFile<KeysFile>.Verdict

    /// The lines of the keys `a` to `c`. Others stand for themselves.
    private static let lines = Dictionary(
        uniqueKeysWithValues: "abc".enumerated().map { index, letter in
            let digest = String(repeating: "0", count: 64)
            return (letter, "id=0000000\(index) sha256=\(digest) scopes=publish created=1")
        })

    private func bytes(_ text: String) -> [UInt8] { text.flatMap { Array((Self.lines[$0] ?? String($0)).utf8) } }

    private func taken(_ text: String) throws -> TakenFile<KeysFile> {
        TakenFile(try KeysFile(bytes(text)), from: bytes(text))
    }

    /// The file that counts, the one that is found, and the verdict at first and when it has settled.
    @Test(
        arguments: [
            ("a\nb\n\n", "a\nb\nc\n\n", .follows, .follows), ("a\nb\n\n", "b\n\n", .follows, .follows),
            ("a\nb\n\n", "c\r\n\r\n", .follows, .follows), ("a\n\n", "a\nb\n", .follows, .follows),
            ("a\n", "a\nb\n", .follows, .follows), ("a\n", "b\na\n\n", .follows, .follows), ("", "a\n", .follows, .follows),
            ("a\nb\n\n", "", .isCut, .isCut), ("a\nb\n", "", .isCut, .isCut), ("a\nb\n\n", "a", .isCut, .isCut),
            ("a\nb\n\n", "a\n", .isCut, .isCut), ("a\nb\n\n", "a\nb", .isCut, .isCut), ("a\nb\n\n", "a\nb\n", .isCut, .isCut),
            ("a\nb\n", "a\n", .mustSettle, .follows), ("a\nb\n", "a\nb", .mustSettle, .follows),
            ("a\nb\n\n", "b\n", .mustSettle, .follows), ("a\nb\n\n", "a\nb\nc", .mustSettle, .follows),
            ("a\nb\n\n", "\n", .mustSettle, .follows), ("a\nb\n", "\n\n", .mustSettle, .follows),
            ("", "a", .mustSettle, .follows),
        ] as [(String, String, Verdict, Verdict)])
    func aFileFollowsWhenItIsWhole(known: String, found: String, first: Verdict, settled: Verdict) throws {
        let (taken, content) = (try taken(known), try KeysFile(bytes(found)))
        #expect(taken.verdict(on: content, from: bytes(found), isSettled: false) == first)
        #expect(taken.verdict(on: content, from: bytes(found), isSettled: true) == settled)
    }

    @Test func whatIsWrittenIsWhole() throws {
        let text = try KeysFile(bytes("a\nb\n")).bytes
        let taken = TakenFile(try KeysFile(text), from: text)
        #expect(text == bytes("a\nb\n\n") && taken.isClosed)
    }
}
