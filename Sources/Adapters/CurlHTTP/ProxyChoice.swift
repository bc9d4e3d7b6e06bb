/// The proxy that connections go through: that of the settings, else that of the environment, as libcurl chooses
/// (libcurl-env(3)).
///
/// It is chosen here and not in libcurl, because 7.88 does not tell which proxy it uses, and a proxy that is reached over TLS changes
/// what the bytes on a socket are.
public struct ProxyChoice: Hashable, Sendable {
    /// The proxy, or nil when the host is called without one.
    public let proxy: ProxyAddress?
    /// The variable that names it, or nil when the settings do, or there is none.
    public let variable: String?

    /// Chooses. The setting is empty for no proxy at all, and nil to leave it to the environment, where an empty variable is as
    /// good as none. `no_proxy` may exempt the host from either. Throws for a proxy whose URL cannot be read, and names where it
    /// is from and not what it is.
    init(
        setting: String?, scheme: ConnectionPoolConfiguration.Scheme, host: String, environment: (String) -> String?
    ) throws(ConnectionPoolConfiguration.Problem) {
        var (text, name) = (setting ?? "", String?.none)
        if setting == nil, let found = Self.first(of: Self.variables(for: scheme), in: environment) {
            (text, name) = (found.value, found.name)
        }
        let exempt = Self.first(of: Self.exemptions, in: environment)?.value ?? ""
        if text.isEmpty || ProxyExemptions(exempt).contain(host) {
            (proxy, variable) = (nil, nil)
            return
        }
        guard let address = ProxyAddress(text) else {
            throw ConnectionPoolConfiguration.Problem(
                setting: name ?? "proxy", expectation: "a URL such as http://proxy.example:3128, with % codes in its login")
        }
        (proxy, variable) = (address, name)
    }

    /// In the order in which they count. `HTTP_PROXY` is not one of them: a server that runs programs for others may get it from their
    /// `Proxy` field.
    private static func variables(for scheme: ConnectionPoolConfiguration.Scheme) -> [String] {
        switch scheme {
        case .http: ["http_proxy", "all_proxy", "ALL_PROXY"]
        case .https: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        }
    }

    /// In the order in which they count.
    private static let exemptions = ["no_proxy", "NO_PROXY"]

    /// True if a variable of the environment has a say, in the choice for some host. Upper and lower case are different.
    package static func isVariable(_ name: String) -> Bool {
        exemptions.contains(name) || variables(for: .http).contains(name) || variables(for: .https).contains(name)
    }

    private static func first(of names: [String], in environment: (String) -> String?) -> (name: String, value: String)? {
        for name in names {
            if let value = environment(name), !value.isEmpty { return (name, value) }
        }
        return nil
    }
}
