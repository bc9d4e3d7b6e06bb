import Foundation
import PushModel
import Synchronization
import Testing

@testable import Console
@testable import JobSupport

@Suite struct TextTests {
    @Test(arguments: [
        ("abc", 3), ("", 0), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("한글", 4), ("ｱ", 1), ("Ａ", 2),
        ("…", 1),
    ])
    func widthCountsColumns(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test(arguments: [("abcdef", 4, "abc…"), ("abcd", 4, "abcd"), ("日本語", 4, "日…"), ("ab", 0, ""), ("ab", 1, "…")])
    func cuttingStaysWithinTheWidth(text: String, width: Int, expected: String) {
        #expect(DisplayWidth.cut(text, to: width) == expected)
        #expect(DisplayWidth.of(DisplayWidth.cut(text, to: width)) <= width)
    }

    @Test func columnsAreAlignedByWidth() {
        var table = Table([.init(title: "NAME"), .init(title: "N", isNumber: true), .init(title: "LAST")])
        table.add("日本", "7", "x")
        table.add("abcdef", "12", "y")
        #expect(table.lines(Streams.Traits()) == ["NAME     N  LAST", "日本     7  x", "abcdef  12  y"])
    }

    @Test func lastColumnIsCutAtTheTerminalsEdge() {
        var traits = Streams.Traits()
        traits.width = 20
        var table = Table("A", "B")
        table.add("12345", String(repeating: "x", count: 40))
        #expect(table.lines(traits).allSatisfy { DisplayWidth.of($0) <= 20 })
        #expect(table.lines(Streams.Traits()).dropFirst().first?.hasSuffix("xxx") == true)
    }

    @Test func wrappedCellsShowEverythingWithinTheWidth() {
        var table = Table("A", "N", "B")
        table.wrapsCells = true
        table.add("one two three", "7", "some words that take more lines")
        table.add("x", "8", "few")
        var traits = Streams.Traits()
        traits.width = 24
        #expect(
            table.lines(traits) == [
                "A          N  B", "one two    7  some words", "three         that take", "              more lines",
                "x          8  few",
            ])
        #expect(table.lines(Streams.Traits()).dropFirst().first == "one two three  7  some words that take more lines")
    }

    @Test(arguments: [
        (nil, ["A    FIRST  SECOND  LAST", "one  1      2       some more words"]),
        (28, ["A    FIRST  LAST", "one  1      some more words"]), (20, ["A    LAST", "one  some more words"]),
        (16, ["A    LAST", "one  some more", "     words"]),
    ])
    func spareColumnsGoBeforeAnythingIsWrapped(width: Int?, lines: [String]) {
        var table = Table([
            .init(title: "A"), .init(title: "FIRST", spare: 2), .init(title: "SECOND", spare: 1), .init(title: "LAST"),
        ])
        table.add("one", "1", "2", "some more words")
        var traits = Streams.Traits()
        traits.width = width
        #expect(table.fitting(traits).lines(traits) == lines)
    }

    @Test(arguments: [100, 120, 200])
    func theTableOfCodesFitsATerminal(width: Int) {
        var harness = Harness()
        harness.traits.width = width
        let lines = harness.run("explain --codes").lines
        #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= min(width, 120) })
        #expect(lines.count > 40 && Harness().run("explain --codes").lines.contains { $0.count > 200 })
    }

    @Test func coloursAreForTerminalsOnly() {
        var traits = Streams.Traits()
        var table = Table("STATE")
        table.add("failed")
        #expect(!table.lines(traits).joined().contains("\u{1B}"))
        traits.usesColour = true
        #expect(table.lines(traits).dropFirst().first == "\u{1B}[31mfailed\u{1B}[0m")
    }

