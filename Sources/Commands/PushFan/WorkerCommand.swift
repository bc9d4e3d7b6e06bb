import Console
import Dispatch
import EventLoop
import Glibc
import Kafka
import Observability
import Settings
import Stamp
import Synchronization
import WorkerRuntime

extension Command {
    /// `pushfan worker`: takes requests from Kafka until a signal stops it.
    static let worker = Command(
        "worker", .operators, "Send requests from Kafka through the hub and record one result for each",
        examples: [
            "pushfan worker",
            "PUSHFAN_WORKER_ID=w-3 pushfan worker --config Config/pushfan.yaml",
            "pushfan worker --kafka.bootstrap_servers 127.0.0.1:9092 --worker.max_in_flight 128 --listen 127.0.0.1:0",
        ],
        groups: [
            FlagGroup(
                "Work",
                FlagGroup.settings([
                    ("id", "NAME", "worker.id"), ("max-in-flight", "N", "worker.max_in_flight"),
                    ("group", "NAME", "kafka.group_id"), ("guarantee", "WORD", "kafka.delivery_guarantee"),
                ])),
            .kafka(topics: ["requests", "results", "deadletter", "control", "shares"]),
            FlagGroup(
                "Reporting",
                FlagGroup.settings([("log-level", "LEVEL", "log.level"), ("log-format", "FORMAT", "log.format")])),
        ],
        readOn: "pushfan help operations, pushfan help requestpath; `pushfan config show --origin` lists every setting",
        run: { (invocation) throws(CommandFailure) in try WorkerProgram(invocation).run() })
}

/// A worker together with its probes, its log and the signals that stop it.
struct WorkerProgram {
    private let stop = StopRequest()
    private let reload = StopRequest()
    private let signals: SignalHandler
    private let settings: Settings
    private let readAgain: @Sendable () throws(SettingsError) -> Settings
    private let configuration: WorkerConfiguration
    private let log: Log
    private let health = Health()
    private let status = StatusBoard()
    private let metrics: PushfanMetrics
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
            var configuration = try settings.workerConfiguration(version: Program.version)
            configuration.incarnation = .ofThisProcess()
            self.configuration = configuration
        } catch {
            throw CommandFailure(error)
        }
        DescriptorLimit.raise()
        ProcessFigures.begin()
        metrics = PushfanMetrics(build: .ofProgram) { [health, watch = settings.brokerWatch] in
            ProcessFigures.read(health, watch: watch)
        }
    }

    func run() throws(CommandFailure) -> ExitCode {
        defer { signals.cancel() }
        defer { settings.brokerWatch?.end() }
        let probes = ProbeServer(listen: settings.listen.description, health: health, metrics: metrics.registry) {
            [status, hub = configuration.hubName] in status.json(version: Program.version, hub: hub)
        }
        try probes.start(log)
        defer { probes.stop() }
        log.info(
            .started, "a worker starts",
            [.version: .string(Program.version), .worker: .string(configuration.workerID), .hub: .string(configuration.hubName)])
        log.warnOfLimit(below: settings.descriptorsNeeded)
        let code = try work()
        log.flushSuppressed()
        return code
    }

    private func work() throws(CommandFailure) -> ExitCode {
        do {
            var services = WorkerServices(metrics: metrics, log: log, health: health)
            services.status = status
            let worker = try Worker(configuration, services: services)
            let end = EndLimit(configuration.drainTimeout + configuration.transactionTimeout + .seconds(5), log: log)
            stop.reaches { [supervision] in
                end.begin()
                supervision.stop(within: end.limit + .seconds(5))
                worker.stop()
            }
            let reloading = Reloading(worker, settings: settings, log: log, read: readAgain)
            supervision.begin()
            defer { supervision.end() }
            let files = ChangingFiles(settings)
            reload.reaches { [supervision] in
                supervision.reload {
                    files.takeKeys()
                    reloading.run(following: files)
                }
            }
            let timer = RepeatingTimer(every: .seconds(10)) { [log, reload] in
                log.flushSuppressed()
                if files.findsNew() { reload.ask() }
            }
            defer { timer.cancel() }
            let reporter = StatusReporter(configuration, board: status, log: log)
            reporter.start()
            defer { reporter.stop() }
            let certificates = CertificateWatch(settings, ends: metrics.certificateEnd)
            defer { certificates.cancel() }
            let retention = RetentionWatch(settings, metrics: metrics)
            retention.start()
            defer { retention.stop() }
            try worker.run()
            log.info(.stopped, "the worker has stopped; everything is committed")
            return .done
        } catch let failure as WorkerFailure {
            log.error(.stopped, "the worker stopped on a failure", [.reason: .string(failure.description)])
            throw CommandFailure(failure.exitCode, failure.description)
        } catch let error as KafkaError {
            throw CommandFailure(error, brokers: configuration.kafka.bootstrapServers, action: "work")
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }
}

