import CallbackRuntime
import Console
import Dispatch
import EventLoop
import Kafka
import Observability
import Settings

extension Command {
    /// `pushfan callbacks`: gives results to receivers until a signal stops it.
    static let callbacks = Command(
        "callbacks", .operators, "Call receivers over HTTP with each result that they want, until they took it",
        examples: [
            "pushfan callbacks --receivers-file /etc/pushfan/receivers.yaml",
            "PUSHFAN_CONFIG=Config/pushfan.yaml pushfan callbacks --callbacks.instance callbacks-1",
            "pushfan callbacks --receivers-file receivers.yaml --listen 127.0.0.1:0",
        ],
        groups: [
            FlagGroup(
                "Work",
                FlagGroup.settings([
                    ("receivers-file", "FILE", "callbacks.receivers_file"), ("group", "NAME", "callbacks.group_id"),
                    ("instance", "NAME", "callbacks.instance"),
                ])),
            .kafka(topics: ["results", "callbacks"]),
            .reporting(at: Settings.callbackProbesDefault),
        ],
        readOn: "pushfan help callbacks check, callbacks list, callbacks test, callbacks replay, --page callbacks",
        run: { (invocation) throws(CommandFailure) in try CallbacksProgram(invocation).run() })
}

/// The service of callbacks together with its probes, its log and the signals that stop it.
struct CallbacksProgram {
    /// The time that calls in flight get to end, and their places to be kept.
    private static let drain = Duration.seconds(15)

    private let stop = StopRequest()
    private let reload = StopRequest()
    private let signals: SignalHandler
    private let settings: Settings
    private let readAgain: @Sendable () throws(SettingsError) -> Settings
    private let configuration: CallbackServiceConfiguration
    private let log: Log
    private let health = Health()
    private let metrics: CallbackMetrics
    private let supervision: Supervision

    init(_ invocation: Invocation) throws(CommandFailure) {
        // From here on a signal means an orderly end, or settings that are read again, however early it comes.
        signals = try SignalHandler(hangUp: { [reload] in reload.ask() }) { [stop] in stop.ask() }
        supervision = Supervision(ServiceManager(variables: invocation.surroundings.environment), health: health)
        var settings = try invocation.settings()
        log = Log.standardError(settings.log, isTerminal: invocation.streams.traits.isErrorTerminal)
        settings.brokerWatch = log.brokerWatch()
        settings.keepPropertiesLive()
        self.settings = settings
        readAgain = invocation.settingsReader()
        do throws(SettingsError) {
            configuration = try settings.callbackConfiguration(version: Program.version)
        } catch {
            throw CommandFailure(error)
        }
        DescriptorLimit.raise()
        ProcessFigures.begin()
        metrics = CallbackMetrics(build: .ofProgram) { [health, watch = settings.brokerWatch] in
            ProcessFigures.read(health, watch: watch)
        }
    }

    func run() throws(CommandFailure) -> ExitCode {
        defer { signals.cancel() }
        defer { settings.brokerWatch?.end() }
        let service: CallbackService
        do {
            service = try CallbackService(
                configuration, services: CallbackServices(metrics: metrics, log: log, health: health))
        } catch let error as KafkaError {
            throw CommandFailure(error, brokers: settings.kafka.bootstrapServers.joined(separator: ","), action: "work")
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
        let probes = ProbeServer(listen: settings.callbackProbes, health: health, metrics: metrics.registry) {
            service.status
        }
        try probes.start(log)
        defer { probes.stop() }
        log.info(.started, "callbacks start", [.version: .string(Program.version)])
        try serve(service)
        if let failure = settings.brokerWatch?.clusterFailure { throw CommandFailure(.temporary, failure.description) }
        log.info(.stopped, "callbacks have stopped; the places of all receivers are kept")
        log.flushSuppressed()
        return .done
    }

    /// Serves until a signal comes.
    private func serve(_ service: CallbackService) throws(CommandFailure) {
        let end = EndLimit(Self.drain + .seconds(10), log: log)
        let ask: @Sendable () -> Void = { [supervision] in
            end.begin()
            supervision.stop(within: end.limit)
            service.stop(within: Self.drain)
        }
        stop.reaches(ask)
        settings.brokerWatch?.onOtherCluster(ask)
        let files = ChangingFiles(settings)
        reload.reaches { [supervision, settings, readAgain, log] in
            supervision.reload {
                files.takeKeys()
                Self.renew(startedWith: settings, following: files, reading: readAgain, log: log)
            }
        }
        let timer = RepeatingTimer(every: .seconds(5)) { [log, reload] in
            log.flushSuppressed()
            if files.findsNew() { reload.ask() }
        }
        defer { timer.cancel() }
        let certificates = CertificateWatch(settings, ends: metrics.certificateEnd)
        defer { certificates.cancel() }
        let retention = CallbackRetentionWatch(settings, file: configuration.receiversFile, metrics: metrics)
        retention.start()
        defer { retention.stop() }
        supervision.begin()
        defer { supervision.end() }
        do {
            try service.run()
        } catch let error as KafkaError {
            throw CommandFailure(error, brokers: settings.kafka.bootstrapServers.joined(separator: ","), action: "work")
        } catch {
            log.error(.stopped, "callbacks stopped on a failure", [.reason: .string("\(error)")])
            throw CommandFailure(.failed, "\(error)")
        }
    }

    /// Reads the settings again, and lets the service use their properties of Kafka's clients. Changes nothing when anything is wrong.
    private static func renew(
        startedWith started: Settings, following files: ChangingFiles, reading read: () throws(SettingsError) -> Settings,
        log: Log
    ) {
        do {
            let settings = try read()
            try started.checkKafka(with: settings, transactionalID: nil)
            started.renewKafka(by: settings, log: log)
            files.follow(settings)
            log.warnOfRestart(for: settings.changes(since: started).filter { $0 != "kafka.properties" })
        } catch {
            log.refuseSettings(for: error)
        }
    }
}
