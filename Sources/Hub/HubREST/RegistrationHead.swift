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
        behindTarget = Array(
            """
             HTTP/1.1\r
            Host: \(configuration.endpoint.authority)\r
            User-Agent: \(userAgent)\r
            Authorization:\u{20}
            """.utf8)
    }
}
