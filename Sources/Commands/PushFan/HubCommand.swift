import Console
import Dispatch
import EventLoop
import HubService
import Observability
import Settings

extension Command {
    /// `pushfan hub`: serves a notification hub, or several, until a signal stops it.
    static let hub = Command(
        "hub", .operators, "Serve a notification hub of one's own, whose devices and messages last",
        examples: [
            "pushfan hub", "pushfan hub --listen 127.0.0.1:0 --state /var/lib/pushfan/hub.db --handle-key-file handles.key",
            "pushfan hub --hubs-file /etc/pushfan/hub.yaml --log-format json",
        ],
        groups: HubArguments.groups,
        readOn: "pushfan help hub backup, hub check, hub import, pushfan help --page hub",
        run: { (invocation) throws(CommandFailure) in try HubProgram(invocation).run() })
}

/// Hubs together with their probes, their log and the signals that stop them.
struct HubProgram {
    /// The time that calls and pushes in flight get to end.
    private static let drain = Duration.seconds(10)

    private let invocation: Invocation
    private let stop = StopRequest()
    private let reload = StopRequest()
    private let signals: SignalHandler
    private let configuration: HubsConfiguration
    /// The files that were read. They are looked at from then on, so that no change is missed while the hubs are opened.
    private let files: ChangingFiles
    private let log: Log
    private let health = Health()
    private let metrics: HubMetrics
    private let supervision: Supervision

    init(_ invocation: Invocation) throws(CommandFailure) {
        // From here on a signal means an orderly end, or a file that is read again, however early it comes.
        signals = try SignalHandler(hangUp: { [reload] in reload.ask() }) { [stop] in stop.ask() }
        supervision = Supervision(ServiceManager(variables: invocation.surroundings.environment), health: health)
        self.invocation = invocation
        let settings = try invocation.settings()
        log = Log.standardError(settings.log, isTerminal: invocation.streams.traits.isErrorTerminal)
        configuration = try HubArguments.configuration(of: invocation, with: settings)
        files = ChangingFiles(configuration.files)
        DescriptorLimit.raise()
        ProcessFigures.begin()
        metrics = HubMetrics(build: .ofProgram) { [health] in ProcessFigures.read(health) }
    }

    func run() throws(CommandFailure) -> ExitCode {
        defer { signals.cancel() }
        let host: HubHost
        do throws(HubHostError) {
            host = try HubHost(configuration, metrics: metrics, log: log, health: health)
        } catch {
            throw CommandFailure(error)
        }
        let probes = configuration.probes.map { address in
            ProbeServer(listen: address, health: health, metrics: metrics.registry) { host.status }
        }
        try probes?.start(log)
        defer { probes?.stop() }
        log.info(
            .started, "a hub starts, and goes on with the notifications that wait",
            [.version: .string(Program.version), .count: LogValue(host.waitingCount)])
        try serve(host)
        log.info(.stopped, "the hub has stopped; what waits is sent after the next start")
        log.flushSuppressed()
        return .done
    }

    /// Serves until a signal comes.
    private func serve(_ host: HubHost) throws(CommandFailure) {
        do throws(HubHostError) {
            let address = try host.start()
            log.info(.listening, "the hub is served", [.address: .string("\(address)")])
        } catch {
            throw CommandFailure(error)
        }
        defer { host.stop(within: Self.drain) }
        warnOfPlainText()
        showConnectionString(of: host)
        let looking = RepeatingTimer(every: .milliseconds(700)) { [reload, files] in if files.findsNew() { reload.ask() } }
        defer { looking.cancel() }
        let flushing = RepeatingTimer(every: .seconds(5)) { [log] in log.flushSuppressed() }
        defer { flushing.cancel() }
        reload.reaches { [supervision, invocation, log, files] in
            supervision.reload {
                files.takeKeys()
                Self.renew(host, following: files, by: invocation, log: log)
            }
        }
        let ended = DispatchSemaphore(value: 0)
        let end = EndLimit(Self.drain + .seconds(10), log: log)
        stop.reaches {
            end.begin()
            ended.signal()
        }
        supervision.begin()
        defer { supervision.end() }
        ended.wait()
        supervision.stop(within: end.limit)
        log.info(.draining, "the hub answers what waits, and refuses new calls")
    }

    /// Shows the connection string of the one hub that flags describe: the one place that prints a key, which its user needs to have.
    /// The hub serves on if there is no reader.
    private func showConnectionString(of host: HubHost) {
        guard !invocation.arguments.has("hubs-file"), let hub = configuration.hubs.first,
            let text = host.connectionString(of: hub.name)
        else { return }
        try? invocation.streams.out(text)
        try? invocation.streams.flush()
    }

    private func warnOfPlainText() {
        if configuration.isExposed {
            log.warning(
                .configurationDoubtful, "calls and their keys are not encrypted: the address is not loopback, and has no TLS",
                [.address: .string(configuration.listen)])
        }
        for hub in configuration.hubs where hub.handleKeyFile == nil {
            log.warning(
                .configurationDoubtful, "handles of devices are kept in plain text; a handle key file encrypts them",
                [.hub: .string(hub.name)])
        }
    }

    /// Reads flags, settings and files again, and has the host take what they say. Changes nothing when anything is wrong.
    private static func renew(_ host: HubHost, following files: ChangingFiles, by invocation: Invocation, log: Log) {
        do throws(CommandFailure) {
            let configuration = try HubArguments.configuration(of: invocation, with: try invocation.settings())
            host.take(configuration)
            files.follow(configuration.files)
            log.info(.configurationLoaded, "the settings of the hubs were read again", [.count: LogValue(host.hubCount)])
        } catch {
            log.refuseSettings(because: error.message)
            // A file that is named and not there yet may end the fault.
            if let file = invocation.arguments.value("hubs-file") { files.follow(HubsFile.files(of: file)) }
        }
    }
}

extension CommandFailure {
    /// The reason for which hubs are not served.
    fileprivate init(_ error: HubHostError) {
        switch error {
        case .failingDisk: self.init(.temporary, "\(error)")
        case .cannotListen:
            self.init(.configuration, "\(error)", hint: "give another address with --listen; port 0 takes a free one")
        case .unusableHub, .unusableFile, .cannotServe: self.init(.configuration, "\(error)")
        }
    }
}
