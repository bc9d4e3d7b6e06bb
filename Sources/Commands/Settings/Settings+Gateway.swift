import FanOut
public import GatewayAPI
import HubAuth
import HubREST
import Intake

/// From settings to the configuration of a gateway.
extension Settings {
    /// The default of the address below.
    public static let gatewayProbesDefault = "127.0.0.1:9465"

    /// The address of a gateway's health and metrics. Its default is not the worker's, so that both run on one machine.
    public var gatewayProbes: String { origin(of: "listen") == .builtIn ? Self.gatewayProbesDefault : listen.description }

    /// The configuration of a gateway.
    ///
    /// - Parameter version: The program's version.
    /// - Returns: The configuration. No service that it names was contacted.
    /// - Throws: `SettingsError` naming every key that is missing or wrong, or with which a gateway cannot work.
    public func gatewayConfiguration(version: String) throws(SettingsError) -> GatewayConfiguration {
        var problems = signInProblems() + userTagProblems() + indexProblems()
        let tokens = tokens(noting: &problems)
        var leftOut: [String: String] = [:]
        let hubs = gatewayHubs(&problems, leavingOut: &leftOut)
        guard let first = hubs.first, problems.isEmpty else { throw SettingsError(problems: problems) }
        var configuration = GatewayConfiguration(
            version: version, hubName: first.name, hub: first.configuration, connections: first.connections,
            kafka: kafkaConfiguration())
        configuration.first = first
        configuration.otherHubs = Array(hubs.dropFirst())
        configuration.routes = gatewayRoutes(to: hubs.map(\.name), leavingOut: &leftOut)
        (configuration.tenancy, configuration.leftOut) = (tenancy, leftOut)
        configuration.listen = gateway.listen.description
        configuration.usersFile = gateway.usersFile
        configuration.keysFile = gateway.keysFile
        configuration.tokens = tokens
        configuration.servesPage = servesPage
        configuration.allowsDemoSignIn = gateway.allowsDemoSignIn
        configuration.trustedProxies = gateway.trustedProxies
        configuration.sendWait = gateway.sendWait
        configuration.tracksOutcome = gateway.tracksOutcome
        configuration.sendLife = gateway.sendLife
        configuration.isAlwaysSecure = gateway.isAlwaysSecure
        configuration.idempotencyFile = gateway.idempotencyFile
        configuration.dedupeReach = worker.dedupeReach
        configuration.reservedTags = gateway.reservedTags
        configuration.deviceRate = gateway.deviceRate
        configuration.docsURL = gateway.docsURL
        configuration.title = gateway.title
        configuration.userTag = self.hub.userTag
        configuration.topics = kafka.topics
        configuration.groupID = kafka.groupID
        configuration.groupStart = kafka.start
        configuration.stateFolder = gateway.stateFolder
        configuration.index = requestIndex
        configuration.planning = planning()
        configuration.callsAtOnce = worker.maxInFlight
        // With another hub that is wrong, requests are explained for its own hub alone.
        if let sketch = try? workerSketch() {
            configuration.worker = sketch
            configuration.knowsAllHubs = sketch.isWhole && sketch.hubs.count > 1
        }
        return configuration
    }

    private var requestIndex: RequestIndexTerms {
        var terms = RequestIndexTerms()
        (terms.keep, terms.byteLimit) = (gateway.indexKeep, gateway.indexBytes)
        switch gateway.indexNames {
        case .plain: terms.names = .plain
        case .omit: terms.names = .omitted
        case .encrypted: terms.names = gateway.indexKeyFile.map { .encrypted(keyFile: $0) } ?? .omitted
        }
        return terms
    }

    /// An encrypted index needs a key.
    private func indexProblems() -> [SettingProblem] {
        guard gateway.indexNames == .encrypted, gateway.indexKeyFile == nil else { return [] }
        return [missing("gateway.index.key_file", expected: "the path of a file with 32 random bytes or more")]
    }

    private var servesPage: Bool {
        switch gateway.page {
        case .auto: gateway.listen.isLoopback && gateway.keysFile != nil && gateway.trustedProxies.isEmpty
        case .on: true
        case .off: false
        }
    }

    /// The hubs that a gateway registers devices at: the default, or all of a spread that is the default, and then the others, of which one
    /// that is wrong is left out. Empty with a problem where there is no default.
    private func gatewayHubs(
        _ problems: inout [SettingProblem], leavingOut others: inout [String: String]
    ) -> [GatewayConfiguration.Hub] {
        if defaultHub == nil, allHubs.count > 1 {
            problems.append(missing("default_hub", expected: "the name of the hub or spread of the gateway's users"))
            return []
        }
        let names = spreads.first { $0.name == defaultHub }?.hubs ?? [defaultHub].compactMap { $0 }
        let needed = names.isEmpty ? Array(allHubs.prefix(1)) : names.compactMap { hub(named: $0) }
        let keys = Set(needed.map { $0.path("name") })
        var hubs: [GatewayConfiguration.Hub] = []
        for settings in needed {
            do throws(SettingsError) {
                hubs.append(try gatewayHub(settings))
            } catch {
                problems += error.problems
            }
        }
        for settings in allHubs where !keys.contains(settings.path("name")) {
            do throws(SettingsError) {
                hubs.append(try gatewayHub(settings))
            } catch {
                others[settings.routeName ?? "hub"] = error.problems.map(\.description).joined(separator: ", ")
            }
        }
        return hubs
    }

