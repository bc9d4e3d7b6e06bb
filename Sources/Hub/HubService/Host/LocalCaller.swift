import Basics
import HTTPServing

/// Tells a caller on this machine from all others.
enum LocalCaller {
    /// The fields by which a proxy names the client that it speaks for.
    private static let proxyFields = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    ]

    /// True if a program on this machine calls for itself, under a name of this machine.
    ///
    /// A page in a browser can have any name lead to this machine, so that the name counts as well.
    static func made(_ request: HTTPServerRequest) -> Bool {
        guard isLoopback(request.remoteAddress), !proxyFields.contains(where: { request.headers[$0] != nil }) else {
            return false
        }
        return request.headers["Host"].map(isLoopback) ?? true
    }

    /// True if an address, with a port or without, is one of this machine.
    private static func isLoopback(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        return String(host).equalsIgnoringCase("localhost") || NumericAddress(host)?.unmapped.isLoopback == true
    }
}
