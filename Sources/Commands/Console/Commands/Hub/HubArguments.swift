import EventLoop
import HTTPServing
import HubServer
package import HubService
package import Settings

/// The arguments of a hub of one's own.
package enum HubArguments {
    static let stateDefault = "hub.db"

    /// The flag of the key of handles.
    package static let handleKeyFlag = Flag(
        "handle-key-file", "FILE", "The key that encrypts handles of devices: 32 bytes as base64",
        variable: SettingsSchema.handleKeyVariable)

    /// The flags of the service.
    package static let groups = [
        FlagGroup(
            "Serving",
            Flag("listen", "HOST:PORT", "Where to listen; port 0 takes a free one", default: HubsConfiguration().listen),
            Flag("hubs-file", "FILE", "Serve the hubs of this file; read again within 2 s of a change"),
            Flag("cert", "FILE", "Serve HTTPS with this certificate chain, as PEM; needs --key"),
            Flag("key", "FILE", "The certificate's private key, as PEM"),
            Flag("threads", "N", "Threads that serve", default: "\(HubsConfiguration().threadCount)"),
            Flag("probes", "HOST:PORT", "Where health and metrics are served; nowhere by default")),
        FlagGroup(
            "Hub, without --hubs-file",
            [Flag("state", "FILE", "The hub's file, which is made if need be", default: stateDefault)]
                + FlagGroup.settings([("hub-name", "NAME", "hub.name")]) + [
                    Flag(
                        "policy", "NAME=KEY[:RIGHTS]",
                        "One more key, with Listen,Send,Manage or some of them, beside the hub's own",
                        isRepeatable: true),
                    Flag(
                        "tier", "WORD", "What the hub allows", default: HubTier.standard.rawValue,
                        choices: HubTier.allCases.map(\.rawValue)),
                    Flag("check-host", nil, "A token must be made for the host that is asked"), handleKeyFlag,
                    Flag("record", "FILE", "Append each recorded push as a line of JSON"),
                ]),
        FlagGroup(
            "Reporting",
            FlagGroup.settings([("log-level", "LEVEL", "log.level"), ("log-format", "FORMAT", "log.format")])
                + [FlagGroup.configFile]),
    ]
    /// The flags that a file of hubs has in their place.
    private static let inFile = [
        "listen", "cert", "key", "threads", "probes", "state", "hub-name", "policy", "tier", "check-host", "handle-key-file",
        "record",
    ]

    /// The hubs of a file.
    static func hubs(inFile path: String) throws(CommandFailure) -> HubsConfiguration {
        do throws(HubsFault) { return try HubsFile.read(path) } catch {
            let lines = error.items.map { "\(path): \(Sanitised.line($0.description, atMost: 1024))" }
            throw CommandFailure(
                .configuration, lines.joined(separator: "\n"), hint: "`pushfan help --page hub` shows such a file")
        }
    }

    /// The configuration of the service.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - settings: Its settings.
    /// - Returns: The hubs of the file, or the one that flags and settings describe.
    /// - Throws: What is wrong with flags, settings or the file, without any key.
    package static func configuration(
        of invocation: Invocation, with settings: Settings
    ) throws(CommandFailure) -> HubsConfiguration {
        let arguments = invocation.arguments
        if let file = arguments.value("hubs-file") {
            if let flag = arguments.firstGiven(of: inFile) { throw .usage("--\(flag) is not for --hubs-file, which has it") }
            return try hubs(inFile: file)
        }
        let name = settings.hub.name ?? "demo"
        guard !HubsConfiguration.isReserved(name) else {
            throw CommandFailure(.configuration, "hub.name: \(name) is a path beside the hubs, so no hub has that name")
        }
        var hub = HubsConfiguration.Hub(name: name, state: arguments.value("state") ?? stateDefault)
        hub.policies = try invocation.hubPolicies(settings)
        hub.makesPolicy = settings.hub.connectionString == nil
        hub.tier = arguments.value("tier").flatMap(HubTier.init) ?? hub.tier
        hub.checksHost = arguments.has("check-host")
        hub.handleKeyFile = invocation.handleKeyFile
        hub.recordFile = arguments.value("record")
        var configuration = HubsConfiguration(hubs: [hub])
        configuration.listen = try address("listen", in: arguments) ?? configuration.listen
        configuration.probes = try address("probes", in: arguments)
        configuration.tls = try tls(arguments)
        configuration.threadCount = try arguments.integer("threads", in: 1...64) ?? configuration.threadCount
        configuration.opensDevices = true
        configuration.files = settings.hubKeyFiles
        if let tls = configuration.tls { configuration.files += [tls.certificateFile, tls.keyFile] }
        return configuration
    }

    private static func address(_ flag: String, in arguments: Arguments) throws(CommandFailure) -> String? {
        guard let text = arguments.value(flag) else { return nil }
        guard HTTPServerConfiguration.host(of: text) != nil else {
            throw .usage("--\(flag): expected HOST:PORT, with brackets around an IPv6 address")
        }
        return text
    }

    private static func tls(_ arguments: Arguments) throws(CommandFailure) -> HubsConfiguration.TLS? {
        switch (arguments.value("cert"), arguments.value("key")) {
        case (let certificate?, let key?): return HubsConfiguration.TLS(certificateFile: certificate, keyFile: key)
        case (nil, nil): return nil
        default: throw .usage("--cert and --key belong together")
        }
    }
}

extension Invocation {
    /// The file of the key of handles.
    var handleKeyFile: String? {
        arguments.value("handle-key-file")
            ?? surroundings.environment[SettingsSchema.handleKeyVariable].flatMap { $0.isEmpty ? nil : $0 }
    }
}
