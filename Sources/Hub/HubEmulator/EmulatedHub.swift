import Crypto
public import HTTPServing
import HubAuth
import Synchronization

/// A notification hub in memory: its REST data plane, its answers, and a record of what would have rung on which device.
///
/// It verifies tokens, evaluates tags and fills in templates as the service does, and can misbehave on demand (``Fault``). The
/// hub's own paths begin with its name. `/devices`, `/calls`, `/faults` and `/telemetry` show and script the emulator, without a
/// token.
public final class EmulatedHub: Sendable {
    let configuration: HubEmulatorConfiguration
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64
    private let verifier: SASVerifier
    /// Protects all that the hub remembers. No other lock is taken and nothing blocks while it is held.
    let state: Mutex<HubState>
    /// Protects the decisions about tokens. Never held together with `state`.
    private let grants = Mutex(GrantCache())
    /// Protects the server's life.
    private let server = Mutex<HTTPServer?>(nil)
    private let journal: CallJournal?
    /// Signs the links to error details and feedback.
    let blobs: BlobAccess

    /// Makes a hub that does not listen yet. ``handle(_:)`` works at once.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - clock: Milliseconds since 1970, by default of the system's clock.
    ///   - complain: Takes one sentence when the journal cannot be written, on any thread. Default: it is dropped.
    /// - Throws: ``HubEmulatorError``: `invalidConfiguration`, or a problem of the devices file or of the journal.
    public init(
        _ configuration: HubEmulatorConfiguration = HubEmulatorConfiguration(),
        clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds,
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HubEmulatorError) {
        let problems = configuration.problems()
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        journal =
            if let path = configuration.journalFile { try CallJournal(path: path, complain: complain) } else { nil }
        self.configuration = configuration
        self.clock = clock
        verifier = SASVerifier(
            policies: configuration.policies.map {
                SASPolicy(name: $0.name, keys: [SecretKey($0.key)], rights: $0.rights)
            },
            comparesHost: configuration.checksHost)
        let seed = configuration.seed ?? UInt64(bitPattern: clock()) &* 0x9E37_79B9_7F4A_7C15
        state = Mutex(HubState(configuration, seed: seed))
        blobs = BlobAccess(seed: seed)
        if let path = configuration.devicesFile { try loadDevices(from: path) }
    }

    /// Serves HTTP on the configured address.
    ///
    /// - Returns: The bound address, with the real port in place of 0.
    /// - Throws: ``HubEmulatorError``: `unreadableFile`, `noCertificate`, `cannotListen` or `cannotServe`.
    @discardableResult
    public func start() throws(HubEmulatorError) -> HTTPServer.Address {
        var settings = HTTPServerConfiguration(listen: configuration.listen)
        settings.identity = try identity()
        settings.threadCount = configuration.threadCount
        settings.maximumBodyByteCount = 4 << 20
        // The limit of HTTP.sys (MaxRequestBytes). A larger buffer would be cleared before every request.
        settings.maximumHeaderByteCount = 16 << 10
        // A body that does not end is answered 400 then, such as a chunked one without a last chunk.
        settings.requestTimeout = .seconds(30)
        let server = HTTPServer(settings) { [weak self] request in
            self?.handle(request) ?? HTTPServerResponse(status: 503)
        }
        do throws(HTTPServingError) {
            let address = try server.start()
            self.server.withLock { $0 = server }
            return address
        } catch {
            if case .cannotListen = error { throw .cannotListen(reason: error.description) }
            throw .cannotServe(reason: error.description)
        }
    }

    /// Stops serving and writes out the journal. The hub keeps its state.
    public func stop(within limit: Duration = .seconds(2)) {
        let running = server.withLock { server in
            defer { server = nil }
            return server
        }
        running?.stop(within: limit)
        journal?.flush()
    }

    /// The calls that are missing in the journal because of failed writes, or 0 without a journal.
    public var unjournaledCallCount: Int { journal?.lostCount ?? 0 }

    /// The address while the hub serves.
    public var address: HTTPServer.Address? { server.withLock { $0 }?.address }

    /// The connection string of the first policy, for the address that is served. A secret like its key.
    public var connectionString: String {
        let scheme = configuration.tls == .off ? "http" : "https"
        let authority = address?.description ?? configuration.listen
        let policy = configuration.policies[0]
        return "Endpoint=\(scheme)://\(authority)/;SharedAccessKeyName=\(policy.name);SharedAccessKey=\(policy.key)"
    }

    /// Fields of which two say nothing (RFC 9110, section 5.3).
    private static let singleFields =
        ["Authorization", "Content-Type"]
        + ["Format", "Tags", "DeviceHandle", "ScheduleTime", "Apns-Expiry"].map { "ServiceBusNotification-" + $0 }

