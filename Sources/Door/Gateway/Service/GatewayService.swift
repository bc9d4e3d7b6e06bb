import DeviceHubs
import AppAPI
import Crypto
import Dispatch
import EventLoop
public import GatewayAPI
public import HTTPServing
import Observability
import Page
import PublishAPI
import Synchronization
import Users

/// Serves apps and back ends: signs them in, and answers the routes of `/api` and `/v1`.
///
/// Two server threads receive requests, and read small ones; five read and check others. One thread checks passwords, four call each hub, one
/// writes to Kafka, one reads results and four single records, as texts of secure push. Of the feed of results one reads the topic, one what
/// lies back, and one serves all readers. Whatever waits is a suspended connection and no thread.
public final class GatewayService: Sendable {
    /// File descriptors for all but its connections: those of the lanes of one hub and of the probes, Kafka's and the files.
    private static let otherDescriptors = 384
    /// Those of one lane's way to a hub: a connection, the wait for it, and what libcurl opens while it connects.
    private static let lineDescriptors = 8
    /// File descriptors that one with a single hub may need at most.
    static let descriptorsNeeded = limits("").descriptorCount + otherDescriptors

    private let configuration: GatewayConfiguration
    private let services: GatewayServices
    private let hubs: DeviceHubs
    private let signIn: SignIn
    private let tokens: TokenWatch?
    private let endpoints: any Endpoints
    private let server: HTTPServer
    private let servesPage: Bool
    private let isStopped = Atomic<Bool>(false)

    /// Makes a gateway that does not serve yet. The files of users and keys are read, and nothing is waited for.
    ///
    /// - Parameters:
    ///   - configuration: Its configuration.
    ///   - services: What it reports to.
    /// - Throws: ``GatewayFailure``: it cannot work with the settings, or the system refuses a descriptor.
    public convenience init(_ configuration: GatewayConfiguration, services: GatewayServices) throws(GatewayFailure) {
        let keys = try KeySignIn.make(configuration, services: services)
        var services = services
        services.comment = { keys?.comment(on: $0) }
        try self.init(
            configuration, services: services, checkKey: { keys?.check($0, from: $1) ?? .refused },
            recheckKey: { keys?.isRight($0, for: $1) ?? false }, checkBatch: { keys?.check($0, of: $1) ?? .allowed },
            page: WebPage.make(configuration, keys: keys, services: services))
    }

    /// Makes one whose keys of `/v1` `checkKey` knows.
    convenience init(
        _ configuration: GatewayConfiguration, services: GatewayServices, checkKey: @escaping KeyCheck,
        recheckKey: @escaping KeyRecheck = { _, _ in true }, checkBatch: @escaping BatchCheck = { _, _ in .allowed },
        page: WebPage? = nil
    ) throws(GatewayFailure) {
        var services = services
        services.docsURL = configuration.docsURL
        try self.init(
            configuration, services: services, checkKey: checkKey, recheckKey: recheckKey, checkBatch: checkBatch, page: page
        ) {
            [services] (hubs, users) throws(GatewayFailure) -> any Endpoints in
            try APIEndpoints(
                configuration, hubs: hubs, users: users,
                held: HeldAnswers(connections: Self.connectionCount(with: Self.descriptors(for: configuration))),
                services: services)
        }
    }

    /// Makes one whose routes answer what `makeEndpoints` makes. Tokens are checked by `checkToken`, or as the configuration says.
    init(
        _ configuration: GatewayConfiguration, services: GatewayServices,
        checkKey: @escaping KeyCheck = { _, _ in .refused }, recheckKey: @escaping KeyRecheck = { _, _ in true },
        checkBatch: @escaping BatchCheck = { _, _ in .allowed }, checkToken: TokenCheck? = nil, page: WebPage? = nil,
        makeEndpoints: (DeviceHubs, UsersSource?) throws(GatewayFailure) -> any Endpoints
    ) throws(GatewayFailure) {
        let proxies = if let page { page.proxies } else { try TrustedProxies(configuration.trustedProxies) }
        let users = try UsersSource.watch(
            configuration.usersFile, setting: "gateway.users_file", read: "the users file was read again",
            kept: "the users file cannot be used; the users from before stay", services: services)
        let tokens = try TokenWatch.make(configuration, services: services)
        let signIn: SignIn
        do throws(CryptoError) {
            signIn = try SignIn(
                users, allowsDemo: configuration.allowsDemoSignIn, checkToken: checkToken ?? tokens?.checkToken,
                services: services)
        } catch {
            throw GatewayFailure.system(error.description)
        }
        let hubs = try DeviceHubs(configuration, services: services)
        let endpoints = try makeEndpoints(hubs, users)
        let routes = Routes(
            signIn: signIn, endpoints: endpoints, services: services, checkKey: checkKey, recheckKey: recheckKey,
            checkBatch: checkBatch, proxies: proxies, page: page)
        let serving = Self.serving(configuration.listen, routes: routes, descriptors: Self.descriptors(for: configuration))
        let server = HTTPServer(serving) { request, responder in routes.answer(request, with: responder) }
        services.metrics.readWaiting { [weak server] in server?.waitingCount }
        self.configuration = configuration
        self.services = services
        self.hubs = hubs
        self.signIn = signIn
        self.tokens = tokens
        self.endpoints = endpoints
        self.server = server
        servesPage = page != nil
    }

