import Basics
import Crypto
import TestSupport
import Testing

@Suite(.tags(.c)) struct SelfSignedCertificateTests {
    @Test func theCertificateNamesEveryHost() throws {
        let made = try SelfSignedCertificate(hosts: ["localhost", "*.Example.org", "127.0.0.1", "[::1]", "fe80::1"])
        let certificate = try der(made.certificatePEM, label: "CERTIFICATE")
        #expect(certificate.contains([0x82, 9] + "localhost".utf8))
        #expect(certificate.contains([0x82, 13] + "*.Example.org".utf8))
        #expect(certificate.contains([0x87, 4, 127, 0, 0, 1]))
        #expect(certificate.contains([0x87, 16] + [UInt8](repeating: 0, count: 15) + [1]))
        #expect(certificate.contains([0x87, 16, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]))
        // version [0] { INTEGER 2 }: v3; and ecdsa-with-SHA256 over prime256v1.
        #expect(certificate.contains([0xA0, 3, 2, 1, 2]))
        #expect(certificate.contains([0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]))
        #expect(certificate.contains([0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]))
    }

    @Test func theKeyBelongsToTheCertificate() throws {
        let made = try SelfSignedCertificate(hosts: ["localhost"])
        // PKCS #8 ends in the public point, uncompressed; the certificate holds the same point.
        let point = Array(try der(made.privateKeyPEM, label: "PRIVATE KEY").suffix(65))
        #expect(point.first == 4)
        #expect(try der(made.certificatePEM, label: "CERTIFICATE").contains(point))
    }

    @Test func everyCertificateIsNew() throws {
        let first = try SelfSignedCertificate(hosts: ["localhost"])
        let second = try SelfSignedCertificate(hosts: ["localhost"])
        #expect(first.certificatePEM != second.certificatePEM)
        #expect(first.privateKeyPEM != second.privateKeyPEM)
    }

    @Test(arguments: [
        "", "a b", "a,DNS:evil.org", "localhost,IP:10.0.0.1", "a..b", ".", "[localhost]", "[]", "http://a", "a:80", "é.org",
        "a\0b",
        "email:copy", "*.", "*", "a*.org", "1.2.3.4:5", String(repeating: "a", count: 64),
    ])
    func whatIsNoHostIsRefused(_ host: String) {
        #expect(throws: CryptoError.invalidHost(index: 1)) { try SelfSignedCertificate(hosts: ["localhost", host]) }
    }

    @Test func hostsAndValidityAreRequired() {
        #expect(throws: CryptoError.noHosts) { try SelfSignedCertificate(hosts: []) }
        #expect(throws: CryptoError.invalidValidity(days: 0)) { try SelfSignedCertificate(hosts: ["a"], validityDays: 0) }
        #expect(throws: CryptoError.invalidValidity(days: 3651)) { try SelfSignedCertificate(hosts: ["a"], validityDays: 3651) }
    }

    @Test func nothingThatIsPrintedShowsTheKey() throws {
        let made = try SelfSignedCertificate(hosts: ["localhost"])
        var dumped = ""
        dump(made, to: &dumped)
        for text in ["\(made)", String(reflecting: made), dumped] { #expect(!text.contains("BEGIN")) }
    }

    private func der(_ pem: String, label: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n")
        #expect(lines.first == "-----BEGIN \(label)-----")
        #expect(lines.last == "-----END \(label)-----")
        return try #require(Base64.decode(Array(lines.dropFirst().dropLast().joined().utf8)))
    }
}
