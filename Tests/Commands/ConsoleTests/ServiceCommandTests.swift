import Glibc
import HTTPServing
import HubAuth
import HubEmulator
import Testing

@testable import Console
import HubServer
@testable import JobSupport

@Suite struct ServiceCommandTests {
    @Test func healthIsWhatTheWorkerAnswers() throws {
        let server = HTTPServer(HTTPServerConfiguration()) { request in
            let isWell = request.path == "/livez"
            return HTTPServerResponse(status: isWell ? 200 : 503, body: Array((isWell ? "ok\n" : "kafka: down\u{1B}\n").utf8))
        }
        let address = try server.start()
        defer { server.stop() }
        let live = Harness().run("healthcheck --live --listen \(address)")
        #expect(live.code == .done)
        #expect(live.output == "ok\n")
        let ready = Harness().run("healthcheck --listen \(address)")
        #expect(ready.code == .failed)
        #expect(ready.output == "kafka: down\u{FFFD}\n")
        #expect(ready.messages.contains("answered 503"))
        #expect(Harness().run("healthcheck http://\(address)/livez").code == .done)
        #expect(Harness().run("healthcheck http://\(address)").code == .failed)
    }

    @Test(arguments: [
        ("http://127.0.0.1:9464/readyz", "127.0.0.1", 9464, "/readyz"), ("http://[::1]:80/a?b", "::1", 80, "/a?b"),
        ("HTTP://host", "host", 80, "/"), ("http://[::1]/x", "::1", 80, "/x"),
    ])
    func urlsAreRead(url: String, host: String, port: Int, path: String) throws {
        let target = try #require(HealthTarget(url: url))
        #expect(target.host == host)
        #expect(target.port == port)
        #expect(target.path == path)
    }

    @Test(arguments: ["https://a", "http://", "http://user:pw@host/", "http://host:99999/", "host:80"])
    func whatIsNoPlainUrlIsRefused(url: String) {
        #expect(HealthTarget(url: url) == nil)
    }

    @Test func anEmulatorWhoseAddressIsTakenNamesTheProcessAndAWayOut() throws {
        let server = HTTPServer(HTTPServerConfiguration()) { _ in HTTPServerResponse(status: 200) }
        let address = try server.start()
        defer { server.stop() }
        let outcome = Harness().run("emulator --listen \(address)")
        #expect(outcome.code == .failed)
        #expect(outcome.messages.contains("cannot listen on \(address): Address already in use by '"))
        #expect(outcome.messages.contains("(pid \(getpid()))"))
        #expect(outcome.messages.contains("give another address with --listen; port 0 takes a free one"))
    }

    @Test func emulatorTakesNameAndKeyFromTheEnvironment() throws {
        var environment = ["PUSHFAN_HUB_NAME": "shop"]
        environment["PUSHFAN_HUB_CONNECTION_STRING"] =
            "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=mine;SharedAccessKey= a=b=="
        let configuration = try Self.configuration(
            "--listen 127.0.0.1:0 --policy r=k:Listen --fault status=503 --tier basic --tls", environment)
        #expect(configuration.hubName == "shop")
        #expect(configuration.policies.map(\.name) == ["mine", "r"])
        #expect(configuration.policies.map(\.key) == ["a=b==", "k"])
        #expect(configuration.policies.first?.rights == .all)
        #expect(configuration.tls == .selfSigned)
        #expect(configuration.tier == .basic)
        #expect(configuration.faults.map(\.text) == ["status=503"])
    }

    @Test func emulatorHasDefaults() throws {
        let configuration = try Self.configuration("", [:])
        #expect(configuration.hubName == "demo")
        #expect(configuration.listen == "127.0.0.1:8800")
        #expect(configuration.policies.map(\.name) == [HubEmulatorConfiguration.defaultPolicy.name])
        #expect(configuration.tls == .off)
    }

    private static func configuration(_ line: String, _ environment: [String: String]) throws -> HubEmulatorConfiguration {
        let streams = Streams(write: { _ in true }, writeError: { _ in }, readInput: { () throws(CommandFailure) in [] })
        let surroundings = Surroundings(streams: streams, environment: environment, now: { 0 })
        let arguments = try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: .emulator)
        return try EmulatorCommand.configuration(
            Invocation(
                program: Program(commands: []), command: .emulator, arguments: arguments, surroundings: surroundings))
    }
}
