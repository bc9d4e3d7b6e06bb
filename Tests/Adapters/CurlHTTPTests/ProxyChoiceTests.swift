import Foundation
import Testing

@testable import CurlHTTP

@Suite struct ProxyChoiceTests {
    typealias Scheme = ConnectionPoolConfiguration.Scheme

    private static func choice(
        _ scheme: Scheme, _ environment: [String: String], setting: String? = nil, host: String = "ns.servicebus.windows.net"
    ) throws -> ProxyChoice {
        try ProxyChoice(setting: setting, scheme: scheme, host: host) { environment[$0] }
    }

    /// Which variable counts; nil for none of them.
    static let variables: [(Scheme, [String: String], String?)] = [
        (.https, ["https_proxy": "a"], "https_proxy"), (.https, ["HTTPS_PROXY": "a"], "HTTPS_PROXY"),
        (.https, ["all_proxy": "a"], "all_proxy"), (.https, ["ALL_PROXY": "a"], "ALL_PROXY"), (.https, ["http_proxy": "a"], nil),
        (.https, ["HTTP_PROXY": "a"], nil), (.https, ["Https_Proxy": "a"], nil),
        (.http, ["http_proxy": "a"], "http_proxy"), (.http, ["HTTP_PROXY": "a"], nil), (.http, ["https_proxy": "a"], nil),
        (.http, ["HTTPS_PROXY": "a"], nil), (.http, ["all_proxy": "a"], "all_proxy"), (.http, ["ALL_PROXY": "a"], "ALL_PROXY"),
        (.https, ["https_proxy": "a", "HTTPS_PROXY": "b", "all_proxy": "c", "ALL_PROXY": "d"], "https_proxy"),
        (.https, ["HTTPS_PROXY": "a", "all_proxy": "b"], "HTTPS_PROXY"),
        (.https, ["all_proxy": "a", "ALL_PROXY": "b"], "all_proxy"),
        (.http, ["http_proxy": "a", "all_proxy": "b"], "http_proxy"),
        (.https, ["https_proxy": "", "HTTPS_PROXY": "a"], "HTTPS_PROXY"),
        (.https, ["https_proxy": "", "ALL_PROXY": "a"], "ALL_PROXY"),
        (.http, ["http_proxy": "", "HTTP_PROXY": "a"], nil), (.https, [:], nil),
        (.https, ["https_proxy": "a", "no_proxy": "windows.net"], nil), (.https, ["https_proxy": "a", "NO_PROXY": "*"], nil),
        (.https, ["https_proxy": "a", "no_proxy": "other", "NO_PROXY": "*"], "https_proxy"),
        (.https, ["https_proxy": "a", "no_proxy": "", "NO_PROXY": "*"], nil),
        (.https, ["https_proxy": "a", "no_proxy": " ", "NO_PROXY": "*"], "https_proxy"),
    ]

    @Test(arguments: variables) func theFirstVariableThatIsSetCounts(
        _ scheme: Scheme, _ environment: [String: String], _ variable: String?
    ) throws {
        let choice = try Self.choice(scheme, environment)
        #expect(choice.variable == variable)
        #expect(choice.proxy == variable.flatMap { environment[$0] }.flatMap { ProxyAddress($0) })
    }

    @Test(arguments: variables) func libcurlChoosesTheSame(
        _ scheme: Scheme, _ environment: [String: String], _ variable: String?
    ) throws {
        let marked = environment.mapValues { ["a", "b", "c", "d"].contains($0) ? "nosuch://\($0)" : $0 }
        let used = try CurlCommand.proxy(for: "\(scheme.rawValue)://ns.servicebus.windows.net/", marked)
        #expect(used == variable.flatMap { marked[$0] })
    }

    @Test(arguments: [
        ("http_proxy", true), ("https_proxy", true), ("HTTPS_PROXY", true), ("all_proxy", true), ("ALL_PROXY", true),
        ("no_proxy", true), ("NO_PROXY", true), ("HTTP_PROXY", false), ("ftp_proxy", false), ("Https_Proxy", false), ("", false),
    ])
    func onlyTheVariablesThatCountAreHandedOn(_ name: String, _ counts: Bool) {
        #expect(ProxyChoice.isVariable(name) == counts)
    }

    @Test func theSettingIsBeforeTheEnvironmentAndEmptyMeansNone() throws {
        let environment = ["https_proxy": "http://other.example", "all_proxy": "http://other.example"]
        let set = try Self.choice(.https, environment, setting: "https://p:1")
        #expect(set.proxy?.description == "https://p:1" && set.variable == nil)
        #expect(try Self.choice(.https, environment, setting: "").proxy == nil)
        #expect(try Self.choice(.https, ["no_proxy": "windows.net"], setting: "https://p:1").proxy == nil)
    }

    @Test(arguments: [nil, "http://user:CANARY/word@proxy.example"] as [String?])
    func aProxyThatCannotBeReadIsNamedByItsPlace(setting: String?) throws {
        let environment = ["ALL_PROXY": "nosuch://user:CANARY@proxy.example"]
        let problem = try #require(throws: ConnectionPoolConfiguration.Problem.self) {
            try Self.choice(.https, environment, setting: setting)
        }
        #expect(problem.setting == (setting == nil ? "ALL_PROXY" : "proxy"))
        #expect(!"\(problem)".contains("CANARY"))
        // It matters only where it is used.
        #expect(try Self.choice(.https, environment.merging(["NO_PROXY": "*"]) { $1 }, setting: setting).proxy == nil)
    }
}

/// The command curl, which has the libcurl of this machine.
enum CurlCommand {
    struct Unclear: Error {
        let message: String
    }

    /// The proxy that curl wants to use, of an environment whose proxies have schemes that do not exist, so that it says which and stops.
    ///
    /// - Returns: Nil when it uses none: it goes to a port that refuses then.
    static func proxy(for url: String, _ environment: [String: String]) throws -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["-q", "-sS", "--connect-to", "::127.0.0.1:1", url]
        process.environment = environment
        let output = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
        let message = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if message.contains("Failed to connect to 127.0.0.1 port 1 ") { return nil }
        let parts = message.split(separator: "'")
        guard message.contains("Unsupported proxy scheme"), parts.count > 1 else { throw Unclear(message: message) }
        return String(parts[1])
    }
}
