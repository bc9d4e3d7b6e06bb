import PushModel
import TestSupport
import Testing

@testable import Outcomes

struct BlobListingTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)

    private static func read(_ text: String) throws(TelemetryFault) -> BlobListing {
        let bytes = Array(text.utf8)
        return try BlobListing(reading: bytes.span, now: now)
    }

    private static func page(_ blobs: String, _ more: String = "<NextMarker />") -> String {
        "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"https://a/\" ContainerName=\"c\">"
            + "<MaxResults>2</MaxResults><Blobs>\(blobs)</Blobs>\(more)</EnumerationResults>"
    }

    @Test func aPageIsReadAsAStorageAccountWritesIt() throws {
        let page = try Self.read(
            Self.page(
                "<Blob><Name>11212026-a&amp;b.xml</Name><Snapshot/><Properties><Last-Modified>Sat, 21 Nov 2026 11:59:00 GMT</Last-Modified>"
                    + "<Etag>0x8</Etag><Content-Length>123</Content-Length></Properties><Metadata/></Blob><BlobPrefix><Name>p/</Name></BlobPrefix>"
                    + "<Blob><Name>x</Name></Blob>", "<NextMarker>2!8!MDE-</NextMarker>"))
        #expect(
            page.blobs == [
                .init(name: "11212026-a&b.xml", byteCount: 123, modified: Self.now.adding(seconds: -60)), .init(name: "x"),
            ])
        #expect(page.nextMarker == "2!8!MDE-")
        #expect(try Self.read(Self.page("")).blobs.isEmpty && Self.read(Self.page("")).nextMarker == nil)
        #expect(try Self.read("<EnumerationResults/>").blobs.isEmpty)
    }

    @Test(
        arguments: [
            ("", .malformed(offset: 0)), ("<html></html>", .otherListing), ("{}", .malformed(offset: 0)),
            ("<EnumerationResults><Blobs>", .malformed(offset: 27)), ("<!DOCTYPE a>", .documentType),
            (page("<Blob></Blob>"), .unexpected("Name")), (page("<Blob><Name></Name></Blob>"), .unexpected("Name")),
            (page("<Blob><Name>\(String(repeating: "n", count: 1025))</Name></Blob>"), .unexpected("Name")),
            (page("<Blob><Name>a&#10;b</Name></Blob>"), .unexpected("Name")),
            (page("<Blob><Name>a</Name><Properties><Content-Length>-1</Content-Length></Properties></Blob>"), .invalidCount),
            (
                page("<Blob><Name>a</Name><Properties><Content-Length>99999999999999999999</Content-Length></Properties></Blob>"),
                .invalidCount
            ),
            (page("text"), .unexpected("Blobs")),
        ] as [(String, TelemetryFault)])
    func nothingIsMadeOfWhatIsNoList(text: String, fault: TelemetryFault) {
        #expect(throws: fault) { try Self.read(text) }
    }

    @Test func aListThatIsTooLargeIsRefused() {
        let spaces = String(repeating: " ", count: BlobListing.maximumByteCount + 1)
        #expect(throws: TelemetryFault.tooLarge) { try Self.read(spaces) }
    }

    @Test func namesSortByTheirDay() {
        let names = ["12312025-b", "01012026-a", "other", "11212026-x", "1121202-y"]
        let sorted = names.map { BlobListing.Blob(name: $0) }.sorted { $0.age < $1.age }.map(\.name)
        #expect(sorted == ["1121202-y", "12312025-b", "01012026-a", "11212026-x", "other"])
    }

    private static func result(_ bytes: [UInt8]) -> Result<BlobListing, TelemetryFault> {
        do throws(TelemetryFault) { return .success(try BlobListing(reading: bytes.span, now: now)) } catch {
            return .failure(error)
        }
    }

    private static func written(_ blobs: [BlobListing.Blob], _ marker: String?) -> [UInt8] {
        let blobs = blobs.map { blob in
            let size = blob.byteCount.map { "<Content-Length>\($0)</Content-Length>" } ?? ""
            return "<Blob><Name>\(escaped(blob.name))</Name><Properties>\(size)</Properties></Blob>"
        }
        return Array(page(blobs.joined(), "<NextMarker>\(escaped(marker ?? ""))</NextMarker>").utf8)
    }

    /// The second time with a byte that is another, and perhaps without an end.
    @Test(arguments: 0..<10)
    func whatIsWrittenIsReadAndAFaultLiesInThePage(seed: Int) throws {
        var random = SeededRandom(seed)
        let pieces = ["a", "é", "&", "<", ">", "'", "]]>", " ", "7", "/"]
        for _ in 0..<200 {
            let blobs = (0..<random.below(3)).map { _ in
                let middle = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }.joined()
                return BlobListing.Blob(name: "n\(middle)n", byteCount: random.below(2) == 0 ? nil : Int64(random.below(1 << 40)))
            }
            let marker = random.below(2) == 0 ? nil : "2!8!&<\(random.below(100))"
            var bytes = Self.written(blobs, marker)
            let page = try Self.result(bytes).get()
            #expect(page.blobs == blobs && page.nextMarker == marker)
            bytes[random.below(bytes.count)] = UInt8(random.below(256))
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            switch Self.result(bytes) {
            case .success(let other): #expect(Self.result(Self.written(other.blobs, other.nextMarker)) == .success(other))
            case .failure(.malformed(let offset)): #expect((0...bytes.count).contains(offset))
            case .failure: break
            }
        }
    }
}

struct FeedbackLinkTests {
    private static func link(_ text: String) -> FeedbackLink? {
        let bytes = Array(text.utf8)
        return FeedbackLink(bytes.span)
    }

    @Test func itLeadsToListsAndBlobs() throws {
        let link = try #require(Self.link("https://acc.blob.core.windows.net/cont?sv=2015&sig=a%2Bb\r\n"))
        #expect(
            link.listing(after: nil, count: 7)
                == "https://acc.blob.core.windows.net/cont?restype=container&comp=list&maxresults=7&sv=2015&sig=a%2Bb")
        #expect(link.listing(after: "2!&é", count: 7).contains("&marker=2%21%26%C3%A9&sv=2015"))
        #expect(link.blob("a b/c?d#e%.xml") == "https://acc.blob.core.windows.net/cont/a%20b/c%3Fd%23e%25.xml?sv=2015&sig=a%2Bb")
        #expect(Self.link("http://127.0.0.1:88/blobs/feedback/?x=1")?.blob("b") == "http://127.0.0.1:88/blobs/feedback/b?x=1")
    }

    @Test(arguments: ["../other", "a/../b", ".", "a//b", "/a", "a/", ""])
    func aNameThatIsAnotherPathLeadsNowhere(name: String) {
        #expect(Self.link("https://a/c?s=1")?.blob(name) == nil)
    }

    @Test(arguments: [
        "", "ftp://a/c?s=1", "https://a/c", "https://a?s=1", "https://a/?s=1", "https://a/c?s=1\r\nX: y", "https://a/c d?s=1",
        "https://a/c?s=1#f", "\"https://a/c?s=1\"", "https://a/c?\(String(repeating: "s", count: 5000))",
    ])
    func whatIsNoLinkIsNotFollowed(text: String) {
        #expect(Self.link(text) == nil)
    }

    @Test func noDescriptionShowsTheSignature() throws {
        let link = try #require(Self.link("https://a/c?sig=s3cret"))
        var dumped = ""
        dump(link, to: &dumped)
        for text in ["\(link)", String(reflecting: link), dumped] { #expect(!text.contains("s3cret")) }
    }
}