    /// Answers one request, as the server does for requests from the network.
    public func handle(_ request: HTTPServerRequest) -> HTTPServerResponse {
        if let answer = administer(request) { return answer }
        let now = clock()
        let (callID, fault, trackingID) = state.withLock { state in
            state.deliverDue(now: now)
            return (state.calls.nextID(), state.faults.strike(request, now: now), state.identifiers.trackingID())
        }
        let moment = Moment(milliseconds: now)
        let route = HubRoute(of: request, hubName: configuration.hubName)
        let performed =
            fault?.effect.preventsCall == true
            ? nil : perform(request, callID: callID, route: route, moment: moment)
        let answer = fault?.answer(to: request, at: moment) ?? performed ?? .empty(500)
        var response = answer.response(at: moment, trackingID: trackingID)
        fault?.shape(&response)
        record(
            request, callID: callID, route: route, moment: moment, performed: performed,
            status: response.isLost ? 0 : response.status, fault: fault)
        return response
    }

    private func perform(_ request: HTTPServerRequest, callID: Int, route: HubRoute, moment: Moment) -> EmulatedAnswer {
        let operation: HubOperation
        switch route {
        case .otherHub: return .error(404, detail: "No service is hosted at the specified address")
        case .unknown: return .error(404, detail: "The requested resource does not exist")
        case .methodNotAllowed(let allowed):
            var answer = EmulatedAnswer.error(405, detail: "The method is not allowed for this resource")
            answer.headers = ["Allow": allowed]
            return answer
        case .operation(let found): operation = found
        }
        if let name = Self.singleFields.first(where: { request.headers.count(of: $0) > 1 }) {
            return .error(400, detail: "The HTTP header \"\(name)\" is there more than once")
        }
        if let refusal = refusal(of: request, for: operation, at: moment) {
            return EmulatedAnswer(status: refusal.status, detail: refusal.detail)
        }
        guard let version = APIVersion(request.queryValue("api-version")) else {
            return .error(400, detail: "The api-version is missing or not valid: expected api-version=YYYY-MM in the query")
        }
        let call = HubCall(
            request: request, id: callID, moment: moment, apiVersion: version, tier: configuration.tier,
            baseURL: baseURL(of: request))
        guard operation.tiers.contains(call.tier) else { return call.refusedByTier() }
        return operation.perform(self, call)
    }

    private func refusal(of request: HTTPServerRequest, for operation: HubOperation, at moment: Moment) -> SASRefusal? {
        let rights = operation.rights
        let second = moment.milliseconds / 1000
        let key = GrantCache.Key(
            authorization: request.headers["Authorization"] ?? "",
            host: configuration.checksHost ? request.headers["Host"] ?? "" : "", path: String(request.rawPath), rights: rights)
        if grants.withLock({ $0.isGranted(key, second: second) }) { return nil }
        do {
            try verifier.verify(
                authorization: request.headers["Authorization"], host: request.headers["Host"] ?? "", path: key.path,
                anyOf: rights, now: second)
        } catch {
            return error
        }
        grants.withLock { $0.grant(key, second: second) }
        return nil
    }

    private func baseURL(of request: HTTPServerRequest) -> String {
        var scheme = request.isSecure ? "https" : "http"
        if configuration.trustsForwardedProto, let forwarded = request.headers.members("X-Forwarded-Proto").first?.lowercased(),
            forwarded == "https" || forwarded == "http"
        {
            scheme = forwarded
        }
        return "\(scheme)://\(request.headers["Host"] ?? configuration.listen)/\(configuration.hubName)"
    }

    private func record(
        _ request: HTTPServerRequest, callID: Int, route: HubRoute, moment: Moment, performed: EmulatedAnswer?, status: Int,
        fault: Fault?
    ) {
        guard configuration.recording != .off || journal != nil else { return }
        var call = RecordedCall(
            id: callID, at: moment.milliseconds, method: request.method, target: request.target, operation: "unknown",
            format: request.headers["ServiceBusNotification-Format"], tags: request.headers["ServiceBusNotification-Tags"],
            handle: request.headers["ServiceBusNotification-DeviceHandle"], client: request.remoteAddress,
            headers: [:], body: [])
        if case .operation(let operation) = route {
            call.operation = operation.name
            call.isSend = operation.isSend
        }
        call.status = status
        call.notificationID = performed?.notificationID
        call.rungCount = performed?.rungCount ?? 0
        call.brokenRule = performed?.brokenRule
        call.isAccepted = performed.map { (200..<300).contains($0.status) } ?? false
        call.fault = fault?.text
        call.collapseKey = performed?.collapseKey
        journal?.append(call)
        guard configuration.recording != .off else { return }
        if configuration.recording == .full {
            call.headers = request.headers
            call.headers.remove("Authorization")
            call.body = request.body
        }
        state.withLock { $0.calls.append(call) }
    }
}
