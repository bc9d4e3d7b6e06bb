internal import Basics
public import CurlHTTP
internal import EventLoop
internal import HTTP1
internal import HubAuth
public import Outcomes
public import PushModel

/// Writes and reads what one hub knows of devices, and asks what became of notifications, call by call: each method waits for its answer.
///
/// Nothing is tried again but with a new token after a 401. Usable from one thread at a time, because it has connections and a token.
public final class RegistrationClient {
    /// Pages of one list, and registrations on them: far more than any device or user has.
    private static let maximumPages = 1000
    private static let maximumRegistrations = 10_000

    private var client: HubClient
    private let keys: HubKeys?
    /// The number of changes of `keys` that `client` knows.
    private var keyGeneration = 0
    private let userAgent: String
    private let poller: Poller
    private let pool: ConnectionPool
    private let timeout: Duration
    private let now: @Sendable () -> Int64
    private let waitForTurn: (@Sendable () throws(RegistrationFailure) -> Void)?
    private var request = ByteWriter(capacity: 2048)
    private var callCount = 0

    /// Makes a client that is not connected yet.
    ///
    /// - Parameters:
    ///   - hub: The hub, and whose rights to use: Listen or Manage.
    ///   - connections: How to reach it; its limit for bodies is raised to what a list may have.
    ///   - userAgent: The program's name and version, as `User-Agent`.
    ///   - timeout: How long one call may take, with connecting and a second token.
    ///   - keys: The hub's keys, which may change. Default: they do not.
    ///   - now: Milliseconds since 1970.
    ///   - waitForTurn: Is called before each call about devices, and waits until it may be made, or throws. Default: it may at once.
    /// - Throws: `HubAuthError`, `SystemCallError` or `ConnectionPool.SetupFailure`: settings that cannot work, or no descriptor left.
    public init(
        _ hub: HubConfiguration, connections: ConnectionPoolConfiguration, userAgent: String, timeout: Duration,
        keys: HubKeys? = nil, now: @escaping @Sendable () -> Int64,
        waitForTurn: (@Sendable () throws(RegistrationFailure) -> Void)? = nil
    ) throws {
        var connections = connections
        connections.limits.bodyByteCount = max(connections.limits.bodyByteCount, RegistrationFeed.maximumByteCount)
        client = try HubClient(hub, userAgent: userAgent)
        (self.keys, self.userAgent) = (keys, userAgent)
        poller = try Poller()
        pool = try ConnectionPool(connections, poller: poller, tokenBase: 0)
        self.timeout = timeout
        self.now = now
        self.waitForTurn = waitForTurn
    }

    /// Creates an installation, or replaces the one of its id.
    ///
    /// - Throws: ``RegistrationFailure``.
    public func put(_ installation: Installation) throws(RegistrationFailure) {
        _ = try perform(.putInstallation(installation))
    }

    /// The installation of an id, or nil when there is none. The hub may not show at once what was written.
    ///
    /// - Throws: ``RegistrationFailure``.
    public func installation(_ id: String) throws(RegistrationFailure) -> Installation? {
        guard case .installation(let found) = try perform(.getInstallation(id: id)) else { return nil }
        return found
    }

    /// Changes an installation.
    ///
    /// - Parameters:
    ///   - id: The installation.
    ///   - changes: What to change, at least one thing. The hub makes all changes in their order, or none.
    /// - Throws: ``RegistrationFailure``, with the status 404 where there is no such installation.
    public func patch(_ id: String, changes: [InstallationChange]) throws(RegistrationFailure) {
        _ = try perform(.patchInstallation(id: id, changes: changes))
    }

    /// Removes an installation. Done as well when there is none.
    ///
    /// - Throws: ``RegistrationFailure``.
    public func deleteInstallation(_ id: String) throws(RegistrationFailure) {
        _ = try perform(.deleteInstallation(id: id))
    }

    /// All registrations of one handle, each once, those of installations and templates among them.
    ///
    /// - Parameters:
    ///   - handle: The handle as installations have it.
    ///   - platform: Its platform; nil looks on every platform (``RegistrationCall/listRegistrations(handle:platform:count:token:)``).
    ///   - pageCount: How many registrations to ask for at once, 1 to 100.
    /// - Returns: The registrations, in the hub's order.
    /// - Throws: ``RegistrationFailure``; half a list is never returned.
    public func registrations(
        of handle: String, on platform: Platform?, pageCount: Int = 100
    ) throws(RegistrationFailure) -> [DeviceRegistration] {
        try pages { .listRegistrations(handle: handle, platform: platform, count: pageCount, token: $0) }
    }

    /// All registrations that have a tag, each once, those of installations and templates among them. It needs the right Manage.
    ///
    /// - Parameters:
    ///   - tag: The tag, such as `username:alice` or `$UserId:{alice}`.
    ///   - pageCount: How many registrations to ask for at once, 1 to 100.
    /// - Returns: The registrations, in the hub's order.
    /// - Throws: ``RegistrationFailure``; half a list is never returned.
    public func registrations(tagged tag: String, pageCount: Int = 100) throws(RegistrationFailure) -> [DeviceRegistration] {
        try pages { .listTagged(tag: tag, count: pageCount, token: $0) }
    }

