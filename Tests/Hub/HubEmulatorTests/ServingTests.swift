import Foundation
import HTTPServing
import HubAuth
import TestSupport
import Testing

@testable import HubEmulator
@testable import HubServer

/// The hub over a real socket, called by curl.
@Suite(.tags(.threads)) struct ServingTests {
    /// Runs curl and gives its exit code and its output.
    private func curl(_ arguments: String...) throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["-s", "--max-time", "10", "--noproxy", "*"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    private func serving(
        _ configure: (inout HubEmulatorConfiguration) -> Void = { _ in }, _ body: (EmulatedHub, String) throws -> Void
    )
        throws
    {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configure(&configuration)
        let hub = try EmulatedHub(configuration)
        let address = try hub.start()
        defer { hub.stop(within: .zero) }
        try body(hub, "\(configuration.tls == .off ? "http" : "https")://\(address)")
    }

    private func token(_ hub: EmulatedHub) throws -> String {
        let connection = try ConnectionString(parsing: hub.connectionString)
        let token = try SASToken.sign(
            resource: connection.endpoint.baseURL + "demo", policy: connection.credential.policy, key: connection.credential.key,
            expiry: Int64(Date().timeIntervalSince1970) + 600, style: .dotNet)
        return "Authorization: " + String(decoding: token.headerValue, as: UTF8.self)
    }

    @Test func aSendArrivesOverTheNetwork() throws {
        try serving { hub, base in
            try hub.register(EmulatedDevice(id: "i", platform: "apns", handle: "AB", tags: ["t"]))
            let sent = try curl(
                "-i", "-H", token(hub), "-H", "ServiceBusNotification-Format: apple", "-H", "ServiceBusNotification-Tags: t",
                "-d", #"{"aps":{}}"#,
                "\(base)/demo/messages/?api-version=2020-06")
            #expect(sent.output.hasPrefix("HTTP/1.1 201 Created\r\n"))
            #expect(sent.output.contains("\r\nLocation: \(base)/demo/messages/"))
            #expect(try curl("\(base)/devices?handle=ab").output.contains(#""rung_count":1"#))
            #expect(hub.calls().first?.client.hasPrefix("127.0.0.1:") == true)
        }
    }

    @Test func tlsIsServedWithASelfMadeCertificate() throws {
        try serving {
            $0.tls = .selfSigned
        } _: { hub, base in
            #expect(hub.connectionString.hasPrefix("Endpoint=https://127.0.0.1:"))
            #expect(try curl("\(base)/livez").code == 60)
            #expect(try curl("-k", "\(base)/livez").output == "ok\n")
            let made = try curl("-k", "-i", "-H", token(hub), "-X", "POST", "\(base)/demo/registrationids?api-version=2020-06")
            #expect(made.output.contains("\r\nLocation: \(base)/demo/registrationids/"))
        }
    }

    @Test func whoeverComesDuringAStopIsAnsweredOverTLSToo() throws {
        try serving {
            $0.tls = .selfSigned
        } _: { hub, base in
            hub.arm([try Fault(parsing: "hang,count=1")])
            let hanging = Process()
            hanging.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            hanging.arguments = [
                "-sk", "--noproxy", "*", "-H", try token(hub), "\(base)/demo/installations/a?api-version=2020-06",
            ]
            hanging.standardOutput = FileHandle.nullDevice
            try hanging.run()
            #expect(eventually { !hub.calls().isEmpty })
            let isStopped = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                // The client's end is not seen, so the drain lasts as long as this: far longer than the calls below.
                hub.stop(within: .seconds(15))
                isStopped.signal()
            }
            func status(_ body: String) throws -> String {
                try curl("-k", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT", "-d", body, "\(base)/faults").output
            }
            #expect(try eventually { try status("") == "503" })
            for _ in 0..<4 { #expect(try status(String(repeating: "x", count: 1000)) == "503") }
            // The stop waits for no one else.
            hanging.terminate()
            hanging.waitUntilExit()
            isStopped.wait()
        }
    }

    @Test func faultsAreFeltByAClient() throws {
        try serving { hub, base in
            func send() throws -> Int32 {
                try curl(
                    "-H", token(hub), "-H", "ServiceBusNotification-Format: apple", "-d", #"{"aps":{}}"#,
                    "\(base)/demo/messages?api-version=2020-06"
                ).code
            }
            #expect(
                try curl("-X", "PUT", "--data-binary", "reset=before,count=1", "\(base)/faults").output.contains("reset=before"))
            #expect(try send() == 56)
            hub.arm([try Fault(parsing: "truncate,count=1")])
            #expect(try send() == 18)
            hub.arm([try Fault(parsing: "drip=10/1ms,delay=20ms")])
            #expect(try send() == 0)
            #expect(hub.calls().map(\.isAccepted) == [false, true, true])
        }
    }

    @Test func devicesComeFromAFile() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("devices-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = #"[{"installationId":"a","platform":"fcmV1","pushChannel":"x","tags":["t"]}]"#
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
        var configuration = HubEmulatorConfiguration()
        configuration.devicesFile = path
        #expect(try EmulatedHub(configuration).devices().map(\.handle) == ["x"])
        #expect(FileManager.default.createFile(atPath: path, contents: Data("[{}]".utf8)))
        #expect(throws: HubEmulatorError.self) { try EmulatedHub(configuration) }
        configuration.devicesFile = path + "-none"
        #expect(throws: HubEmulatorError.unreadableFile(path: path + "-none")) { try EmulatedHub(configuration) }
    }

    @Test func aTakenAddressIsNamed() throws {
        try serving { hub, _ in
            var configuration = HubEmulatorConfiguration()
            configuration.listen = hub.address?.description ?? ""
            let second = try EmulatedHub(configuration)
            let taken = #expect(throws: HubEmulatorError.self) { try second.start() }
            let reason = "cannot listen on \(configuration.listen): Address already in use by "
            #expect(taken?.description.hasPrefix(reason) == true && taken?.description.hasSuffix(" (pid \(getpid()))") == true)
        }
    }
}
