import Foundation
import HubEmulator
import Settings
import TestSupport
import Testing

@testable import Console
import HubServer
@testable import KafkaCare

@Suite struct DoctorHubTests {
    @Test func theProxyIsNamedWithoutItsLogin() throws {
        let found = try Self.findings([
            "PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_PROXY": "http://user:CANARY@127.0.0.1:1",
            "PUSHFAN_HUB_CONNECTION_STRING":
                "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=p;SharedAccessKey=CANARYkey0123456789",
        ])
        #expect(found.map(\.state) == [.failed, .ok])
        #expect(found.first?.text.contains("through the proxy http://127.0.0.1:1: ") == true)
        #expect(found.first?.remedy == "curl -v --proxy http://127.0.0.1:1 https://ns.servicebus.windows.net/")
        let hub = "ns.servicebus.windows.net/demo"
        #expect(found.last == Finding.ok("proxy", of: hub, text: "calls go through http://127.0.0.1:1 (hub.proxy)"))
        #expect(!"\(found)".contains("CANARY"))
    }

    @Test(
        arguments: [
            ("https_proxy", "http://user:CANARY@127.0.0.1:1", "calls go through http://127.0.0.1:1 (https_proxy)"),
            ("ALL_PROXY", "https://user:CANARY@127.0.0.1:1", "calls go through https://127.0.0.1:1 (ALL_PROXY)"),
            ("HTTPS_PROXY", "http://user:CANARY/word@127.0.0.1:1", "HTTPS_PROXY: a URL such as"),
            ("all_proxy", "nosuch://user:CANARY@127.0.0.1:1", "all_proxy: a URL such as"),
        ])
    func theVariableThatNamesAProxyIsToldWithoutTheLogin(variable: String, proxy: String, text: String) throws {
        let found = try Self.findings([
            "PUSHFAN_HUB_NAME": "demo", variable: proxy,
            "PUSHFAN_HUB_CONNECTION_STRING":
                "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=p;SharedAccessKey=CANARYkey0123456789",
        ])
        #expect(found.first?.state == .failed)
        #expect(found.last?.text.contains(text) == true)
        #expect(!"\(found)".contains("CANARY"))
    }

    /// What `doctor` finds of the hub that the settings name.
    static func findings(_ environment: [String: String], ahead: Int64 = 0) throws -> [Finding] {
        let settings = try Settings.load(environment: environment)
        let now = Int64(Date().timeIntervalSince1970 * 1000) + ahead
        return settings.allHubs.flatMap { HubFindings.of(HubProbe.ask(settings, $0, now: now, timeout: farDeadline)) }
    }

    @Test(arguments: [HubTier.standard, .basic])
    func theEmulatorTakesTheKeyAndNothingIsSent(tier: HubTier) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configuration.tier = tier
        let hub = try EmulatedHub(configuration)
        try hub.start()
        defer { hub.stop() }
        var environment = ["PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": hub.connectionString]
        #expect(try Self.findings(environment).map(\.check) == ["hub", "clock"])
        #expect(try Self.findings(environment).allSatisfy { $0.state == .ok })
        #expect(hub.rungCount == 0)
        #expect(try Self.findings(environment, ahead: 600_000).last?.text.contains("ahead of") == true)
        environment["PUSHFAN_HUB_NAME"] = "other"
        #expect(try Self.findings(environment).first?.text.contains("there is no such hub") == true)
        environment["PUSHFAN_HUB_NAME"] = "demo"
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString.replacingOccurrences(
            of: "SharedAccessKey=", with: "SharedAccessKey=wrong")
        #expect(try Self.findings(environment).first?.text.contains("refuses the key: 401") == true)
        #expect(try Self.findings(environment).first?.remedy?.hasSuffix("into PUSHFAN_HUB_CONNECTION_STRING") == true)
        environment["PUSHFAN_HUB_SECONDARY_KEY"] = HubEmulatorConfiguration.defaultPolicy.key
        let regenerated = try #require(try Self.findings(environment).first)
        #expect(regenerated.state == .warning && regenerated.text.hasPrefix("first key refused, second works: "))
        #expect(regenerated.remedy == "put the policy's new first key into PUSHFAN_HUB_CONNECTION_STRING, and reload the workers")
        environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString
        environment["PUSHFAN_HUB_SECONDARY_KEY"] = "d3Jvbmc="
        let former = try #require(try Self.findings(environment).first)
        #expect(former.state == .warning && former.text.hasPrefix("first key works, second refused: "))
        #expect(former.remedy?.contains("into PUSHFAN_HUB_SECONDARY_KEY before") == true)
    }

    @Test func aHubThatIsNotSetOrNotThereIsSaid() throws {
        #expect(try Self.findings([:]).map(\.state) == [.unasked])
        #expect(try Self.findings(["PUSHFAN_HUB_NAME": "demo"]).first?.text.contains("hub.connection_string") == true)
        let nobody = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=p;SharedAccessKey=CANARYkey0123456789"
        let found = try Self.findings(["PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": nobody])
        #expect(found.count == 1 && found.first?.text.contains("does not answer") == true)
        #expect(found.first?.remedy == "curl -v http://127.0.0.1:1/")
        #expect(!"\(found)".contains("CANARY"))
    }
}
