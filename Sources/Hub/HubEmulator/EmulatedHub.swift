import Crypto
public import HTTPServing
package import HubServer
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
    /// The notifications, and all else that the emulator remembers.
    let messages: EmulatedMessages
    /// The hub itself.
    let hub: HubServer
    /// Protects the server's life.
    private let server = Mutex<HTTPServer?>(nil)
    private let journal: CallJournal?

    /// Makes a hub that does not listen yet. ``handle(_:)`` works at once.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - clock: Milliseconds since 1970, by default of the system's clock.
    ///   - complain: Takes one sentence when the journal cannot be written, on any thread. Default: it is dropped.
    /// - Throws: ``HubEmulatorError``: `invalidConfiguration`, or a problem of the devices file or of the journal.
    public convenience init(
        _ configuration: HubEmulatorConfiguration = HubEmulatorConfiguration(),
        clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds,
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HubEmulatorError) {
        try self.init(configuration, devices: MemoryDevices(), clock: clock, complain: complain)
    }

    /// Makes a hub whose devices are in a store. Those that are there are in its listing, too.
    package init(
        _ configuration: HubEmulatorConfiguration, devices: any DeviceStore,
        clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds,
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HubEmulatorError) {
        let problems = configuration.problems()
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        journal =
            if let path = configuration.journalFile { try CallJournal(path: path, complain: complain) } else { nil }
        self.configuration = configuration
        self.clock = clock
        let seed = configuration.seed ?? UInt64(bitPattern: clock()) &* 0x9E37_79B9_7F4A_7C15
        let messages = EmulatedMessages(HubState(configuration, seed: ~seed), devices: devices)
        self.messages = messages
        hub = HubServer(
            configuration.terms, devices: devices, messages: messages, jobs: MemoryJobs(), blobPath: Self.blobPath, seed: seed,
            wrote: { registrations in
                messages.state.withLock { state in
                    for registration in registrations { state.devices.meet(registration.deviceKey, handle: registration.handle) }
                }
            })
        try meetKnown()
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

    /// Answers one request, as the server does for requests from the network.
    public func handle(_ request: HTTPServerRequest) -> HTTPServerResponse {
        if let answer = administer(request) { return answer }
        let now = clock()
        messages.deliverDue(now: now)
        let (callID, fault, trackingID) = messages.state.withLock { state in
            (state.calls.nextID(), state.faults.strike(request, now: now), state.identifiers.trackingID())
        }
        let moment = Moment(milliseconds: now)
        let route = hub.route(of: request)
        let performed =
            fault?.effect.preventsCall == true
            ? nil : hub.perform(request, route: route, callID: callID, moment: moment)
        let answer = fault?.answer(to: request, at: moment) ?? performed ?? .empty(500)
        var response = answer.response(at: moment, trackingID: trackingID)
        fault?.shape(&response)
        record(
            request, callID: callID, route: route, moment: moment, performed: performed,
            status: response.isLost ? 0 : response.status, fault: fault)
        return response
    }

    private func record(
        _ request: HTTPServerRequest, callID: Int, route: HubRoute, moment: Moment, performed: HubReply?, status: Int,
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
        messages.state.withLock { $0.calls.append(call) }
    }
}
