import Crypto
import Foundation
import TestSupport
import Testing

@Suite(.tags(.c)) struct CertificateEndsTests {
    private static func pem(days: Int) throws -> String {
        try SelfSignedCertificate(hosts: ["localhost"], validityDays: days).certificatePEM
    }

    /// The seconds since 1970 in which a certificate of so many days ends that is made from `begun` to now.
    private static func window(days: Int, since begun: Date) -> ClosedRange<Int64> {
        let length = Int64(days) * 86_400
        return Int64(begun.timeIntervalSince1970) + length...Int64(Date().timeIntervalSince1970) + 1 + length
    }

    @Test(arguments: [1, 14, 3650])
    func theEndIsWhatTheCertificateWasMadeWith(days: Int) throws {
        let begun = Date()
        let ends = try CertificateEnds(pem: Self.pem(days: days))
        #expect(ends.moments.count == 1)
        #expect(Self.window(days: days, since: begun).contains(ends.first))
        #expect(ends.first == ends.last)
    }

    @Test func ofSeveralTheFirstAndTheLastAreTold() throws {
        let begun = Date()
        let ends = try CertificateEnds(pem: Self.pem(days: 20) + "some text\n" + Self.pem(days: 5) + Self.pem(days: 90))
        #expect(ends.moments.count == 3)
        #expect(Self.window(days: 5, since: begun).contains(ends.first))
        #expect(Self.window(days: 90, since: begun).contains(ends.last))
    }

    @Test func aKeyBesideItIsPassedOver() throws {
        let made = try SelfSignedCertificate(hosts: ["localhost"])
        #expect(try CertificateEnds(pem: made.privateKeyPEM + made.certificatePEM).moments.count == 1)
    }

    @Test func aFileIsReadAsItsText() throws {
        let pem = try Self.pem(days: 7)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try Data(pem.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try CertificateEnds(file: file.path) == CertificateEnds(pem: pem))
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func aTextWithoutAReadableCertificateIsRefused(text: String) {
        #expect(throws: CryptoError.self) { try CertificateEnds(pem: text) }
    }

    @Test func aBrokenOneAfterAGoodOneIsRefused() throws {
        let text = try Self.pem(days: 7) + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(throws: CryptoError.self) { try CertificateEnds(pem: text) }
    }

    @Test func aFileThatIsMissingIsRefused() {
        #expect(throws: CryptoError.self) { try CertificateEnds(file: "/nonexistent/certificate.pem") }
    }
}
