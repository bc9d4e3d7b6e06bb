public import Kafka
public import Settings

/// The surroundings of a command: streams, environment, version and the other commands.
public struct Surroundings: Sendable {
    /// The streams of data and messages.
    public let streams: Streams
    /// The environment's variables.
    public let environment: [String: String]
    /// Milliseconds since 1970.
    public let now: @Sendable () -> Int64
    /// A clock that only goes forward.
    public var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Surroundings of the given parts.
    public init(streams: Streams, environment: [String: String], now: @escaping @Sendable () -> Int64) {
        self.streams = streams
        self.environment = environment
        self.now = now
    }
}

/// One run of one command.
public struct Invocation: Sendable {
    /// The program that runs it.
    public let program: Program
    /// The command.
    public let command: Command
    /// Its flags and operands.
    public let arguments: Arguments
    /// The surroundings of the command.
    public let surroundings: Surroundings
    /// Watches whether a broker answers, and reports on standard error when none does.
    public var brokerWatch: BrokerWatch?

    /// The streams of data and messages.
    public var streams: Streams { surroundings.streams }

    /// The settings, from flags, environment and file.
    ///
    /// - Parameter configPath: A file that takes the place of the one that flag or variable name.
    /// - Returns: Settings without a fault.
    /// - Throws: `configuration` with every problem, a line each.
    public func settings(configPath: String? = nil) throws(CommandFailure) -> Settings {
        do {
            var settings = try Settings.load(
                flags: arguments.settings, configPath: configPath ?? arguments.configPath,
                environment: surroundings.environment)
            settings.brokerWatch = brokerWatch
            return settings
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Reads the same settings again, when their file or the files of secrets may have changed.
    public func settingsReader() -> @Sendable () throws(SettingsError) -> Settings {
        let (flags, path, environment) = (arguments.settings, arguments.configPath, surroundings.environment)
        return { () throws(SettingsError) -> Settings in
            try Settings.load(flags: flags, configPath: path, environment: environment)
        }
    }

    /// The meaning of a failed call to Kafka for this command.
    public func failure(_ error: KafkaError, _ settings: KafkaSettings, to action: String) -> CommandFailure {
        CommandFailure(error, brokers: settings.bootstrapServers.joined(separator: ","), action: action)
    }
}

extension CommandFailure {
    /// Every problem of the settings, a line each.
    init(_ error: SettingsError) {
        self.init(
            .configuration, error.problems.map(\.description).joined(separator: "\n"),
            hint: "`pushfan config check` checks settings, `pushfan help settings` lists them")
    }
}
