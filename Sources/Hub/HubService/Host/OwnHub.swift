import Basics
import Crypto
import EventLoop
import HTTPServing
import HubAuth
import HubServer
import HubStore
import Observability
import PushModel
import Synchronization

/// A hub of the host: its protocol, its store, and the way of its notifications.
final class OwnHub: Sendable {
    /// The things that all hubs of a host share.
    struct Surroundings: Sendable {
        let metrics: HubMetrics
        let log: Log
        let clock: @Sendable () -> Int64
    }

    /// The policy that is made where the settings have none.
    private static let madePolicy = "DefaultFullSharedAccessSignature"
    /// The names of values that the hub keeps for itself.
    private static let (policyKey, linkKey) = ("policy_key", "link_key")

    let name: String
    private let surroundings: Surroundings
    private let parts: HubParts
    private let server: HubServer
    private let dispatcher: HubDispatcher
    private let recording: RecordingService
    private let callCount = Atomic<Int>(0)
    /// The time from which recorded pushes of removed devices are looked for again. Nothing else is locked while it is held.
    private let sweepAt = Mutex(MonotonicTime.past)
    /// Protects what was said of the store last. Nothing else is locked while it is held.
    private let reported = Mutex<String?>(nil)

    /// A hub whose notifications wait until it is started.
    init(
        _ hub: HubsConfiguration.Hub, of configuration: HubsConfiguration, over parts: HubParts, in surroundings: Surroundings
    ) throws(HubHostError) {
        let (metrics, log, clock) = (surroundings.metrics, surroundings.log, surroundings.clock)
        let name = hub.name
        (self.name, self.parts, self.surroundings) = (name, parts, surroundings)
        let (terms, linkKey, seed): (HubTerms, [UInt8], UInt64)
        do throws(RefusedCall) {
            terms = try Self.terms(of: hub, in: configuration, over: parts)
            linkKey = try Self.kept(Self.linkKey, in: parts)
            seed = try Self.random(8).reduce(0) { $0 << 8 | UInt64($1) }
        } catch {
            throw .failingDisk(name: name, reason: error.answer.detail ?? "")
        }
        var file: PushRecordFile?
        if let path = hub.recordFile {
            guard configuration.user(ofRecord: path, besides: hub) == nil else {
                throw .unusableHub(name: name, reason: "the record of pushes needs a file of its own")
            }
            do throws(PushRecordFile.Unopened) {
                file = try PushRecordFile(path: path) { reason in
                    log.warning(
                        .hubFile, "recorded pushes are missing in their file", [.hub: .string(name), .reason: .string(reason)])
                }
            } catch {
                throw .unusableHub(name: name, reason: "\(error)")
            }
        }
        recording = RecordingService(file: file, clock: clock)
        let services = HubPlatform.allCases.map { [recording] in ($0, recording as any PushService) }
        dispatcher = HubDispatcher(
            journal: parts.journal, devices: parts.devices, services: Dictionary(uniqueKeysWithValues: services),
            terms: Self.dispatchTerms(of: hub), clock: clock, seed: ~seed,
            observe: { Self.note($0, of: name, in: metrics, log: log) })
        server = HubServer(
            terms, devices: parts.devices, messages: dispatcher, jobs: parts.jobs, blobPath: "/\(name)/blobs/", seed: seed,
            linkKey: linkKey)
    }

    /// Sends what waits, and what comes.
    func start() throws(HubHostError) {
        guard !dispatcher.start() else { return }
        throw .unusableHub(name: name, reason: "the system has no thread left for what it sends")
    }

    /// Begins no push any more, and returns at once.
    func beginStop() { dispatcher.beginStop() }

    /// Lets pushes in flight end, no longer than until a time, and lets go of the store.
    func stop(until end: MonotonicTime) {
        dispatcher.stop(until: end)
        parts.close()
    }

    /// Takes other terms. Calls that have begun end by the former ones.
    ///
    /// - Throws: The reason for which policies, tier and links stay. Times are taken all the same.
    func take(_ hub: HubsConfiguration.Hub, of configuration: HubsConfiguration) throws(RefusedCall) {
        dispatcher.take(Self.dispatchTerms(of: hub))
        server.take(try Self.terms(of: hub, in: configuration, over: parts))
    }

    /// The times and limits by which it sends.
    var dispatchTerms: DispatchTerms { dispatcher.terms }

    /// The first policy with its key, for connection strings.
    var policy: HubPolicy? { server.terms.policies.first }

    /// Answers a request whose path begins with the hub's name.
    func handle(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let now = surroundings.clock()
        if String(request.path.prefix(server.blobPath.count)).equalsIgnoringCase(server.blobPath) {
            let isReading = request.method == "GET" || request.method == "HEAD"
            return isReading
                ? server.blob(request, now: now) : HTTPServerResponse(status: 405, headers: ["Allow": "GET, HEAD"])
        }
        let moment = Moment(milliseconds: now)
        let callID = callCount.wrappingAdd(1, ordering: .relaxed).newValue
        let answer = server.perform(request, route: server.route(of: request), callID: callID, moment: moment)
        return answer.response(at: moment, trackingID: server.identify { $0.trackingID() })
    }

    /// The list of devices.
    func listDevices(_ request: HTTPServerRequest) -> HTTPServerResponse {
        DeviceListing(parts: parts, recording: recording).answer(to: request)
    }