    @Test func textFromElsewhereCannotSteerTheTerminal() {
        var table = Table("A")
        table.add("a\u{1B}[2Jb\nc\u{202E}d\u{9B}e")
        #expect(table.lines(Streams.Traits()).dropFirst().first == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d\u{FFFD}e")
    }

    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("30s", .seconds(30)), ("15m", .seconds(900)), ("1h30m", .seconds(5400)),
        ("7d", .seconds(604_800)),
        ("0s", .zero),
    ])
    func lengthsOfTimeAreRead(text: String, expected: Duration) {
        #expect(TimeText.duration(text) == expected)
    }

    @Test(arguments: ["", "5", "s", "-1s", "1.5h", "1 h", "1w", "99999999999999999999d", "9223372036854775807d", "٣s"])
    func whatIsNoLengthOfTimeIsRefused(text: String) {
        #expect(TimeText.duration(text) == nil)
    }

    @Test func csvQuotesWhatNeedsIt() {
        #expect(CSV.line(["a", "b,c", "d\"e", " f", "", "g\nh"]) == "a,\"b,c\",\"d\"\"e\",\" f\",,\"g\nh\"")
    }

    @Test(arguments: [
        ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""), ("+1+1", "'+1+1"), ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t=1"), ("＝1", "'＝1"), ("-", "'-"), ("-12", "-12"), ("a=b", "a=b"), ("1-2", "1-2"),
    ])
    func noCellIsAFormula(_ text: String, _ cell: String) {
        #expect(CSV.line([text]) == cell)
    }

    @Test func whatATerminalActsOnIsEscapedInJSONAndMeansTheSame() throws {
        let text = "a\u{9B}31m\u{7F}\u{85}\u{202E}b\u{2066}é\u{2028}🙂\u{1B}[0m"
        let escaped = String(decoding: Sanitised.bytes(Array(text.utf8)), as: UTF8.self)
        #expect(escaped == #"a\u009b31m\u007f\u0085\u202eb\u2066é\u2028🙂"# + "\u{1B}[0m")
        let object = Array("{\"a\":\"x\u{9B}\u{202E}y\"}".utf8)
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(Sanitised.bytes(object)))
        #expect(decoded == ["a": "x\u{9B}\u{202E}y"])
        let plain = Array("{\"a\":\"Grüße – 你好\"}".utf8)
        #expect(Sanitised.bytes(plain) == plain)
    }

    @Test func wideColumnsAreForWideTablesAndCSV() {
        var table = Table([.init(title: "A"), .init(title: "TOOK MS", isNumber: true, isWide: true), .init(title: "B")])
        table.add("x", "-", "y,z")
        #expect(table.narrow.lines(Streams.Traits()) == ["A  B", "x  y,z"])
        #expect(table.lines(Streams.Traits()) == ["A  TOOK MS  B", "x        -  y,z"])
        #expect(table.csv == ["a,took_ms,b", "x,,\"y,z\""])
    }

    @Test func progressTellsShareRateAndTimeLeft() {
        let text = ScanProgress.text(topic: "t", done: 250_000, total: 1_000_000, after: .milliseconds(500))
        #expect(text == "reading t: 25 % of 1000000, 500000 a second, 2 s left")
        #expect(ScanProgress.text(topic: "t", done: 0, total: 10, after: .zero) == "reading t: 0 % of 10, 0 a second")
        #expect(ScanProgress.text(topic: "t", done: .max, total: .max, after: .zero).contains("100 %"))
    }

    @Test func statusIsForTerminalsOnly() {
        let written = Sink()
        var traits = Streams.Traits()
        for isTerminal in [false, true] {
            traits.isErrorTerminal = isTerminal
            let streams = Streams(
                traits: traits, write: { _ in true }, writeError: written.add,
                readInput: { () throws(CommandFailure) in [] })
            streams.showStatus("half")
            streams.showStatus(nil)
        }
        #expect(written.text == "\rhalf\u{1B}[K\r\u{1B}[K")
    }

    /// The steps of sorting are shown behind a reading that was shown, and a short reading shows nothing.
    @Test(arguments: [false, true]) func sortingIsShownAfterALongReading(isLong: Bool) {
        let written = Sink()
        let start = ContinuousClock.now
        let passed = Atomic(0)
        var traits = Streams.Traits()
        traits.isErrorTerminal = true
        let streams = Streams(
            traits: traits, write: { _ in true }, writeError: written.add, readInput: { () throws(CommandFailure) in [] })
        let line = ProgressLine(streams) { start + .milliseconds(passed.load(ordering: .relaxed)) }
        line.show(.began(.topic("t"), count: 10))
        passed.store(isLong ? 701 : 699, ordering: .relaxed)
        line.show(.reached(remaining: 5))
        line.show(.ended)
        for done in 0...2 { line.show(.sorting(done: done, of: 2)) }
        let reading = written.text.prefix { $0 != "\u{1B}" }
        #expect(reading.hasPrefix(isLong ? "\rreading t: 50 % of 10" : ""))
        let clear = "\u{1B}[K\r\u{1B}[K"
        let steps = "\rsorting the index: step 1 of 2\u{1B}[K\rsorting the index: step 2 of 2"
        #expect(written.text.dropFirst(reading.count) == (isLong ? clear + steps + clear : ""))
    }

    /// A list of requests is read in pieces, each of which is short.
    @Test(arguments: [false, true]) func aPieceOfALongReadingIsShownAtOnce(isLong: Bool) {
        let written = Sink()
        let start = ContinuousClock.now
        let passed = Atomic(0)
        var traits = Streams.Traits()
        traits.isErrorTerminal = true
        let streams = Streams(
            traits: traits, write: { _ in true }, writeError: written.add, readInput: { () throws(CommandFailure) in [] })
        let line = ProgressLine(streams) { start + .milliseconds(passed.load(ordering: .relaxed)) }
        line.show(.began(.topic("t"), count: 10))
        line.show(.ended)
        passed.store(isLong ? 700 : 699, ordering: .relaxed)
        line.show(.began(.topic("t"), count: 20))
        line.show(.reached(remaining: 5))
        line.show(.ended)
        #expect(written.text.hasPrefix("\rreading t: 75 % of 20") == isLong && written.text.isEmpty != isLong)
    }

    @Test func jsonObjectsAreWrittenInOrder() {
        var object = JSONObject([
            "a": "x\"\n", "none": nil, "n": 7, "b": true, "t": ["1", "2"] as [String], "e": [] as [String],
        ])
        object.add("p", pairs: [("k", "v")])
        object.add(["none": nil as String?, "z": "last"])
        object.add("q", pairs: [])
        let text = String(decoding: object.bytes, as: UTF8.self)
        #expect(text == #"{"a":"x\"\n","n":7,"b":true,"t":["1","2"],"p":{"k":"v"},"z":"last"}"#)
    }
}
