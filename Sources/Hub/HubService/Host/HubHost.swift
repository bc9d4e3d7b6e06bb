import Basics
import Crypto
import Dispatch
import EventLoop
package import HTTPServing
import HubServer
package import Observability
import PushModel
import Synchronization

/// Hubs of one's own, served at one address. The first segment of a path names the hub.
///
/// `/devices` shows the devices of a hub to its managers, and to this machine where the settings say so. `/storage` has the files of bulk
/// jobs, `/livez` and `/readyz` are probes.
package final class HubHost: Sendable {
    /// The hubs that are served, by folded names.
    private struct Board: Sendable {
        var configuration: HubsConfiguration
        var hubs: [String: OwnHub] = [:]
        /// The hubs of the settings that could not be opened, with the reason.
        var failures: [String: String] = [:]
        /// The settings that count after a restart only.
        var delayed: [String] = []
    }

    /// The beginning of the paths of the storage account.
    private static let storagePath = "/storage/"
    /// Bytes of a file for a job, and of any other body.
    private static let (fileByteCount, bodyByteCount) = (64 << 20, 4 << 20)
    /// The time between two looks at the hubs.
    private static let interval = DispatchTimeInterval.seconds(2)

    private let surroundings: OwnHub.Surroundings
    private let open: HubParts.Opening
    private let health: Health
    private let check: HealthCheck
    /// Protects what is served. Nothing else is locked while it is held.
    private let board: Mutex<Board>
    /// Protects the ids of answers that are no hub's. Nothing else is locked while it is held.
    private let identifiers: Mutex<HubIdentifiers>
    /// Held while the hubs are changed. The board is locked within.
    private let changing = Mutex(false)
    /// Held while the hubs are looked at, so that the last look counts. The board and the hubs' stores are locked within.
    private let looking = Mutex(false)
    /// Protects the server's life. Nothing else is locked while it is held.
    private let server = Mutex<HTTPServer?>(nil)
    /// Protects the certificate that is served, as PEM. Nothing else is locked while it is held.
    private let certificate = Mutex<[UInt8]?>(nil)
    private let ending = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    /// Opens all hubs. They are not served yet, and send nothing.
    ///
    /// - Parameters:
    ///   - configuration: The hubs.
    ///   - metrics: What they do.
    ///   - log: The log.
    ///   - health: Gets a check, which says which hub's file cannot be written, and fails while none can be read.
    ///   - clock: The time, in milliseconds since 1970.
    ///   - open: Opens the store of a hub. Default: its file.
    /// - Throws: The reason for which a hub cannot be opened. None is open then.
    package init(
        _ configuration: HubsConfiguration, metrics: HubMetrics, log: Log, health: Health,
        clock: @escaping @Sendable () -> Int64 = WallClock.millisecondsSince1970,
        open: @escaping HubParts.Opening = HubParts.open
    ) throws(HubHostError) {
        surroundings = OwnHub.Surroundings(metrics: metrics, log: log, clock: clock)
        self.open = open
        self.health = health
        check = health.check("hub_files", for: .ready, until: "the hubs are not served yet")
        identifiers = Mutex(HubIdentifiers(seed: UInt64(bitPattern: clock())))
        board = Mutex(Board(configuration: configuration))
        do throws(HubHostError) {
            for hub in configuration.hubs { try add(hub, of: configuration) }
        } catch {
            for hub in board.withLock({ $0.hubs.values }) { hub.stop(until: .now()) }
            throw error
        }
    }

    /// Serves the hubs, and sends what waits.
    ///
    /// - Returns: The bound address, with the real port in place of 0.
    /// - Throws: `unusableFile`, `cannotListen` or `cannotServe`.
    @discardableResult
    package func start() throws(HubHostError) -> HTTPServer.Address {
        let (configuration, hubs) = board.withLock { ($0.configuration, Array($0.hubs.values)) }
        var settings = HTTPServerConfiguration(listen: configuration.listen)
        if let tls = configuration.tls { settings.identity = try identity(tls) }
        settings.threadCount = configuration.threadCount
        settings.maximumBodyByteCount = Self.fileByteCount
        settings.maximumBodyByteCountInAll = 80 << 20
        settings.admission = { [weak self] head in self?.admission(of: head) ?? .skip }
        // The limit of HTTP.sys (MaxRequestBytes). A larger buffer would be cleared before every request.
        settings.maximumHeaderByteCount = 16 << 10
        // A body that does not end is answered 400 then, such as a chunked one without a last chunk.
        settings.requestTimeout = .seconds(30)
        let server = HTTPServer(settings) { [weak self] request in self?.handle(request) ?? HTTPServerResponse(status: 503) }
        let address: HTTPServer.Address
        do throws(HTTPServingError) { address = try server.start() } catch {
            if case .cannotListen = error { throw .cannotListen(reason: error.description) }
            throw .cannotServe(reason: error.description)
        }
        self.server.withLock { $0 = server }
        do throws(HubHostError) {
            for hub in hubs { try hub.start() }
        } catch {
            stop(within: .zero)
            throw error
        }
        refresh()
        thread.start(named: "pushfan-hubs") { [weak self, ending] in
            while ending.wait(timeout: .now() + Self.interval) == .timedOut { self?.refresh() }
        }
        return address
    }

    /// Takes other settings: hubs that are new, keys, tiers and times. Calls that have begun end by the former ones. What counts after a
    /// restart only is said in the log, and in the status.
    package func take(_ configuration: HubsConfiguration) {
        let delayed = changing.withLock { _ -> [String] in
            // A hub that could not be opened has no settings that count until a restart.
            let former = board.withLock { board in
                var former = board.configuration
                former.hubs.removeAll { board.hubs[$0.name.lowercased()] == nil }
                return former
            }
            // Links name the address that is served, and not the one that will be.
            let kept = configuration.keeping(former)
            var delayed = configuration.delayedSettings(since: former)
            if !delayed.contains("tls"), isCertificateRenewed(former) { delayed.append("tls") }
            for hub in kept.hubs {
                guard let known = board.withLock({ $0.hubs[hub.name.lowercased()] }) else {
                    addLate(hub, of: kept)
                    continue
                }
                do throws(RefusedCall) { try known.take(hub, of: kept) } catch {
                    delayed.append("\(hub.name), policies")
                }
            }
            let forgotten = board.withLock { board in
                board.configuration = kept
                board.delayed = delayed
                let forgotten = board.failures.keys.filter { name in !configuration.hubs.contains { $0.name == name } }
                for name in forgotten { board.failures[name] = nil }
                return forgotten
            }
            for name in forgotten { surroundings.metrics.forget(name) }
            return delayed
        }
        for setting in delayed {
            surroundings.log.warning(
                .configurationDoubtful, "a setting counts after a restart only", [.setting: .string(setting)])
        }
        refresh()
    }

    /// Stops serving, lets calls and pushes in flight end, and closes the files. What waits is sent after the next start.
    package func stop(within limit: Duration) {
        let end = MonotonicTime.now().advanced(by: limit)
        // Pushes in flight end while the server waits for its callers. So one slow caller takes the hubs no time.
        let hubs = board.withLock { Array($0.hubs.values) }
        for hub in hubs { hub.beginStop() }
        let running = server.withLock { server in
            defer { server = nil }
            return server
        }
        running?.stop(within: limit * 3 / 4)
        if running != nil {
            ending.signal()
            thread.waitForEnd(until: .now() + .seconds(2))
        }
        let threads = hubs.map { hub in
            let thread = ServiceThread()
            if !thread.start(named: "pushfan-end", body: { hub.stop(until: end) }) { hub.stop(until: end) }
            return thread
        }
        for thread in threads { thread.waitForEnd() }
    }

    /// The address while the hubs are served.
    package var address: HTTPServer.Address? { server.withLock { $0 }?.address }

    /// The number of hubs that are open.
    package var hubCount: Int { board.withLock { $0.hubs.count } }

    /// The notifications that all hubs go on with.
    package var waitingCount: Int { board.withLock { Array($0.hubs.values) }.reduce(0) { $0 + $1.waitingCount } }

    /// The times and limits by which a hub sends.
    func dispatchTerms(of hub: String) -> DispatchTerms? { board.withLock { $0.hubs[hub.lowercased()] }?.dispatchTerms }

    /// The connection string of the first policy of a hub, for the address that is served. A secret like its key.
    package func connectionString(of hub: String) -> String? {
        let (configuration, found) = board.withLock { ($0.configuration, $0.hubs[hub.lowercased()]) }
        guard let policy = found?.policy else { return nil }
        let scheme = configuration.tls == nil ? "http" : "https"
        let authority = address?.description ?? configuration.listen
        return "Endpoint=\(scheme)://\(authority)/;SharedAccessKeyName=\(policy.name);SharedAccessKey=\(policy.key)"
    }

    /// The hubs, their numbers and their problems, as JSON.
    package var status: [UInt8] {
        let board = board.withLock { $0 }
        var hubs = board.hubs.values.sorted { $0.name < $1.name }.map(\.status.bytes)
        hubs += board.failures.sorted { $0.key < $1.key }.map { JSONObject(["name": $0.key, "problem": $0.value]).bytes }
        var object = JSONObject()
        object.add("hubs", array: hubs)
        object.add("after_restart", array: board.delayed.map(JSONObject.text))
        return object.bytes
    }

    /// Answers one request, as the server does for requests from the network.
    package func handle(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let start = MonotonicTime.now()
        let segment = request.rawPath.dropFirst().prefix { $0 != "/" }
        let name = PercentEncoding.decoded(String(segment)).lowercased()
        let hub = board.withLock { $0.hubs[name] }
        let response = hub?.handle(request) ?? answer(request, beside: name)
        let label = hub?.name ?? "none"
        surroundings.metrics.requests.series([label, "\(response.status)"]).increment()
        surroundings.metrics.requestDuration.series([label]).observe(nanoseconds: MonotonicTime.now() - start)
        return response
    }

    /// Decides on the body of a request: files of jobs may be long, and come from managers only.
    func admission(of head: HTTPServerRequest) -> HTTPAdmission {
        guard head.path.hasPrefix(Self.storagePath) else { return .read(atMost: Self.bodyByteCount) }
        return manager(of: head) == nil ? .answer(HubServer.noBlob(403)) : .read(atMost: Self.fileByteCount)
    }

    /// The hub whose manager makes a request.
    private func manager(of request: HTTPServerRequest) -> OwnHub? {
        board.withLock { $0.hubs.values.sorted { $0.name < $1.name } }.first { $0.isManaged(by: request) }
    }

    /// Answers a request for a path beside the hubs.
    private func answer(_ request: HTTPServerRequest, beside name: String) -> HTTPServerResponse {
        let path = request.path
        let isReading = request.method == "GET" || request.method == "HEAD"
        switch path.last == "/" && path.utf8.count > 1 ? String(path.dropLast()) : path {
        case "/livez" where isReading: return answer(.live, to: request)
        case "/readyz" where isReading:
            // Whoever is elsewhere has the last look, which is seconds old, and costs nothing.
            if isTrusted(request) { refresh() }
            return answer(.ready, to: request)
        case "/devices" where isReading: return listDevices(request)
        case "/livez", "/readyz", "/devices": return HTTPServerResponse(status: 405, headers: ["Allow": "GET, HEAD"])
        case _ where path.hasPrefix(Self.storagePath): return storage(request)
        default: return error(404, detail: "No service is hosted at the specified address")
        }
    }

    /// Answers a probe. Strangers learn the state, and no reason.
    private func answer(_ probe: HealthProbe, to request: HTTPServerRequest) -> HTTPServerResponse {
        let report = health.report(probe, now: MonotonicTime.now().nanoseconds)
        let body =
            isTrusted(request)
            ? report.body(verbose: !report.passes || request.queryValue("verbose") != nil)
            : Array((report.passes ? "ok\n" : "not ready\n").utf8)
        return HTTPServerResponse(
            status: report.status, headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"], body: body
        )
    }

    private func listDevices(_ request: HTTPServerRequest) -> HTTPServerResponse {
        let hubs = board.withLock { $0.hubs }
        let hub = request.queryValue("hub").map { hubs[$0.lowercased()] } ?? (hubs.count == 1 ? hubs.first?.value : nil)
        let isTrusted = isTrusted(request)
        if let hub, isTrusted || hub.isManaged(by: request) { return hub.listDevices(request) }
        guard isTrusted || hub == nil && manager(of: request) != nil else {
            return error(401, detail: "The list of devices needs a token with the Manage right")
        }
        return .text("'hub' must name a hub\n", status: 404)
    }

    /// True if a request needs no token to see what is here: it comes from this machine, and the settings trust that.
    private func isTrusted(_ request: HTTPServerRequest) -> Bool {
        board.withLock { $0.configuration.trustsThisMachine } && LocalCaller.made(request)
    }

    /// Answers for the storage account of that hub whose manager calls.
    private func storage(_ request: HTTPServerRequest) -> HTTPServerResponse {
        guard ["GET", "HEAD", "PUT", "DELETE"].contains(request.method) else {
            return HTTPServerResponse(status: 405, headers: ["Allow": "GET, HEAD, PUT, DELETE"])
        }
        guard let hub = manager(of: request) else { return HubServer.noBlob(403) }
        return hub.storage(request, path: String(request.path.dropFirst(Self.storagePath.count)))
    }

    private func error(_ status: Int, detail: String) -> HTTPServerResponse {
        HubReply.error(status, detail: detail).response(
            at: Moment(milliseconds: surroundings.clock()), trackingID: identifiers.withLock { $0.trackingID() })
    }

    private func add(_ hub: HubsConfiguration.Hub, of configuration: HubsConfiguration) throws(HubHostError) {
        let parts = try open(hub, surroundings.metrics, surroundings.clock)
        do throws(HubHostError) {
            let own = try OwnHub(hub, of: configuration, over: parts, in: surroundings)
            board.withLock { $0.hubs[hub.name.lowercased()] = own }
        } catch {
            parts.close()
            throw error
        }
    }

    /// Adds a hub while others are served, which go on whatever becomes of it.
    private func addLate(_ hub: HubsConfiguration.Hub, of configuration: HubsConfiguration) {
        do throws(HubHostError) {
            try add(hub, of: configuration)
            let added = board.withLock { board in
                board.failures[hub.name] = nil
                return board.hubs[hub.name.lowercased()]
            }
            try added?.start()
            surroundings.log.info(.configurationLoaded, "a hub is served", [.hub: .string(hub.name)])
        } catch {
            board.withLock { $0.failures[hub.name] = error.description }
            surroundings.log.error(
                .hubFile, "a hub cannot be served, the others go on",
                [.hub: .string(hub.name), .reason: .string(error.description)])
        }
    }

    /// Looks at the hubs, for the probes, metrics and the log.
    private func refresh() {
        looking.withLock { _ in
            let (hubs, failures) = board.withLock { ($0.hubs.values.sorted { $0.name < $1.name }, $0.failures) }
            let found = hubs.map { (name: $0.name, standing: $0.refresh()) }
            for name in failures.keys { surroundings.metrics.failing.series([name]).set(1) }
            let problem = found.lazy.compactMap { hub in
                (hub.standing.problem ?? (hub.standing.canRead ? nil : "the file cannot be read")).map { "\(hub.name): \($0)" }
            }.first
            // One full disk must not take the other hubs away from their callers, nor its own hub from those who read.
            if let problem, !found.contains(where: \.standing.canRead) { check.fail(problem) } else { check.pass() }
            check.degrade(problem ?? failures.min { $0.key < $1.key }?.value)
        }
    }

    /// True if the file of the certificate has another one than is served.
    private func isCertificateRenewed(_ configuration: HubsConfiguration) -> Bool {
        guard let tls = configuration.tls, let served = certificate.withLock({ $0 }) else { return false }
        return (try? FileStore<FileText>(tls.certificateFile).read())?.bytes != served
    }

    private func identity(_ tls: HubsConfiguration.TLS) throws(HubHostError) -> HTTPServerConfiguration.Identity {
        let chain = try HubHostError.read(FileText.self, at: tls.certificateFile).bytes
        self.certificate.withLock { $0 = chain }
        let certificate = String(decoding: chain, as: UTF8.self)
        let key = String(decoding: try HubHostError.read(FileText.self, at: tls.keyFile).bytes, as: UTF8.self)
        if let ends = try? CertificateEnds(pem: certificate) {
            surroundings.metrics.certificateEnd.series(["hub"]).set(Double(ends.first))
        }
        return HTTPServerConfiguration.Identity(certificateChain: certificate, privateKey: key)
    }
}