    /// Answers for the storage account of the hub's jobs.
    func storage(_ request: HTTPServerRequest, path: String) -> HTTPServerResponse { server.storage(request, path: path) }

    /// True if a token of a manager of this hub comes with a request, as a field or in the query.
    func isManaged(by request: HTTPServerRequest) -> Bool {
        let moment = Moment(milliseconds: surroundings.clock())
        return server.allows(request, by: Self.token(of: request), rights: .manage, at: moment)
    }

    /// The token of a request. A query has its parts beside others.
    private static func token(of request: HTTPServerRequest) -> String? {
        if let field = request.headers["Authorization"] { return field }
        let parts = request.rawQuery.split(separator: "&").filter { part in
            ["sr=", "sig=", "se=", "skn="].contains { part.hasPrefix($0) }
        }
        return parts.isEmpty ? nil : "SharedAccessSignature \(parts.joined(separator: "&"))"
    }

    /// Forgets the pushes that were recorded of devices that are removed, once in a minute.
    private func forgetRemoved() {
        let now = MonotonicTime.now()
        let isDue = sweepAt.withLock { at in
            guard at <= now else { return false }
            at = now.advanced(by: .seconds(60))
            return true
        }
        if isDue { try? recording.forgetRemoved(from: parts.devices) }
    }

    /// Looks at the store, for metrics and the log.
    ///
    /// - Returns: The reason for which nothing can be written, or nil, and whether it can be read.
    func refresh() -> (problem: String?, canRead: Bool) {
        forgetRemoved()
        let (metrics, log) = (surroundings.metrics, surroundings.log)
        let counts = try? parts.counts()
        if let counts {
            metrics.devices.series([name]).set(Double(counts.devices))
            metrics.registrations.series([name]).set(Double(counts.registrations))
        }
        metrics.fileSize.series([name]).set(Double(parts.byteCount()))
        if let free = parts.freeRatio() { metrics.diskFree.series([name]).set(free) }
        let problem = parts.problem()
        metrics.failing.series([name]).set(problem == nil ? 0 : 1)
        let former = reported.withLock { reported in
            defer { reported = problem }
            return reported
        }
        if let problem, former == nil {
            log.error(.hubFile, "the file of a hub cannot be written", [.hub: .string(name), .reason: .string(problem)])
        } else if problem == nil, former != nil {
            log.info(.hubFile, "the file of a hub can be written again", [.hub: .string(name)])
        }
        return (problem, counts != nil)
    }

    /// The notifications that it goes on with, 0 while that cannot be known.
    var waitingCount: Int { (try? parts.journal.backlog(now: surroundings.clock()))?.dueCount ?? 0 }

    /// The hub for the status.
    var status: JSONObject {
        var object = JSONObject(["name": name, "tier": server.terms.tier.rawValue])
        if let counts = try? parts.counts() {
            object.add([
                "devices": Int(counts.devices), "registrations": Int(counts.registrations),
                "installations": Int(counts.installations),
            ])
        }
        if let backlog = try? parts.journal.backlog(now: surroundings.clock()) {
            object.add(["messages_waiting": backlog.dueCount])
        }
        object.add(["file_bytes": Int(parts.byteCount()), "problem": parts.problem()])
        return object
    }

    private static func terms(
        of hub: HubsConfiguration.Hub, in configuration: HubsConfiguration, over parts: HubParts
    ) throws(RefusedCall) -> HubTerms {
        var policies = hub.policies
        if hub.makesPolicy || policies.isEmpty {
            let key = String(decoding: Base64.encode(try kept(policyKey, in: parts)), as: UTF8.self)
            policies.insert(HubPolicy(name: madePolicy, key: key, rights: .all), at: 0)
        }
        return HubTerms(
            hubName: hub.name, policies: policies, tier: hub.tier, listen: configuration.listen, checksHost: hub.checksHost,
            trustsForwardedProto: configuration.trustsForwardedProto)
    }

    private static func dispatchTerms(of hub: HubsConfiguration.Hub) -> DispatchTerms {
        DispatchTerms(messageLifetime: hub.messageLifetime, retention: hub.telemetryRetention)
    }

    /// The 32 random bytes that the hub keeps by a name. They are made once.
    private static func kept(_ name: String, in parts: HubParts) throws(RefusedCall) -> [UInt8] {
        if let bytes = try parts.value(name) { return bytes }
        let bytes = try random(32)
        try parts.setValue(name, bytes)
        return bytes
    }

    private static func random(_ count: Int) throws(RefusedCall) -> [UInt8] {
        do throws(CryptoError) { return try randomBytes(count) } catch { throw .unavailable("no random bytes could be drawn") }
    }

    private static func note(_ event: DispatchEvent, of name: String, in metrics: HubMetrics, log: Log) {
        switch event {
        case .accepted: metrics.messages.series([name]).increment()
        case .begun(let time): metrics.firstPush.series([name]).observe(time)
        case .pushed(let platform, let outcome, let count):
            metrics.pushes.series([name, platform.format, outcome]).increment(by: UInt64(clamping: count))
        case .ended(_, let time): metrics.messageDuration.series([name]).observe(time)
        case .waiting(let count, let oldest):
            metrics.waiting.series([name]).set(count)
            metrics.oldestWaiting.series([name]).set(Double(oldest.wholeMilliseconds) / 1000)
        case .failed(let reason):
            log.warning(
                .hubFile, "notifications of a hub wait for its file", [.hub: .string(name), .reason: .string(reason)])
        }
    }
}
