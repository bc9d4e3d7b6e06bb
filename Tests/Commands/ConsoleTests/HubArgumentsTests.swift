import HubAuth
import HubServer
import HubService
import Testing

@testable import Console

@Suite struct HubArgumentsTests {
    private static let command = Command(
        "hub", .operators, "Serve", examples: [], groups: HubArguments.groups, readOn: "pushfan help", run: { _ in .done })

    private static func configuration(
        _ line: String, _ environment: [String: String] = [:]
    ) throws -> HubsConfiguration {
        let streams = Streams(write: { _ in true }, writeError: { _ in }, readInput: { () throws(CommandFailure) in [] })
        let surroundings = Surroundings(streams: streams, environment: environment, now: { 0 })
        let arguments = try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: command)
        let invocation = Invocation(
            program: Program(commands: []), command: command, arguments: arguments, surroundings: surroundings)
        return try HubArguments.configuration(of: invocation, with: invocation.settings())
    }

    private static func failure(_ line: String, _ environment: [String: String] = [:]) throws -> CommandFailure? {
        do {
            _ = try configuration(line, environment)
            return nil
        } catch let failure as CommandFailure {
            return failure
        }
    }

    @Test func aHubHasDefaults() throws {
        let configuration = try Self.configuration("")
        let hub = try #require(configuration.hubs.first)
        #expect(hub.name == "demo" && hub.state == "hub.db" && hub.policies.isEmpty && hub.tier == .standard)
        #expect(configuration.listen == "127.0.0.1:8800" && configuration.tls == nil && configuration.probes == nil)
        #expect(hub.handleKeyFile == nil && hub.recordFile == nil && !hub.checksHost)
        #expect(configuration.opensDevices && configuration.files.isEmpty)
    }

    @Test func flagsAndEnvironmentDescribeAHub() throws {
        var environment = ["PUSHFAN_HUB_NAME": "shop", "PUSHFAN_HUB_HANDLE_KEY_FILE": "handles.key"]
        environment["PUSHFAN_HUB_CONNECTION_STRING"] =
            "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=mine;SharedAccessKey= a=b=="
        let configuration = try Self.configuration(
            "--listen 127.0.0.1:0 --state s.db --policy r=k:Listen --tier basic --check-host --record r.ndjson --threads 3",
            environment)
        let hub = try #require(configuration.hubs.first)
        #expect(hub.name == "shop" && hub.state == "s.db" && hub.policies.map(\.name) == ["mine", "r"])
        #expect(hub.policies.map(\.key) == ["a=b==", "k"] && hub.policies.first?.rights == .all)
        #expect(hub.tier == .basic && hub.checksHost && hub.recordFile == "r.ndjson" && hub.handleKeyFile == "handles.key")
        #expect(configuration.listen == "127.0.0.1:0" && configuration.threadCount == 3)
        #expect(!"\(configuration)".contains("a=b=="))
        // A certificate that was replaced is noticed.
        #expect(try Self.configuration("--cert a.pem --key b.pem").files == ["a.pem", "b.pem"])
    }

    @Test(arguments: [
        ("--policy CANARYkey", ExitCode.usage), ("--listen nowhere", .usage), ("--probes nowhere", .usage),
        ("--cert a.pem", .usage), ("--threads 0", .usage), ("--tier gold", .usage), ("--hub-name devices", .configuration),
        ("--hubs-file hub.yaml --state hub.db", .usage), ("--hubs-file hub.yaml --policy a=CANARYkey", .usage),
        ("--hubs-file /no/such/file", .configuration),
    ])
    func whatCannotBeServedIsNamedWithoutKeys(line: String, code: ExitCode) throws {
        let failure = try #require(try Self.failure(line))
        #expect(failure.code == code && !failure.message.isEmpty && !failure.message.contains("CANARY"))
    }
}