    /// All pages of the list that `call` asks for.
    private func pages(
        _ call: (RegistrationPage.Token?) -> RegistrationCall
    ) throws(RegistrationFailure) -> [DeviceRegistration] {
        var found: [DeviceRegistration] = []
        var ids: Set<String> = []
        var token: RegistrationPage.Token?
        var tokens: Set<RegistrationPage.Token> = []
        while true {
            guard case .page(let page) = try perform(call(token)) else { return found }
            for registration in page.registrations where ids.insert(registration.id).inserted { found.append(registration) }
            guard let next = page.next else { return found }
            guard tokens.insert(next).inserted, tokens.count < Self.maximumPages, found.count < Self.maximumRegistrations else {
                throw RegistrationFailure(.unreadable(.endless), code: .responseInvalid)
            }
            token = next
        }
    }

    /// Removes a registration. Done as well when there is none.
    ///
    /// - Parameters:
    ///   - id: The registration.
    ///   - etag: The version to remove; nil for any. One that was changed since is refused with 412.
    /// - Throws: ``RegistrationFailure``.
    public func deleteRegistration(_ id: String, etag: String? = nil) throws(RegistrationFailure) {
        _ = try perform(.deleteRegistration(id: id, etag: etag))
    }

    /// Makes one call, and after a 401 again, with a new token and then with the other key, as far as the token cache says.
    ///
    /// - Returns: What the hub says.
    /// - Throws: ``RegistrationFailure``.
    public func perform(_ call: RegistrationCall) throws(RegistrationFailure) -> RegistrationReply {
        try waitForTurn?()
        let answer = try ask(within: timeout) { () throws(HubAuthError) -> UInt64? in
            try client.write(call, now: now() / 1000, into: &request)
        }
        return try RegistrationReply(answer, to: call, now: now())
    }

    /// The hub's report on a notification (page HubProtocol, "Telemetry"). Nil when it knows nothing of it, or not yet.
    ///
    /// - Parameters:
    ///   - notificationID: The id that the hub gave the send.
    ///   - limit: How long it may take, with connecting and a second token; never longer than any call.
    /// - Throws: ``RegistrationFailure``; a refusal where the hub is below the Standard tier, or the policy lacks the right.
    /// - Returns: What the hub tells; nil when it does not know the notification.
    public func telemetry(
        of notificationID: String, within limit: Duration
    ) throws(RegistrationFailure) -> NotificationTelemetry? {
        let id = Array(notificationID.utf8)
        let answer = try ask(within: min(limit, timeout)) { () throws(HubAuthError) -> UInt64? in
            try client.writeTelemetryRequest(of: id.span, now: now() / 1000, into: &request)
        }
        switch answer.status {
        case 200: break
        case 404: return nil
        default: throw RegistrationFailure(refusal: answer, now: now())
        }
        do throws(TelemetryFault) {
            return try NotificationTelemetry(reading: answer.body)
        } catch {
            throw RegistrationFailure(RegistrationFault(error), in: answer, now: now())
        }
    }

    /// Sends what `write` writes, and waits for the answer.
    private func ask(
        within limit: Duration, by write: () throws(HubAuthError) -> UInt64?
    ) throws(RegistrationFailure) -> Answer {
        let deadline = MonotonicTime.now().advanced(by: limit)
        // With the same life of tokens a client can be made, as the first was.
        if let hub = keys?.newer(than: &keyGeneration), let new = try? HubClient(hub, userAgent: userAgent) { client = new }
        while true {
            let token = try signed(write)
            let answer = try exchange(until: deadline)
            if answer.status != 401 {
                client.accepted(token: token)
            } else if client.rejected(token: token).allowsRetry {
                continue
            }
            return answer
        }
    }

    /// Writes a request, and gives the number of its token.
    private func signed(_ write: () throws(HubAuthError) -> UInt64?) throws(RegistrationFailure) -> UInt64 {
        let token: UInt64?
        do throws(HubAuthError) {
            token = try write()
        } catch {
            throw RegistrationFailure(.unsigned(error), code: .internal)
        }
        guard let token else { throw RegistrationFailure(.unusable, code: .payloadRejected) }
        return token
    }

    private func exchange(until deadline: MonotonicTime) throws(RegistrationFailure) -> Answer {
        callCount += 1
        pool.submit(id: callCount, request: request.bytes, deadline: deadline)
        while true {
            while let completion = pool.nextCompletion() {
                // One that nobody waited for any more may still be there.
                guard completion.id == callCount else { continue }
                switch completion.outcome {
                case .answer(let answer): return answer
                case .failure(let failure): throw RegistrationFailure(failure)
                }
            }
            do throws(SystemCallError) {
                for index in try poller.wait(until: min(pool.nextTimer ?? deadline, deadline)) { pool.handle(poller[index]) }
            } catch {
                pool.cancel(id: callCount)
                throw RegistrationFailure(.system(error), code: .internal, isWorthRetrying: true)
            }
            pool.handleTimers(.now())
        }
    }
}
