import Console
import Dispatch
import EventLoop
import Gateway
import GatewayAPI
import Kafka
import Observability
import Settings

extension Command {
    /// `pushfan gateway`: serves apps until a signal stops it.
    static let gateway = Command(
        "gateway", .operators, "Serve apps over HTTP: sign users in, register their devices, send notifications",
        examples: [
            "pushfan gateway --users-file /etc/pushfan/users",
            "PUSHFAN_CONFIG=Config/pushfan.yaml pushfan gateway --users-file users --gateway.listen 127.0.0.1:0",
            "pushfan gateway --demo-auth true --listen 127.0.0.1:0",
        ],
        groups: [
            FlagGroup(
                "Serving",
                FlagGroup.settings([
                    ("users-file", "FILE", "gateway.users_file"), ("keys-file", "FILE", "gateway.keys_file"),
                    ("demo-auth", "BOOL", "gateway.demo_auth"),
                    ("trust-proxy", "LIST", "gateway.trust_proxy"), ("send-wait", "DURATION", "gateway.send_wait"),
                    ("hub-name", "NAME", "hub.name"),
                ])),
            .kafka(topics: ["requests", "results"]),
            .reporting(at: Settings.gatewayProbesDefault),
        ],
        readOn: "pushfan help --page gateway, pushfan help users set",
        run: { (invocation) throws(CommandFailure) in try GatewayProgram(invocation).run() })
}

/// A gateway together with its probes, its log and the signals that stop it.
struct GatewayProgram {
    private let stop = StopRequest()
    private let reload = StopRequest()
    private let signals: SignalHandler
    private let settings: Settings
    private let readAgain: @Sendable () throws(SettingsError) -> Settings
    private let configuration: GatewayConfiguration
    private let services: GatewayServices
    private let supervision: Supervision

    init(_ invocation: Invocation) throws(CommandFailure) {
        // From here on a signal means an orderly end, or settings that are read again, however early it comes.
        signals = try SignalHandler(hangUp: { [reload] in reload.ask() }) { [stop] in stop.ask() }
        var settings = try invocation.settings()
        let log = Log.standardError(settings.log, isTerminal: invocation.streams.traits.isErrorTerminal)
        settings.brokerWatch = log.brokerWatch()
        settings.keepPropertiesLive()
        self.settings = settings
        readAgain = invocation.settingsReader()
        do throws(SettingsError) {
            configuration = try settings.gatewayConfiguration(version: Program.version)
        } catch {
            throw CommandFailure(error)
        }
        DescriptorLimit.raise()
        ProcessFigures.begin()
        let health = Health()
        services = GatewayServices(
            metrics: GatewayMetrics(build: .ofProgram) { [watch = settings.brokerWatch] in
                ProcessFigures.read(health, watch: watch)
            }, log: log, health: health)
        supervision = Supervision(ServiceManager(variables: invocation.surroundings.environment), health: health)
    }

    func run() throws(CommandFailure) -> ExitCode {
        defer { signals.cancel() }
        defer { settings.brokerWatch?.end() }
        let log = services.log
        let probes = ProbeServer(listen: settings.gatewayProbes, health: services.health, metrics: services.metrics.registry)
        let service: GatewayService
        do throws(GatewayFailure) {
            service = try GatewayService(configuration, services: services)
        } catch {
            throw CommandFailure(error)
        }
        try probes.start(log)
        defer { probes.stop() }
        log.info(
            .started, "a gateway starts", [.version: .string(Program.version), .hub: .string(configuration.hubName)])
        log.warnOfLimit(below: GatewayService.descriptorsNeeded(for: configuration))
        try serve(service)
        if let failure = settings.brokerWatch?.clusterFailure { throw CommandFailure(.temporary, failure.description) }
        log.info(.stopped, "the gateway has stopped")
        log.flushSuppressed()
        return .done
    }

    /// Serves until a signal comes.
    private func serve(_ service: GatewayService) throws(CommandFailure) {
        do throws(GatewayFailure) {
            try service.start()
        } catch {
            throw CommandFailure(error, hint: "give another address with --gateway.listen; port 0 takes a free one")
        }
        let files = ChangingFiles(settings)
        let timer = RepeatingTimer(every: .seconds(5)) { [log = services.log, reload] in
            log.flushSuppressed()
            if files.findsNew() { reload.ask() }
            service.probeHubs()
        }
        defer { timer.cancel() }
        let certificates = CertificateWatch(settings, ends: services.metrics.certificateEnd)
        defer { certificates.cancel() }
        supervision.begin()
        defer { supervision.end() }
        let ended = DispatchSemaphore(value: 0)
        let end = EndLimit(.seconds(30), log: services.log)
        stop.reaches {
            end.begin()
            ended.signal()
        }
        settings.brokerWatch?.onOtherCluster {
            end.begin()
            ended.signal()
        }
        reload.reaches { [supervision, settings, readAgain, log = services.log] in
            supervision.reload {
                files.takeKeys()
                Self.renew(service, startedWith: settings, following: files, reading: readAgain, log: log)
            }
        }
        ended.wait()
        supervision.stop(within: end.limit)
        services.log.info(.draining, "the gateway answers what waits, and refuses new calls")
        service.stop()
    }

    /// Reads the settings again, and lets the gateway use their properties of Kafka's clients, and the keys of their hubs. Changes nothing when
    /// anything is wrong.
    private static func renew(
        _ service: GatewayService, startedWith started: Settings, following files: ChangingFiles,
        reading read: () throws(SettingsError) -> Settings, log: Log
    ) {
        do {
            let settings = try read()
            try started.checkKafka(with: settings, transactionalID: nil)
            service.renewKeys(of: try settings.gatewayConfiguration(version: Program.version).hubs)
            started.renewKafka(by: settings, log: log)
            files.follow(settings)
            // Of the hubs' keys the service says itself what became of them.
            let keys = settings.allHubs.flatMap { [$0.path("connection_string"), $0.path("secondary_key")] }
            let known = ["kafka.properties"] + keys
            log.warnOfRestart(for: settings.changes(since: started).filter { !known.contains($0) })
        } catch {
            log.refuseSettings(for: error)
        }
    }
}

extension CommandFailure {
    fileprivate init(_ failure: GatewayFailure, hint: String? = nil) {
        switch failure {
        case .configuration(let reason): self.init(.configuration, reason, hint: hint)
        case .system(let reason): self.init(.failed, reason)
        }
    }
}
