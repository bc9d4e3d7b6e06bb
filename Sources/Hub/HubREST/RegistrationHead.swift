import HubAuth

/// The text around the target in a call about devices.
struct RegistrationHead: Sendable {
    /// The first version that has installations.
    private static let oldestVersion = "2015-01"

    let beforeTarget: [UInt8]
    let version: [UInt8]
    let behindTarget: [UInt8]

    init(_ configuration: HubConfiguration, userAgent: String) {
        beforeTarget = Array(" \(configuration.endpoint.pathPrefix)\(configuration.hub)/".utf8)
        version = Array("api-version=\(max(configuration.apiVersion, Self.oldestVersion))".utf8)
        behindTarget = configuration.restOfHead(userAgent: userAgent)
    }
}

extension HubConfiguration {
    /// The head of a request without a body, from behind the target to the token.
    func restOfHead(userAgent: String) -> [UInt8] {
        Array(
            """
             HTTP/1.1\r
            Host: \(endpoint.authority)\r
            User-Agent: \(userAgent)\r
            Authorization:\u{20}
            """.utf8)
    }
}
