import Crypto
import TestSupport
import Testing

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).map { place in
        UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0
    }
}

/// Authenticated encryption, and keys that are derived for it.
@Suite(.tags(.c)) struct SealingTests {
    /// Test cases 13, 14 and 15 of the specification of GCM that NIST has published with SP 800-38D.
    static let vectors: [(key: String, nonce: String, message: String, sealed: String)] = [
        (
            String(repeating: "0", count: 64), String(repeating: "0", count: 24), "", "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        (
            String(repeating: "0", count: 64), String(repeating: "0", count: 24), String(repeating: "0", count: 32),
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad" + "b094dac5d93471bdec1a502270e3cc6c"
        ),
    ]

    @Test(arguments: vectors)
    func thePublishedMessagesAreSealedAndOpened(row: (key: String, nonce: String, message: String, sealed: String)) throws {
        let (key, nonce) = (bytes(row.key), bytes(row.nonce))
        #expect(hex(try AES256GCM.seal(bytes(row.message), key: key, nonce: nonce)) == row.sealed)
        let opened = try AES256GCM.open(bytes(row.sealed), key: key, nonce: nonce)
        #expect(opened == bytes(row.message))
    }

    @Test func whatWasChangedIsNotOpened() throws {
        let (key, nonce) = (try randomBytes(32), try randomBytes(12))
        let sealed = try AES256GCM.seal(Array("text".utf8), key: key, nonce: nonce)
        for place in sealed.indices {
            var changed = sealed
            changed[place] ^= 1
            #expect(try AES256GCM.open(changed, key: key, nonce: nonce) == nil)
        }
        for count in 0..<sealed.count {
            #expect(try AES256GCM.open(Array(sealed.prefix(count)), key: key, nonce: nonce) == nil)
        }
        #expect(try AES256GCM.open(sealed, key: randomBytes(32), nonce: nonce) == nil)
        #expect(try AES256GCM.open(sealed, key: key, nonce: randomBytes(12)) == nil)
        #expect(try AES256GCM.open(sealed, key: key, nonce: nonce) == Array("text".utf8))
    }

    @Test(arguments: [(0, 12), (31, 12), (33, 12), (32, 11), (32, 16)])
    func keysAndNoncesOfAnotherLengthAreRefused(key: Int, nonce: Int) throws {
        let (key, nonce) = ([UInt8](repeating: 0, count: key), [UInt8](repeating: 0, count: nonce))
        #expect(throws: CryptoError.self) { try AES256GCM.seal([1], key: key, nonce: nonce) }
        #expect(throws: CryptoError.self) {
            try AES256GCM.open([UInt8](repeating: 0, count: 17), key: key, nonce: nonce)
        }
    }

    /// RFC 5869 appendix A: test cases 1, 2 and 3.
    @Test func theRFCsKeysAreDerived() throws {
        let first = try HKDFSHA256.key(
            from: [UInt8](repeating: 0x0B, count: 22), salt: Array(0...0x0C), info: Array(0xF0...0xF9), byteCount: 42)
        #expect(hex(first) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        let second = try HKDFSHA256.key(
            from: Array(0...0x4F), salt: Array(0x60...0xAF), info: Array(0xB0...0xFF), byteCount: 82)
        #expect(
            hex(second) == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
                + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
        let third = try HKDFSHA256.key(from: [UInt8](repeating: 0x0B, count: 22), info: [], byteCount: 42)
        #expect(hex(third) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func noKeyIsEmptyOrTooLong() throws {
        #expect(throws: CryptoError.self) { try HKDFSHA256.key(from: [1], info: [], byteCount: 0) }
        #expect(throws: CryptoError.self) { try HKDFSHA256.key(from: [1], info: [], byteCount: 8161) }
        #expect(try HKDFSHA256.key(from: [1], info: [], byteCount: 8160).count == 8160)
    }
}