    private func gatewayHub(_ settings: HubSettings) throws(SettingsError) -> GatewayConfiguration.Hub {
        let configuration = try hubConfiguration(of: settings)
        var hub = GatewayConfiguration.Hub(
            name: settings.routeName ?? configuration.hub.text, configuration: configuration,
            connections: connections(to: configuration.endpoint, like: settings))
        hub.timeout = settings.requestTimeout
        return hub
    }

    /// The targets of the names of the hubs that are served. A spread that lacks one of its hubs is left out, because the others would get
    /// the users of that one.
    private func gatewayRoutes(to hubs: [String], leavingOut others: inout [String: String]) -> HubRoutes {
        let whole = spreads.filter { Set(hubs).isSuperset(of: $0.hubs) }
        for spread in spreads where !whole.contains(where: { $0.name == spread.name }) {
            others[spread.name] = "not all of its hubs are served"
        }
        return HubRoutes(
            hubs: hubs.enumerated().map { ($1, $0) }, spreads: whole.map { ($0.name, $0.hubs) },
            tenants: Dictionary(tenantHubs.map { ($0.tenant, $0.hub) }) { first, _ in first },
            defaultName: defaultHub ?? hubs.first)
    }

    /// The targets of all names, those of hubs that are left out, too. Sections that lead to one hub have one number.
    private var tenancy: HubRoutes {
        let names = allHubs.map { ($0.name ?? "").lowercased() }
        let addresses = allHubs.map { try? hubConfiguration(of: $0).address }
        // One whose address is not known may be any of its name.
        let vague = Set(zip(names, addresses).filter { $1 == nil }.map(\.0))
        let identities = zip(names, addresses).map { vague.contains($0) ? $0 : $1 ?? $0 }
        let hubs = zip(allHubs, identities).compactMap { hub, identity in
            hub.routeName.map { (name: $0, number: identities.firstIndex(of: identity) ?? 0) }
        }
        return HubRoutes(
            hubs: hubs, spreads: spreads.map { ($0.name, $0.hubs) },
            tenants: Dictionary(tenantHubs.map { ($0.tenant, $0.hub) }) { first, _ in first },
            defaultName: defaultHub ?? hubs.first?.name)
    }

    /// Passwords must not travel in clear text, and there must be a way to sign in.
    private func signInProblems() -> [SettingProblem] {
        var problems: [SettingProblem] = []
        let address = SettingText.shown(gateway.listen.description)
        if gateway.usersFile == nil && gateway.keysFile == nil && !gateway.allowsDemoSignIn && gateway.tokens.issuer == nil {
            let files =
                "the path of the file that `pushfan users set` writes, or gateway.jwt.issuer, or gateway.keys_file for back ends alone"
            problems.append(missing("gateway.users_file", expected: files))
        }
        if gateway.page == .on && gateway.keysFile == nil {
            problems.append(missing("gateway.keys_file", expected: "the path of the file with the keys that gateway.ui asks for"))
        }
        if !gateway.listen.isLoopback && gateway.allowsDemoSignIn {
            problems.append(
                problem(
                    "gateway.demo_auth", message: "is for loopback addresses only, and gateway.listen is \(address)",
                    expected: "false"))
        }
        if !gateway.listen.isLoopback && gateway.trustedProxies.isEmpty {
            problems.append(
                problem(
                    "gateway.listen", message: "\(address) is no loopback address, and passwords would come in clear text",
                    expected: "a loopback address, or gateway.trust_proxy with the proxy that ends TLS"))
        }
        return problems
    }

    /// Every user has a tag of this pattern, also one whose name is written as a hash, which has 66 characters.
    private func userTagProblems() -> [SettingProblem] {
        let pattern = hub.userTag
        let around = pattern.utf8.count - "{user}".utf8.count
        let message: String
        if pattern.hasPrefix("$") {
            message = "begins with '$', as the tags do that the hub sets itself"
        } else if (try? HubTag(pattern.replacing("{user}", with: "u"))) == nil {
            message = "makes no tag that a device may have"
        } else if around == 0 {
            message = "has nothing but {user}, so that any tag could be a user's"
        } else if around > HubTag.maxLength - 66 {
            message = "leaves fewer than 66 characters for a user"
        } else {
            return []
        }
        return [
            problem(
                "hub.user_tag", message: "\(SettingText.shown(pattern)) \(message)",
                expected: "for a gateway, a tag such as username:{user}")
        ]
    }
}

extension HubConfiguration {
    /// The host, port and path of the hub, as all have them that lead to it.
    fileprivate var address: String {
        "\(endpoint.host):\(endpoint.effectivePort)\(endpoint.pathPrefix)\(hub.text)".lowercased()
    }
}
