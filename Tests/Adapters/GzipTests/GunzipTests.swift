import Gzip
import TestSupport
import Testing

@Suite(.tags(.c)) struct GunzipTests {
    /// Unpacks all bytes, so many at a time.
    private static func unpack(_ packed: [UInt8], _ count: Int = .max) throws(GzipError) -> (content: [UInt8], isComplete: Bool) {
        let gunzip = try Gunzip()
        var content: [UInt8] = []
        var start = 0
        while start < packed.count {
            let end = start + min(count, packed.count - start)
            try gunzip.unpack(packed.span.extracting(start..<end).bytes) { piece in
                piece.withUnsafeBytes { content += $0 }
                return true
            }
            start = end
        }
        return (content, gunzip.isComplete)
    }

    /// Bytes that nothing packs well.
    private static func noise(_ count: Int, seed: Int = 1) -> [UInt8] {
        var random = SeededRandom(seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test(arguments: [1, 7, 1000, .max]) func whateverPiecesItComesInTheContentIsTheSame(count: Int) throws {
        for content in [[], [7], Self.noise(70_000)] {
            let unpacked = try Self.unpack(GzipMaker.store(content, name: content.count == 1 ? "a.json" : nil), count)
            #expect(unpacked.content == content && unpacked.isComplete)
        }
        let long = try Self.unpack(GzipMaker.pack(0x61, repeats: 2000), count)
        #expect(long.content == [UInt8](repeating: 0x61, count: 1 + 258 * 2000) && long.isComplete)
    }

    @Test(arguments: [1, .max]) func severalMembersAreOneContent(count: Int) throws {
        let packed = GzipMaker.store([1, 2]) + GzipMaker.store([]) + GzipMaker.pack(3, repeats: 1)
        let unpacked = try Self.unpack(packed, count)
        #expect(unpacked.content == [1, 2] + [UInt8](repeating: 3, count: 259) && unpacked.isComplete)
    }

    @Test func whatIsCutOffIsNotComplete() throws {
        let packed = GzipMaker.store(Array("hello".utf8))
        for count in 0..<packed.count {
            #expect(try !Self.unpack(Array(packed[..<count])).isComplete, "\(count) bytes")
        }
        #expect(try !Self.unpack(packed + packed[..<5]).isComplete)
    }

    @Test(arguments: [1, .max]) func whatIsNoGzipIsRefused(count: Int) throws {
        let packed = GzipMaker.store(Array("hello".utf8))
        var (sum, length, method) = (packed, packed, packed)
        sum[packed.count - 8] ^= 1
        length[packed.count - 4] ^= 1
        method[2] = 7
        // The last but one is zlib's own form, the last one bare deflate.
        for broken in [
            sum, length, method, packed + [0, 0], Array("hello".utf8), [0x78, 0x9C, 3, 0, 0, 0, 0, 1], Array(packed[10...]),
        ] {
            #expect(throws: GzipError.broken) { try Self.unpack(broken, count) }
        }
    }

    @Test func whoeverTakesThePiecesMayEndIt() throws {
        let gunzip = try Gunzip()
        var counts: [Int] = []
        try gunzip.unpack(GzipMaker.pack(0x61, repeats: 4000).span.bytes) { piece in
            counts.append(piece.byteCount)
            return counts.count < 3
        }
        #expect(counts == [16_384, 16_384, 16_384] && !gunzip.isComplete)
    }

    @Test(arguments: 0..<200) func noBytesDoHarm(seed: Int) throws {
        var random = SeededRandom(seed)
        let content = Self.noise(300, seed: seed)
        var packed = GzipMaker.store(content)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            packed[Int.random(in: 0..<packed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        do throws(GzipError) {
            let unpacked = try Self.unpack(packed, Int.random(in: 1...400, using: &random))
            #expect(!unpacked.isComplete || unpacked.content == content)
        } catch {
            #expect(error == .broken)
        }
    }
}