extension HubsConfiguration {
    /// The settings that differ from former ones, and count after a restart only.
    func delayedSettings(since former: HubsConfiguration) -> [String] {
        var names: [String] = []
        if listen != former.listen { names.append("listen") }
        if tls != former.tls { names.append("tls") }
        if probes != former.probes { names.append("probes") }
        if threadCount != former.threadCount { names.append("threads") }
        for old in former.hubs {
            guard let hub = hubs.first(where: { $0.name.lowercased() == old.name.lowercased() }) else {
                names.append("hubs without \(old.name)")
                continue
            }
            if hub.name != old.name { names.append("\(old.name), name") }
            if hub.state != old.state { names.append("\(old.name), state") }
            if hub.handleKeyFile != old.handleKeyFile { names.append("\(old.name), handle_key_file") }
            if hub.recordFile != old.recordFile { names.append("\(old.name), record_file") }
        }
        return names
    }

    /// These settings, with those of former ones that count until a restart.
    func keeping(_ former: HubsConfiguration) -> HubsConfiguration {
        var kept = self
        (kept.listen, kept.tls, kept.probes, kept.threadCount) = (former.listen, former.tls, former.probes, former.threadCount)
        for old in former.hubs {
            guard let index = kept.hubs.firstIndex(where: { $0.name.lowercased() == old.name.lowercased() }) else {
                kept.hubs.append(old)
                continue
            }
            (kept.hubs[index].name, kept.hubs[index].state) = (old.name, old.state)
            (kept.hubs[index].handleKeyFile, kept.hubs[index].recordFile) = (old.handleKeyFile, old.recordFile)
        }
        return kept
    }
}