    /// Serves from now on, whether or not the hub and Kafka are there.
    ///
    /// - Returns: The bound address, with the real port where 0 was asked for.
    /// - Throws: ``GatewayFailure/configuration(_:)`` when the address cannot be listened on; then nothing runs.
    @discardableResult
    public func start() throws(GatewayFailure) -> HTTPServer.Address {
        let address: HTTPServer.Address
        do throws(HTTPServingError) {
            address = try server.start()
        } catch {
            throw GatewayFailure.configuration("gateway.listen: \(error)")
        }
        signIn.start()
        tokens?.start()
        hubs.start()
        endpoints.start()
        services.log.info(.listening, "apps are served", [.address: .string(address.description)])
        if servesPage { services.log.info(.listening, "the web page is served", [.address: .string("http://\(address)/ui")]) }
        if configuration.allowsDemoSignIn {
            services.log.warning(
                .configurationDoubtful, "everybody may sign in whose password is the name", [.setting: "gateway.demo_auth"])
        }
        for (name, reason) in configuration.leftOut.sorted(by: { $0.key < $1.key }) {
            services.log.warning(
                .configurationDoubtful, "a hub or spread is not served", [.hub: .string(name), .reason: .string(reason)])
        }
        probeHubs()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1500)) { [hubs] in hubs.noteSilence() }
        return address
    }

    /// Answers 503 to calls that begin from now on, waits for the answers to those before, and ends; what it answers meanwhile ends its
    /// connection.
    ///
    /// No call waits for states of requests any more, so that a publish gets the 202 of its record at once. At the limit those
    /// whose requests may be written are answered with what is known. Of all others, which get 503 then, nothing is
    /// written.
    ///
    /// Blocks for `limit` at most, and then for a few seconds; a second call does nothing. Called after ``start()``.
    ///
    /// - Parameter limit: How long to wait for answers. Default 10 s.
    public func stop(within limit: Duration = .seconds(10)) {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        services.health.beginDraining()
        endpoints.endWaits()
        server.stop(within: limit) { [endpoints] in endpoints.settle() }
        // From here on nobody hears an answer; what comes later in this order may still be used by what comes earlier.
        signIn.stop()
        tokens?.stop()
        endpoints.stop()
        hubs.stop()
    }

    /// Signs with other keys of the hubs from now on, and says so in the log.
    ///
    /// - Parameter hubs: The hubs, with the keys. With another address, name or policy than at the start nothing changes, and the log says so.
    public func renewKeys(of hubs: [GatewayConfiguration.Hub]) { self.hubs.renewKeys(by: hubs) }

    /// Asks the hubs how they are, but those of which the last call has told that they are well. Waits for nothing. To be called every
    /// few seconds.
    public func probeHubs() { hubs.probe() }

    /// What it serves with: as many connections as the descriptors allow.
    static func serving(_ listen: String, routes: Routes, descriptors: Int = .max) -> HTTPServerConfiguration {
        var serving = limits(listen)
        serving.maximumConnections = connectionCount(with: descriptors)
        serving.admission = { routes.admit($0) }
        serving.overload = { routes.overload($0) }
        serving.congestion = { routes.congestion() }
        serving.refusal = { routes.refusal($0) }
        return serving
    }

    /// The connections that it takes with so many descriptors.
    static func connectionCount(with descriptors: Int) -> Int {
        max(16, limits("").maximumConnections - max(0, descriptorsNeeded - descriptors))
    }

    /// File descriptors that it may need at most. With fewer it takes fewer connections.
    public static func descriptorsNeeded(for configuration: GatewayConfiguration) -> Int {
        descriptorsNeeded + hubDescriptors(of: configuration)
    }

    /// The descriptors that this process may have, without those for all hubs but one.
    private static func descriptors(for configuration: GatewayConfiguration) -> Int {
        (DescriptorLimit.current()?.soft ?? .max) - hubDescriptors(of: configuration)
    }

    /// Those for all hubs but one.
    private static func hubDescriptors(of configuration: GatewayConfiguration) -> Int {
        max(0, DeviceHubs.lineCount(of: configuration) - HubLanes.count) * lineDescriptors
    }

    private static func limits(_ listen: String) -> HTTPServerConfiguration {
        var serving = HTTPServerConfiguration(listen: listen)
        serving.threadCount = 2
        // Each has a pool of 20 KiB, and most of them wait for an answer.
        serving.maximumConnections = 8192
        // A name and a password of the longest in base64 have 1.7 KiB.
        serving.maximumHeaderByteCount = 8 << 10
        // Each route has its own limit below this.
        serving.maximumBodyByteCount = APILimit.batchByteCount
        // With the 4 KiB of each that do not count, 64 MiB at most.
        serving.maximumBodyByteCountInAll = 32 << 20
        // Eight of the longest pages. The process has them once, and the system some of each besides.
        serving.maximumUnreadByteCountInAll = 64 << 20
        // Between requests connections may be idle for longer, as proxies keep them. The longest body needs 140 KiB/s to come in time.
        serving.requestTimeout = .seconds(30)
        return serving
    }
}
