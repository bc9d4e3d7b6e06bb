import Glibc
import HTTPServing
import HubAuth
import HubEmulator
import HubServer
import JobSupport
import Observability
import Settings

extension Command {
    static let emulator = Command(
        "emulator", .operators, "Serve a notification hub in memory, for tests and demonstrations",
        examples: [
            "pushfan emulator", "pushfan emulator --listen 127.0.0.1:0 --tls --devices devices.json",
            "pushfan emulator --fault status=429,retry-after=2,count=3 --policy reader=c2VjcmV0:Listen",
        ],
        groups: [
            FlagGroup(
                "Serving",
                Flag("listen", "HOST:PORT", "Where to listen; port 0 takes a free one", default: "127.0.0.1:8800"),
                Flag("tls", nil, "Serve HTTPS, with a certificate made at the start unless --cert names one"),
                Flag("cert", "FILE", "The certificate chain as PEM; needs --key"),
                Flag("key", "FILE", "The certificate's private key as PEM"),
                Flag("threads", "N", "Threads that serve", default: "1")),
            FlagGroup(
                "Behaviour",
                FlagGroup.settings([("hub-name", "NAME", "hub.name")]) + [
                    Flag(
                        "policy", "NAME=KEY[:RIGHTS]", "One more key, with Listen,Send,Manage or some of them", isRepeatable: true
                    ),
                    Flag("tier", "WORD", "What the hub's price allows", default: "standard", choices: tierNames),
                    Flag("devices", "FILE", "A JSON array of installations to begin with"),
                    Flag("fault", "TEXT", "A fault to inject, such as status=503,every=10 or reset=after", isRepeatable: true),
                    Flag(
                        "telemetry", "TEXT",
                        "Telemetry of notifications, such as hidden=10s,state=Abandoned, or refuse=ExpiredChannel",
                        isRepeatable: true),
                    Flag(
                        "record", "WORD", "How much of each call GET /calls shows", default: "full",
                        choices: ["full", "light", "off"]),
                    Flag("journal", "FILE", "Append every call as a line of JSON, whatever --record says"),
                    Flag("seed", "N", "Begins the ids and random choices; the same seed gives the same ones"),
                    Flag("check-host", nil, "A token must be made for the host that is asked"),
                    FlagGroup.configFile,
                ]),
        ],
        readOn: "pushfan help --page emulator, pushfan help worker", run: EmulatorCommand.run)

    private static let tierNames = HubTier.allCases.map(\.rawValue)
}

enum EmulatorCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let configuration = try configuration(invocation)
        Interruption.catchSignals()
        let hub: EmulatedHub
        do throws(HubEmulatorError) {
            hub = try EmulatedHub(configuration, complain: { [streams = invocation.streams] in streams.note($0) })
            try hub.start()
        } catch {
            throw failure(error)
        }
        defer {
            hub.stop()
            let missing = hub.unjournaledCallCount
            if missing > 0 { invocation.streams.note("\(missing) calls are missing in the journal") }
        }
        // The one place that prints a key: that of an emulator, which its user needs to have.
        try invocation.streams.out(hub.connectionString)
        try invocation.streams.flush()
        let address = hub.address?.description ?? configuration.listen
        let scheme = configuration.tls == .off ? "http" : "https"
        invocation.streams.note(
            "hub '\(configuration.hubName)' at \(scheme)://\(address)/; the line above is its connection string")
        while !Interruption.isRequested {
            // A signal ends the pause. A signal just before the pause is noticed after it.
            Pause.sleep(.milliseconds(200))
        }
        invocation.streams.note("stopped; \(hub.rungCount) notifications rang")
        return Interruption.exitCode
    }

    /// The configuration from flags and settings.
    static func configuration(_ invocation: Invocation) throws(CommandFailure) -> HubEmulatorConfiguration {
        let arguments = invocation.arguments
        let settings = try invocation.settings()
        var configuration = HubEmulatorConfiguration()
        configuration.listen = arguments.value("listen") ?? configuration.listen
        guard HTTPServerConfiguration.host(of: configuration.listen) != nil else {
            throw .usage("--listen: expected HOST:PORT, with brackets around an IPv6 address")
        }
        configuration.hubName = settings.hub.name ?? configuration.hubName
        configuration.tls = try tls(arguments)
        configuration.threadCount = try arguments.integer("threads", in: 1...64) ?? 1
        configuration.tier = arguments.value("tier").flatMap(HubTier.init) ?? configuration.tier
        configuration.recording =
            arguments.value("record").flatMap(HubEmulatorConfiguration.Recording.init) ?? configuration.recording
        configuration.devicesFile = arguments.value("devices")
        configuration.journalFile = arguments.value("journal")
        configuration.checksHost = arguments.has("check-host")
        configuration.seed = try arguments.integer("seed", in: 0...Int.max).map(UInt64.init)
        configuration.policies = try invocation.hubPolicies(settings, else: HubEmulatorConfiguration.defaultPolicy)
        configuration.faults = try lines("fault", arguments) { try Fault(parsing: $0) }
        configuration.telemetry = try lines("telemetry", arguments) { try TelemetryScript(parsing: $0) }
        return configuration
    }

    /// The lines of a script that a flag gives. A usage failure has the fault of one.
    private static func lines<Line>(
        _ flag: String, _ arguments: Arguments, reading read: (String) throws -> Line
    ) throws(CommandFailure) -> [Line] {
        var lines: [Line] = []
        for text in arguments.values(flag) {
            do { lines.append(try read(text)) } catch { throw .usage("--\(flag) \(Sanitised.line(text)): \(error)") }
        }
        return lines
    }

    private static func tls(_ arguments: Arguments) throws(CommandFailure) -> HubEmulatorConfiguration.TLS {
        switch (arguments.value("cert"), arguments.value("key")) {
        case (.some(let certificate), .some(let key)): return .files(certificate: certificate, key: key)
        case (nil, nil): return arguments.has("tls") ? .selfSigned : .off
        default: throw .usage("--cert and --key belong together")
        }
    }

    private static func failure(_ error: HubEmulatorError) -> CommandFailure {
        switch error {
        case .invalidConfiguration, .invalidDevices: CommandFailure(.configuration, error.description)
        case .unreadableFile, .unwritableFile: .usage(error.description)
        case .noCertificate, .cannotServe: CommandFailure(.failed, error.description)
        case .cannotListen:
            CommandFailure(.failed, error.description, hint: "give another address with --listen; port 0 takes a free one")
        }
    }
}
