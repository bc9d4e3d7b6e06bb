import Foundation
import Testing

@testable import Settings

/// Files that settings name, and that are missing, or no files.
@Suite struct SettingFilesTests {
    /// A folder with a file, which is gone when nobody holds this any more.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)").path
        var file: String { path + "/there" }

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static let missing = "No such file or directory"

    @Test(
        arguments: [
            ("gateway.users_file", "PUSHFAN_GATEWAY_USERS_FILE"), ("gateway.keys_file", "PUSHFAN_GATEWAY_KEYS_FILE"),
            ("gateway.jwt.keys_file", "PUSHFAN_GATEWAY_JWT_KEYS_FILE"), ("gateway.jwt.ca_file", "PUSHFAN_GATEWAY_JWT_CA_FILE"),
            ("gateway.index.key_file", "PUSHFAN_GATEWAY_INDEX_KEY_FILE"), ("hub.ca_file", "PUSHFAN_HUB_CA_FILE"),
            ("callbacks.receivers_file", "PUSHFAN_CALLBACKS_RECEIVERS_FILE"),
        ])
    func aFileThatASettingNamesMustBeThere(_ key: String, _ variable: String) throws {
        let folder = try Folder()
        let gone = folder.path + "/gone"
        func problems(_ path: String) throws -> [String] { try load([variable: path]).fileProblems().map(\.description) }
        #expect(try problems(folder.file).isEmpty)
        #expect(
            try problems(gone) == ["\(variable): \(key): the file \(SettingText.shown(gone)) cannot be read: \(Self.missing)"])
        #expect(try problems(folder.path).first?.hasSuffix("Is a directory") == true)
        #expect(
            try load([variable: gone]).fileProblems(of: .worker).isEmpty
                == (key.hasPrefix("gateway.") || key.hasPrefix("callbacks.")))
    }

    /// No process needs these before it starts: it makes them.
    @Test(arguments: ["PUSHFAN_GATEWAY_IDEMPOTENCY_FILE", "PUSHFAN_GATEWAY_STATE_DIR"])
    func whatAGatewayMakesItselfMayBeMissing(variable: String) throws {
        #expect(try load([variable: "/no/such/file"]).fileProblems().isEmpty)
    }

    @Test(
        arguments: [
            ("ssl.ca.location", "gone", true), ("ssl.ca.location", "", false), ("ssl.ca.location", "there", false),
            ("ssl.certificate.location", "", true), ("ssl.certificate.location", "gone", true),
            ("ssl.key.location", "there", false), ("ssl.key.location", "gone", true), ("ssl.keystore.location", "gone", true),
            ("client.id", "gone", false),
        ])
    func aFileThatAPropertyOfKafkaNamesMustBeThere(_ name: String, _ file: String, _ isFault: Bool) throws {
        let folder = try Folder()
        let path = folder.path + (file.isEmpty ? "" : "/\(file)")
        let text = "kafka: {properties: {\(name): \(path)}}"
        let problems = try load(file: text).fileProblems(of: .worker).map(\.description)
        #expect(problems.count == (isFault ? 1 : 0))
        let words = "kafka.properties: \(name): the file \(SettingText.shown(path)) cannot be read: "
        #expect(problems.allSatisfy { $0.hasPrefix("push.yaml:1:") && $0.contains(words) })
    }

    @Test func theSystemsAuthoritiesAreNoFile() throws {
        #expect(try load(["PUSHFAN_KAFKA_PROPERTIES": "ssl.ca.location=probe"]).fileProblems().isEmpty)
    }

    /// A hub among several that names no file of its own has that of section hub, which is said once.
    @Test func aFileOfSeveralHubsIsNamedOnce() throws {
        let text = "hub: {ca_file: /no/such/file}\nhubs: {eu: {}, us: {ca_file: /none}}"
        let problems = try load(file: text).fileProblems().map(\.description)
        #expect(problems.count == 2 && problems[0].contains(": hub.ca_file: ") && problems[1].contains(": hubs.us.ca_file: "))
    }
}
