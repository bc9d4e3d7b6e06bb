import Foundation
import Testing

@testable import Kafka

@Suite("Properties that change while clients are at work")
struct LivePropertiesTests {
    typealias Property = KafkaConfiguration.Property

    static let login = [
        Property(key: "sasl.mechanism", value: "PLAIN"), Property(key: "sasl.username", value: "shop"),
        Property(key: "sasl.password", value: "old-secret"),
    ]

    private func check(_ configuration: KafkaConfiguration) throws {
        try configuration.check(transactionalID: "t", transactionTimeout: .seconds(15), sessionTimeout: .seconds(10))
    }

    private func changed(_ key: String, to value: String) -> [Property] {
        Self.login.filter { $0.key != key } + [Property(key: key, value: value)]
    }

    @Test("The same properties have no effect, a password lets clients log in anew, all else opens them again")
    func effectsFollowFromWhatChanged() {
        let live = LiveProperties(Self.login)
        #expect(live.renew(Self.login) == .none)
        #expect(live.renew(changed("sasl.password", to: "new-secret")) == .login)
        #expect(live.epoch == 0)
        #expect(live.renew(changed("sasl.mechanism", to: "SCRAM-SHA-512")) == .reopening)
        #expect(live.epoch == 1)
        #expect(live.renew(Self.login.dropLast()) == .reopening, "without a password there is no login")
    }

    @Test("A file that was replaced opens clients again, also when its path is the same")
    func aReplacedFileIsSeen() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pushfan-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("one".utf8).write(to: file)
        let properties = [Property(key: "ssl.certificate.location", value: file.path)]
        let live = LiveProperties(properties)
        #expect(live.renew(properties) == .none)
        try Data("another".utf8).write(to: file)
        #expect(live.renew(properties) == .reopening)
        #expect(live.renew(properties) == .none)
    }

    @Test("New files are reported once they stay as they are, and once only")
    func newFilesAreReported() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pushfan-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("one".utf8).write(to: file)
        let properties = [Property(key: "ssl.certificate.location", value: file.path)]
        let live = LiveProperties(properties)
        #expect([live.findsNewFiles(), live.findsNewFiles()] == [false, false])
        try Data("half of".utf8).write(to: file)
        #expect(!live.findsNewFiles())
        try Data("another".utf8 + [0]).write(to: file)
        #expect([live.findsNewFiles(), live.findsNewFiles(), live.findsNewFiles()] == [false, true, false])
        #expect(live.renew(properties) == .reopening)
        #expect([live.findsNewFiles(), live.findsNewFiles()] == [false, false])
    }

    @Test("Later clients have the user's new properties, and what a part of the program has added to the old ones")
    func additionsOutliveARenewal() {
        let live = LiveProperties(Self.login)
        let added = Property(key: "message.timeout.ms", value: "1000")
        #expect(live.renewed([added] + Self.login) == [added] + Self.login)
        _ = live.renew(changed("sasl.password", to: "new-secret") + [Property(key: "socket.timeout.ms", value: "1")])
        let renewed = live.renewed([added] + Self.login)
        let keys = ["message.timeout.ms", "sasl.mechanism", "sasl.username", "sasl.password", "socket.timeout.ms"]
        #expect(renewed.map(\.key) == keys)
        #expect(renewed[3].value == "new-secret")
        #expect(live.secrets == ["new-secret"])
    }

    @Test("A client that is at work when certificates change is outdated, a later one is not")
    func clientsBeforeAreOutdated() throws {
        let live = LiveProperties([])
        var configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:9")
        configuration.live = live
        let before = try Producer(configuration, transactionalID: nil)
        #expect(!before.isOutdated)
        #expect(live.renew([Property(key: "socket.timeout.ms", value: "5000")]) == .reopening)
        #expect(before.isOutdated)
        let after = try Producer(configuration, transactionalID: nil)
        #expect(!after.isOutdated)
    }

    @Test(
        "Properties that do not go together in one kind of client are refused before any client is opened again",
        arguments: [("acks", "1"), ("message.timeout.ms", "120000"), ("session.timeout.ms", "90000")])
    func everyKindOfClientIsChecked(key: String, value: String) {
        let properties = [Property(key: key, value: value)]
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:9", properties: properties)
        #expect(throws: KafkaError.self) { try check(configuration) }
    }

    @Test("A file that cannot be used is a wrong setting, and named")
    func anUnusableFileIsNamed() {
        for key in ["ssl.ca.location", "ssl.certificate.location"] {
            let configuration = KafkaConfiguration(
                bootstrapServers: "127.0.0.1:9",
                properties: [Property(key: "security.protocol", value: "SSL"), Property(key: key, value: "/no/such/file")])
            let error = #expect(throws: KafkaError.self) { try check(configuration) }
            #expect(error?.property == key)
        }
    }
}
