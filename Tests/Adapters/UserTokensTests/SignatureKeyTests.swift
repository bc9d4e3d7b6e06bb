import Basics
import Crypto
import TestSupport
import Testing
import TokenIssuer

@Suite(.tags(.c)) struct SignatureKeyTests {
    private static let message = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// The bytes of a text in the alphabet for URLs.
    private static func bytes(_ text: String) throws -> [UInt8] {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return try #require(Base64.decode(Array((plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)).utf8)))
    }

    /// RFC 7515, appendix A.2.
    @Test func theExampleOfRSAIsVerified() throws {
        let modulus = try Self.bytes(
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs"
                + "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV"
                + "MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
        )
        let signature = try Self.bytes(
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ"
                + "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e"
                + "OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        )
        let key = try SignatureKey(modulus: modulus, exponent: [1, 0, 1])
        let message = Array("eyJhbGciOiJSUzI1NiJ9.\(Self.message)".utf8)
        #expect(key.verifies(signature, of: message))
        #expect(!key.verifies(signature, of: message.dropLast()))
        for other in [[], [0] + signature, signature.dropLast(), signature + [0], [UInt8](repeating: 0, count: 256), modulus] {
            #expect(!key.verifies(other, of: message))
        }
    }

    /// RFC 7515, appendix A.3.
    @Test func theExampleOfECDSAIsVerified() throws {
        let key = try SignatureKey(
            x: Self.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
            y: Self.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let signature = try Self.bytes("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        let message = Array("eyJhbGciOiJFUzI1NiJ9.\(Self.message)".utf8)
        #expect(key.verifies(signature, of: message))
        let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
        let zero = [UInt8](repeating: 0, count: 32)
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7,
            0x17, 0x9E,
            0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let others = [
            [], r, signature.dropLast(), signature + [0], [0] + signature, zero + s, r + zero, zero + zero, order + s, r + order,
            s + r,
            [UInt8](repeating: 0xFF, count: 64), signature + signature,
        ]
        for other in others { #expect(!key.verifies(other, of: message)) }
    }

    @Test(arguments: TokenIssuer.Kind.allCases) func oneChangedBitOfASignatureOrMessageIsSeen(_ kind: TokenIssuer.Kind) throws {
        let issuer = try kind == .rsa ? Issuers.known().rsa : Issuers.known().ec
        let numbers = try issuer.numbers().map(\.bytes)
        let key =
            try kind == .rsa
            ? SignatureKey(modulus: numbers[0], exponent: numbers[1]) : SignatureKey(x: numbers[0], y: numbers[1])
        let signature = try issuer.signature(of: "abc")
        #expect(key.verifies(signature, of: Array("abc".utf8)))
        #expect(!key.verifies(signature, of: Array("abd".utf8)))
        #expect(!key.verifies(signature, of: []))
        for place in signature.indices {
            var other = signature
            other[place] ^= 1 << (place % 8)
            #expect(!key.verifies(other, of: Array("abc".utf8)))
        }
    }

    @Test func anotherFormOfAnECDSASignatureIsNone() throws {
        let issuer = try Issuers.known().ec
        let numbers = try issuer.numbers().map(\.bytes)
        let key = try SignatureKey(x: numbers[0], y: numbers[1])
        #expect(!key.verifies(try issuer.libraryForm(of: "abc"), of: Array("abc".utf8)))
    }

    @Test func aPointOffTheCurveIsNoKey() {
        let (zero, one) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 32))
        for (x, y) in [
            (one, one), (zero, zero), ([UInt8](repeating: 0xFF, count: 32), one), ([], []), (one, []), (one + one, one),
        ] {
            #expect(throws: CryptoError.self) { try SignatureKey(x: x, y: y) }
        }
    }

    @Test(arguments: 0..<50) func noNumbersCrash(seed: Int) {
        var random = SeededRandom(seed)
        func bytes(_ most: Int) -> [UInt8] { (0..<random.below(most)).map { _ in UInt8(random.below(256)) } }
        let keys = [
            try? SignatureKey(modulus: bytes(300), exponent: bytes(6)), try? SignatureKey(modulus: [], exponent: []),
            try? SignatureKey(x: bytes(34), y: bytes(34)),
        ]
        for key in keys { #expect(key?.verifies(bytes(300), of: bytes(40)) != true) }
    }
}
