import Crypto
import Kafka
import PushModel
import Testing

@testable import KafkaCare

@Suite struct CertificateFindingsTests {
    private static let day: Int64 = 86_400_000
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)

    private static func source(_ use: CertificateSource.Use = .kafka, setting: String = "ssl.certificate.location", text: String)
        -> CertificateSource
    {
        CertificateSource(use: use, setting: setting, place: .text(text))
    }

    private static func pem(days: Int) throws -> String {
        try SelfSignedCertificate(hosts: ["localhost"], validityDays: days).certificatePEM
    }

    @Test(arguments: [
        (-1 * day, Finding.State.failed, "the certificate ended at 2026-11-"), (0, .failed, "the certificate ended at"),
        (1, .warning, ", in 0 days"), (day, .warning, ", in 1 day"), (14 * day - 1, .warning, ", in 13 days"),
    ])
    func aCertificateThatEndsIsSaid(left: Int64, state: Finding.State, text: String) {
        let finding = CertificateFindings.of(
            Self.source(text: ""), end: Timestamp(milliseconds: Self.now.milliseconds + left), now: Self.now)
        #expect(finding?.state == state)
        #expect(finding?.subject == "ssl.certificate.location")
        #expect(finding?.text.contains(text) == true)
        #expect(finding?.remedy?.contains("ssl.certificate.location") == true)
    }

    @Test func oneThatLastsForTwoWeeksIsNotMentioned() {
        let end = Timestamp(milliseconds: Self.now.milliseconds + 14 * Self.day)
        #expect(CertificateFindings.of(Self.source(text: ""), end: end, now: Self.now) == nil)
    }

    @Test func oneThatCannotBeReadIsNotMentioned() {
        #expect(CertificateFindings.of([Self.source(text: "no certificate")], now: Self.now).isEmpty)
    }

    /// Of a chain the first end counts, of authorities the last, because a new one is put beside the old one.
    @Test func aChainEndsWithItsFirstAndAuthoritiesWithTheirLast() throws {
        let (short, long) = (try Self.pem(days: 3), try Self.pem(days: 300))
        let chain = try Self.source(text: long + short).end()
        let authorities = try Self.source(.kafkaAuthority, text: long + short).end()
        #expect(chain == (try CertificateEnds(pem: short).first))
        #expect(authorities == (try CertificateEnds(pem: long).first))
    }

    @Test func ofSeveralHubsTheFirstEndCounts() throws {
        let (short, long) = (try Self.pem(days: 3), try Self.pem(days: 300))
        let sources = [
            Self.source(.hubAuthority, text: long), Self.source(.hubAuthority, text: short), Self.source(text: "nothing"),
        ]
        #expect(sources.ends == [.hubAuthority: try CertificateEnds(pem: short).first])
    }

    @Test func propertiesAndHubsNameThem() {
        typealias Property = KafkaConfiguration.Property
        let found = CertificateSource.all(
            [
                Property(key: "ssl.certificate.location", value: "/old.pem"), Property(key: "ssl.ca.location", value: "/ca.pem"),
                Property(key: "ssl.certificate.location", value: "/new.pem"),
                Property(key: "ssl.key.location", value: "/key.pem"),
            ], hubFiles: ["/hub.pem", "/hub.pem"])
        #expect(
            found == [
                CertificateSource(use: .kafka, setting: "ssl.certificate.location", place: .file("/new.pem")),
                CertificateSource(use: .kafkaAuthority, setting: "ssl.ca.location", place: .file("/ca.pem")),
                CertificateSource(use: .hubAuthority, setting: "hub.ca_file", place: .file("/hub.pem")),
            ])
        #expect(CertificateSource.all([], hubFiles: []).isEmpty)
        let inline = CertificateSource.all([Property(key: "ssl.ca.pem", value: "text")], hubFiles: [])
        #expect(inline == [CertificateSource(use: .kafkaAuthority, setting: "ssl.ca.pem", place: .text("text"))])
    }
}
