import Crypto
import EventLoop
import Foundation
import HubAuth
import HubServer
import TestSupport
import Testing

@testable import HubService

/// What a file of hubs says, and what is wrong with one.
@Suite(.tags(.c)) struct HubsFileTests {
    private static func write(in folder: TemporaryFolder, _ name: String, _ text: String) throws -> String {
        try text.write(toFile: folder.path(name), atomically: true, encoding: .utf8)
        return folder.path(name)
    }

    /// Makes a certificate and its key.
    private static func makeTLS(in folder: TemporaryFolder) throws -> HubsConfiguration.TLS {
        let made = try SelfSignedCertificate(hosts: ["127.0.0.1"])
        return .init(
            certificateFile: try write(in: folder, "hub.pem", made.certificatePEM),
            keyFile: try write(in: folder, "hub.key", made.privateKeyPEM))
    }

    private static func fault(of text: String) -> [String] {
        do throws(HubsFault) { _ = try HubsFile.read(Array(text.utf8)) } catch { return error.items.map(\.description) }
        return []
    }

    @Test func aShortFileHasTheDefaults() throws {
        let file = try HubsFile.read(Array("hubs: [{name: shop, state: /var/lib/shop.db}]".utf8))
        #expect(file == HubsConfiguration(hubs: [.init(name: "shop", state: "/var/lib/shop.db")]))
    }

    @Test func everyKeyIsRead() throws {
        let folder = try TemporaryFolder()
        let key = try Self.write(in: folder, "app.key", "first\nsecond\n")
        let handles = try Self.write(in: folder, "handles.key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
        let tls = try Self.makeTLS(in: folder)
        let text = """
            listen: 0.0.0.0:8443
            tls: {certificate_file: \(tls.certificateFile), key_file: \(tls.keyFile)}
            probes: 127.0.0.1:9464
            threads: 4
            trust_forwarded_proto: true
            open_devices: true
            hubs:
              - name: Shop
                state: /var/lib/shop.db
                tier: basic
                check_host: true
                handle_key_file: \(handles)
                telemetry_retention: 48h
                message_lifetime: 90m
                record_file: /var/log/shop.jsonl
                policies:
                  - {name: app, key_file: \(key), rights: Listen}
                  - {name: backend, key: s3cret, rights: [Send, Manage]}
                  - {name: root, key: [a, b]}
            """
        var hub = HubsConfiguration.Hub(name: "Shop", state: "/var/lib/shop.db")
        (hub.tier, hub.checksHost, hub.handleKeyFile) = (.basic, true, handles)
        (hub.telemetryRetention, hub.messageLifetime) = (.seconds(48 * 3600), .seconds(90 * 60))
        hub.recordFile = "/var/log/shop.jsonl"
        hub.policies = [
            HubPolicy(name: "app", key: "first", rights: .listen), HubPolicy(name: "app", key: "second", rights: .listen),
            HubPolicy(name: "backend", key: "s3cret", rights: [.send, .manage]),
            HubPolicy(name: "root", key: "a", rights: .all), HubPolicy(name: "root", key: "b", rights: .all),
        ]
        var expected = HubsConfiguration(hubs: [hub])
        (expected.listen, expected.probes, expected.threadCount) = ("0.0.0.0:8443", "127.0.0.1:9464", 4)
        (expected.trustsForwardedProto, expected.opensDevices) = (true, true)
        expected.tls = tls
        expected.files = [tls.certificateFile, tls.keyFile, handles, key]
        #expect(try HubsFile.read(Array(text.utf8)) == expected)
    }

    @Test func allFaultsAreSaidAtOnceWithTheirLines() {
        let text = """
            listen: nowhere
            treads: 4
            hubs:
              - name: shop
                state: shop.db
                tier: gold
              - state: /b.db
                name: devices
                telemetry_retention: 1s
                handle_key_file: /there/is/no/such.key
              - name: a
                state: /a.db
                check_host:
                policies:
                  - {name: app, key: secretkey, key_file: /x, rights: Listen}
                  - {name: "a b", key: secretkey}
                  - {name: root, key: "with blank", rights: Read, colour: red}
            """
        let directory = "expected 1h to 8784h, a whole number and ms, s, m or h"
        #expect(
            Self.fault(of: text) == [
                "line 1: listen: expected HOST:PORT, IPv6 in brackets",
                "line 2: there is no key \"treads\"; did you mean threads?",
                "line 5: shop, state: expected the path of a file, from / on",
                "line 6: shop, tier: expected one of free, basic, standard",
                "line 8: name: expected 1 to 260 letters, digits, '.', '-' and '_', and no path beside the hubs",
                "line 9: telemetry_retention: \(directory)",
                "line 10: handle_key_file: the file does not exist",
                "line 13: a, check_host: there is no value",
                "line 15: a: a policy needs either key or key_file",
                "line 16: a: a policy needs a name, 1 to 256 visible characters",
                "line 17: a: there is no key \"colour\"",
                "line 17: a, rights: expected a list of Listen, Send and Manage",
                "line 17: a, key: expected a key of 1 to 256 visible ASCII characters without ';'",
            ])
    }

    @Test(arguments: [
        ("hubs: [{name: a, state: /a}, {name: A, state: /b}]", "line 1: A: the hub in line 1 has this name already"),
        ("hubs: [{name: a, state: /x/a}, {name: b, state: //x/./a}]", "line 1: b: the hub in line 1 has this state already"),
        (
            "hubs: [{name: a, state: /a, policies: [{name: p, key: x}, {name: p, key: y}]}]",
            "line 1: a: a policy before it has this name already"
        ),
        (
            "hubs: [{name: a, state: /a}, {name: b, state: /b, record_file: /./a}]",
            "line 1: b, record_file: this file is the state of a hub"
        ),
        (
            "hubs: [{name: a, state: /a, record_file: /a-wal}]", "line 1: a, record_file: this file is the state of a hub"
        ),
        (
            "hubs: [{name: a, state: /a, record_file: /r}, {name: b, state: /b}, {name: c, state: /c, record_file: //r}]",
            "line 1: a, record_file: this file is the record of another hub\nline 1: c, record_file: this file is the record of another hub"
        ),
        (
            "open_devices: maybe\nhubs: [{name: a, state: /a}]", "line 1: open_devices: expected true or false"
        ), ("hubs: []", "line 1: hubs: expected a list of 1 to 50 hubs"), ("threads: 4", "the key hubs is missing"),
        ("hubs", "line 1: expected keys such as hubs"), ("hubs: [{name: a}]", "line 1: a: the key state is missing"),
        (
            "hubs: [{name: ../a, state: /a}]",
            "line 1: name: expected 1 to 260 letters, digits, '.', '-' and '_', and no path beside the hubs"
        ),
        (
            "tls: {certificate_file: /a}\nhubs: [{name: a, state: /a}]",
            "line 1: tls: expected a certificate_file and a key_file, each a path from / on"
        ),
    ])
    func faultIsSaid(_ text: String, sentence: String) {
        #expect(Self.fault(of: text).joined(separator: "\n") == sentence)
    }

    @Test func aRecordIsNoFileOfKeys() throws {
        let folder = try TemporaryFolder()
        let key = try Self.write(in: folder, "key", "first\n")
        func hub(_ record: String) -> String {
            "hubs: [{name: a, state: /a, policies: [{name: p, key_file: \(key)}], record_file: \(record)}]"
        }
        #expect(Self.fault(of: hub("/r")) == [])
        #expect(Self.fault(of: hub(key)) == ["line 1: a, record_file: this file is one of the settings"])
    }

    @Test func noFaultTellsAKey() {
        let text =
            "hubs: [{name: a, state: /a, policies: [{name: p, key: 'SECRET WITH BLANKS'}], SECRETKEYasKEY: x, tier: SECRET}]"
        #expect(Self.fault(of: text).allSatisfy { !$0.contains("SECRET") })
        #expect(Self.fault(of: text).count == 3)
    }

    @Test func aFileThatIsNotThereIsSaid() {
        #expect(throws: HubsFault("the file does not exist")) { try HubsFile.read("/there/is/no/hub.yaml") }
    }

    @Test func filesOfTheCertificateAreRead() throws {
        let folder = try TemporaryFolder()
        let (tls, gone) = (try Self.makeTLS(in: folder), folder.path("gone"))
        func faults(_ certificate: String, _ key: String) -> [String] {
            Self.fault(of: "hubs: [{name: a, state: /a}]\ntls:\n  certificate_file: \(certificate)\n  key_file: \(key)")
        }
        #expect(faults(tls.certificateFile, tls.keyFile) == [])
        #expect(
            faults(gone, gone) == [
                "line 3: certificate_file: the file does not exist", "line 4: key_file: the file does not exist",
            ])
        #expect(
            faults(tls.keyFile, tls.certificateFile) == [
                "line 3: certificate_file: the file has no certificate as PEM",
                "line 4: key_file: the file has no private key as PEM",
            ])
    }

    @Test func aFileThatIsNamedBeforeItIsThereIsWatched() throws {
        let folder = try TemporaryFolder()
        let key = folder.path("later.key")
        let path = try Self.write(in: folder, "hub.yaml", "hubs: [{name: a, state: /a, policies: [{name: p, key_file: \(key)}]}]")
        #expect(throws: HubsFault.self) { try HubsFile.read(path) }
        #expect(HubsFile.files(of: path) == [path, key])
        #expect(HubsFile.files(of: try Self.write(in: folder, "half", "hubs: [{name: a, st")) == [folder.path("half")])
    }

    @Test func theFileAndThoseItNamesAreWatched() throws {
        let folder = try TemporaryFolder()
        let key = try Self.write(in: folder, "key", "first\n")
        let path = try Self.write(in: folder, "hub.yaml", "hubs: [{name: a, state: /a, policies: [{name: p, key_file: \(key)}]}]")
        #expect(try HubsFile.read(path).files == [path, key])
    }
}
