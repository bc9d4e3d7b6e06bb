import Gzip
import TestSupport
import Testing

@Suite(.tags(.c)) struct GzipTests {
    private static func unpack(_ packed: [UInt8]) throws -> (content: [UInt8], isComplete: Bool) {
        let gunzip = try Gunzip()
        var content: [UInt8] = []
        try gunzip.unpack(packed.span.bytes) { piece in
            piece.withUnsafeBytes { content += $0 }
            return true
        }
        return (content, gunzip.isComplete)
    }

    @Test(arguments: [0, 1, 1000, 200_000]) func whatIsPackedUnpacksToTheSame(count: Int) throws {
        var random = SeededRandom(count)
        for content in [
            [UInt8](repeating: 7, count: count), (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) },
        ] {
            let unpacked = try Self.unpack(gzip(content))
            #expect(unpacked.content == content && unpacked.isComplete)
        }
    }

    @Test func theSameBytesBecomeTheSameFewBytes() throws {
        let content = [UInt8](repeating: 0x61, count: 100_000)
        #expect(try gzip(content) == gzip(content))
        #expect(try gzip(content).count < 1000)
    }
}
