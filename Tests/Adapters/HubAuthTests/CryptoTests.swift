import Crypto
import TestSupport
import Testing

/// Two characters of each byte.
private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Suite(.tags(.c)) struct CryptoTests {
    /// RFC 4231 section 4: test cases 1, 2, 3, 6 and 7.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                "This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ] as [([UInt8], String, String)])
    func theRFCsCodesAreReproduced(_ key: [UInt8], message: String, expected: String) throws {
        #expect(hex(try HMACSHA256.code(of: Array(message.utf8), key: key)) == expected)
    }

    @Test func emptyKeysAndMessagesHaveCodes() throws {
        let expected = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        #expect(hex(try HMACSHA256.code(of: [], key: [])) == expected)
    }

    @Test func equalityTakesLengthAndEveryByteIntoAccount() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([1, 2, 3], [0, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    }

    @Test func randomBytesDiffer() throws {
        #expect(try randomBytes(32) != randomBytes(32))
        #expect(try randomBytes(33).count == 33)
        #expect(try randomBytes(0).isEmpty)
        #expect(try randomBytes(-1).isEmpty)
    }
}
