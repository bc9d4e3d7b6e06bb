import Basics
import Testing

/// Vectors of draft-eastlake-fnv, appendix C.
@Suite struct FNV1aTests {
    @Test(
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("b", 0xAF63_DF4C_8601_F1A5),
            ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)])
    func theDraftsVectorsAreReproduced(text: String, hash: UInt64) {
        #expect(FNV1a.hash(of: text.utf8) == hash)
        #expect(FNV1a.hash(of: Array(text.utf8).span) == hash)
    }

    @Test(arguments: 0...6) func aHashGoesOnWhereItWasLeft(length: Int) {
        let bytes = Array("foobar".utf8)
        var hash = FNV1a()
        hash.add(bytes[..<length])
        hash = FNV1a(after: hash.value)
        for byte in bytes[length...] { hash.add(byte) }
        #expect(hash.value == 0x8594_4171_F739_67E8)
    }
}