extension Build {
    static let ofProgram = Build(commit: BuildStamp.commit, date: BuildStamp.date)
}

extension BuildFacts {
    static var ofProgram: BuildFacts {
        BuildFacts(version: Program.version, commit: Build.ofProgram.shortCommit, swift: swiftVersion)
    }

    private static var swiftVersion: String {
        #if swift(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}

extension CommandFailure {
    /// The failure of settings with which no program starts.
    init(_ error: SettingsError) {
        self.init(
            .configuration, error.description,
            hint: "`pushfan config show --origin` lists every setting and where it comes from")
    }
}

extension WorkerFailure {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .fenced, .configuration: .configuration
        case .takenOver, .interrupted, .uncommitted, .otherCluster: .temporary
        case .notAllowed: .notAllowed
        case .kafka, .system: .failed
        }
    }
}

extension Log {
    /// A log on standard error: text on a terminal, else JSON, unless the settings differ.
    static func standardError(_ settings: LogSettings, isTerminal: Bool) -> Log {
        let format: Format =
            switch settings.format {
            case .json: .json
            case .text: .text
            case .auto: isTerminal ? .text : .json
            }
        return Log(format: format, level: settings.level, now: WallClock.millisecondsSince1970) { line in
            // One write per line, so that lines of several threads do not mix.
            _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }

    /// Warns where fewer files may be open than the program can need.
    func warnOfLimit(below count: Int) {
        guard let limit = DescriptorLimit.current(), limit.soft < count else { return }
        warning(
            .configurationDoubtful, "the file descriptor limit may be too low: raise LimitNOFILE= or `ulimit -Hn`",
            [.count: LogValue(count), .reason: .string("\(limit.soft) may be open")])
    }
}

/// Reads the settings again, and lets a worker use their hubs, and their properties of Kafka's clients.
final class Reloading: Sendable {
    private let worker: Worker
    private let log: Log
    private let read: @Sendable () throws(SettingsError) -> Settings
    /// The settings that the worker was started with. No other lock is taken while it is held, so reloads follow one another.
    private let started: Mutex<Settings>

    init(_ worker: Worker, settings: Settings, log: Log, read: @escaping @Sendable () throws(SettingsError) -> Settings) {
        self.worker = worker
        self.log = log
        self.read = read
        started = Mutex(settings)
    }

    /// Reads all, and changes nothing when anything is wrong. Files of keys that are named first now are watched from then on.
    func run(following files: ChangingFiles) {
        started.withLock { started in
            do {
                let settings = try read()
                try started.checkKafka(with: settings, transactionalID: started.unusedTransactionalID)
                try worker.reload(try settings.workerConfiguration(version: Program.version))
                started.renewKafka(by: settings, log: log)
                files.follow(settings)
                worker.wake()
                log.warnOfRestart(for: settings.changesForRestart(since: started))
            } catch {
                log.refuseSettings(for: error)
            }
        }
    }
}

/// Carries signals to the worker, also those from before its start.
final class StopRequest: Sendable {
    private struct State {
        var waiting = 0
        var stop: (@Sendable () -> Void)?
    }

    /// Protects both. No other lock is taken while it is held.
    private let state = Mutex(State())

    func ask() {
        let stop = state.withLock { state in
            if state.stop == nil { state.waiting += 1 }
            return state.stop
        }
        stop?()
    }

    /// Sets the call that stops the worker. It is made at once for each signal that came before.
    func reaches(_ stop: @escaping @Sendable () -> Void) {
        let waiting = state.withLock { state in
            state.stop = stop
            return state.waiting
        }
        for _ in 0..<waiting { stop() }
    }
}

/// Calls a closure again and again.
final class RepeatingTimer {
    private let source: any DispatchSourceTimer

    init(every interval: DispatchTimeInterval, work: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .now() + interval, repeating: interval)
        source.setEventHandler(handler: work)
        source.resume()
    }

    func cancel() { source.cancel() }
}
