import Foundation
import HubEmulator
import Testing

@testable import Console

@Suite struct DoctorHubTests {
    @Test(arguments: [
        (404, "The notification does not exist", Finding.State.ok, ExitCode.failed), (400, "", .ok, .failed),
        (404, "No service is hosted at the specified address", .failed, .configuration),
        (401, "InvalidSignature", .failed, .notAllowed), (403, "", .failed, .notAllowed),
        (403, "not available for the Basic tier of this hub", .ok, .failed), (503, "", .failed, .unreachable),
        (429, "", .warning, .failed),
    ])
    func anAnswerTellsWhetherTheKeyIsTaken(status: Int, detail: String, state: Finding.State, code: ExitCode) {
        let facts = HubFacts(hub: "ns/h", outcome: .answered(status: status, detail: detail, isThrottled: false))
        let findings = HubFindings.of(facts)
        #expect(findings.map(\.state) == [state])
        #expect(state != .failed || findings.first?.code == code)
        #expect(state == .ok || findings.first?.remedy != nil)
    }

    @Test(arguments: [
        (Int64(0), Finding.State.ok), (29_000, .ok), (31_000, .warning), (-31_000, .warning), (3_600_000, .failed),
        (-3_600_000, .warning),
    ])
    func aClockThatIsFarOffIsNamed(skew: Int64, state: Finding.State) {
        let findings = HubFindings.of(
            HubFacts(hub: "ns/h", outcome: .answered(status: 404, detail: "", isThrottled: false), skew: skew))
        #expect(findings.map(\.state) == [.ok, state])
    }

    @Test(arguments: [
        ("certificate", ExitCode.notAllowed), ("tls", .notAllowed), ("connect", .unreachable), ("timeout", .unreachable),
    ])
    func aHubThatDoesNotAnswerIsUnreachableOrUntrusted(reason: String, code: ExitCode) {
        let findings = HubFindings.of(HubFacts(hub: "ns/h", outcome: .failed(reason: reason, detail: "d")))
        #expect(findings.map(\.code) == [code])
    }

    /// What `doctor` says of a hub; the broker, which is none, fails in any case.
    private static func hubLines(_ environment: [String: String], now: Int64 = 0) -> [String] {
        var harness = Harness()
        harness.environment = environment
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) + now }
        let outcome = harness.run("doctor -o ndjson --timeout 2s")
        #expect(outcome.code == .unreachable)
        return outcome.lines.map(String.init).filter { $0.contains(#""check":"hub""#) || $0.contains(#""check":"clock""#) }
    }

    @Test(arguments: [HubEmulatorConfiguration.Tier.standard, .basic])
    func theEmulatorTakesTheKeyAndNothingIsSent(tier: HubEmulatorConfiguration.Tier) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configuration.tier = tier
        let hub = try EmulatedHub(configuration)
        try hub.start()
        defer { hub.stop() }
        var environment = ["PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": hub.connectionString]
        let lines = Self.hubLines(environment)
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains(#""state":"ok""#) })
        #expect(hub.rungCount == 0)
        let ahead = Self.hubLines(environment, now: 600_000)
        #expect(ahead.count == 2 && ahead[1].contains("ahead of"))
        environment["PUSHFAN_HUB_NAME"] = "other"
        #expect(Self.hubLines(environment).first?.contains("there is no such hub") == true)
        environment["PUSHFAN_HUB_NAME"] = "demo"
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString.replacingOccurrences(
            of: "SharedAccessKey=", with: "SharedAccessKey=wrong")
        #expect(Self.hubLines(environment).first?.contains("refuses the key: 401") == true)
    }

    @Test func aHubThatIsNotSetOrNotThereIsSaid() {
        #expect(Self.hubLines([:]).first?.contains(#""state":"not_asked""#) == true)
        #expect(Self.hubLines(["PUSHFAN_HUB_NAME": "demo"]).first?.contains("hub.connection_string") == true)
        let nobody = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=p;SharedAccessKey=CANARYkey0123456789"
        let lines = Self.hubLines(["PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": nobody])
        #expect(lines.count == 1 && lines[0].contains("does not answer"))
        #expect(lines.first?.contains("CANARY") == false)
    }
}
