import PushModel
import TestSupport
import Testing

@testable import Outcomes

struct FeedbackPieceTests {
    private static func entry(_ handle: String, _ outcome: String = "ExpiredChannel") -> String {
        #"<?xml version="1.0" encoding="utf-16"?><PnsFeedback xmlns="http://a"><FeedbackTime>2026-01-01T00:00:00Z</FeedbackTime>"#
            + "<NotificationSystemError>\(outcome)</NotificationSystemError><Platform>apns</Platform><PnsHandle>\(handle)</PnsHandle>"
            + "</PnsFeedback>\n"
    }

    private static func read(_ text: some StringProtocol) -> FeedbackPiece {
        let bytes = Array(text.utf8)
        return FeedbackPiece(reading: bytes.span)
    }

    @Test func aWholeBlobIsReadToItsEnd() {
        let text = Self.entry("a") + Self.entry("b", "Melted") + "<!-- later -->\n"
        let piece = Self.read(text)
        #expect(piece.devices.map(\.handle) == ["a", "b"] && piece.byteCount == text.utf8.count)
        #expect(piece.unreadableCount == 0 && piece.fault == nil)
        #expect(Self.read("").byteCount == 0 && Self.read("\n \n").byteCount == 3)
    }

    /// Wherever a piece ends, what it begins with is read once, and the rest with the next one.
    @Test func aPieceMayEndAnywhere() {
        let handles = ["a", "b&amp;", "<![CDATA[</PnsFeedback><PnsFeedback>]]>"]
        let bytes = Array(handles.map { Self.entry($0) }.joined().utf8)
        for cut in 1..<bytes.count {
            let begun = Array(bytes[..<cut])
            let first = FeedbackPiece(reading: begun.span)
            let rest = Array(bytes.dropFirst(max(0, first.byteCount)))
            let second = FeedbackPiece(reading: rest.span)
            #expect(first.unreadableCount == 0 && second.unreadableCount == 0, "\(cut)")
            #expect(
                (first.devices + second.devices).map(\.handle) == ["a", "b&", "</PnsFeedback><PnsFeedback>"], "cut at \(cut)")
            #expect(first.byteCount + second.byteCount == bytes.count)
        }
    }

    @Test(
        arguments: [
            ("<Other><a/></Other>", .otherEntry), ("<PnsFeedback/>", .unexpected("PnsFeedback")),
            ("<PnsFeedback><Platform>a b</Platform></PnsFeedback>", .unexpected("PnsFeedback")),
            (
                "<PnsFeedback><Platform>a</Platform><Platform>a</Platform><PnsHandle>h</PnsHandle></PnsFeedback>",
                .unexpected("Platform")
            ),
            ("<PnsFeedback>text</PnsFeedback>", .unexpected("PnsFeedback")),
            ("<PnsFeedback><PnsHandle><a/></PnsHandle></PnsFeedback>", .unexpected("PnsHandle")),
            (
                "<PnsFeedback><PnsHandle>\(String(repeating: "h", count: 9000))</PnsHandle></PnsFeedback>",
                .unexpected("PnsHandle")
            ),
            (
                "<PnsFeedback><PnsHandle><![CDATA[\(String(repeating: "h", count: 9000))</PnsFeedback>]]></PnsHandle></PnsFeedback>",
                .unexpected("PnsHandle")
            ),
        ] as [(String, TelemetryFault)])
    func anEntryThatIsNoneIsPassedOverAndCounted(text: String, fault: TelemetryFault) {
        let piece = Self.read(Self.entry("a") + text + Self.entry("b") + text)
        #expect(piece.devices.map(\.handle) == ["a", "b"])
        #expect(piece.unreadableCount == 2 && piece.fault == fault)
        #expect(piece.byteCount == (Self.entry("a") + Self.entry("b") + text + text).utf8.count)
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY b \"c\">]>", "text", "<PnsFeedback></Other>", "<PnsFeedback a></PnsFeedback>", "</PnsFeedback>",
        "<>",
        "<PnsFeedback><PnsHandle>&b;</PnsHandle></PnsFeedback>", String(repeating: "<a>", count: 40),
    ])
    func whereNobodyKnowsHowToGoOnTheReadingEnds(text: String) {
        let piece = Self.read(Self.entry("a") + text + Self.entry("b"))
        #expect(piece.devices.map(\.handle) == ["a"] && piece.byteCount < Self.entry("a").utf8.count + text.utf8.count)
        #expect(Self.read(text + Self.entry("b")).byteCount == 0)
    }

    /// The bytes that a piece takes give the same when they stand alone, and those behind them nothing more.
    @Test(arguments: 0..<20)
    func aPieceTakesExactlyTheDocumentsThatItReads(seed: Int) throws {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            var bytes = Array((Self.entry("s3cret") + Self.entry("i", "Throttled")).utf8)
            let places = (0...random.below(3)).map { _ in random.below(bytes.count) }
            for place in places { bytes[place] = UInt8(random.below(256)) }
            bytes.removeLast(random.below(bytes.count))
            let piece = FeedbackPiece(reading: bytes.span)
            try #require((0...bytes.count).contains(piece.byteCount))
            let (taken, left) = (Array(bytes[..<piece.byteCount]), Array(bytes[piece.byteCount...]))
            #expect(FeedbackPiece(reading: taken.span) == piece)
            #expect(FeedbackPiece(reading: left.span) == Self.read(""))
            let isFirstWhole = (places + [bytes.count]).allSatisfy { $0 >= Self.entry("s3cret").utf8.count }
            if isFirstWhole { #expect(piece.devices.first == Self.read(Self.entry("s3cret")).devices.first) }
            #expect(!"\(piece)".contains("s3cret"))
        }
    }
}
