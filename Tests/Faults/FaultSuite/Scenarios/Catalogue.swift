/// All scenarios, in the order in which they run; no two have one name, because a scenario's evidence is in a folder of its name.
enum Catalogue {
    /// Those that start brokers again are last: they take longest, and longer still beside builds.
    static let all: [Scenario] =
        workerScenarios + membershipScenarios + protocolScenarios + hubScenarios + lossScenarios + hubConnectionScenarios
        + severalHubsScenarios + holdScenarios + delayScenarios + orderScenarios + expansionScenarios + dedupeScenarios
        + replayScenarios
        + recordScenarios + memoryScenarios + machineScenarios + failpointScenarios + upgradeScenarios + sabotageScenarios
        + gatewayScenarios + tenantScenarios + brokerScenarios + gatewayBrokerScenarios + clusterScenarios

    /// This part of the scenarios that the command line asks for.
    ///
    /// - Throws: As `named`.
    static func selected(_ options: SuiteOptions) throws -> [Scenario] {
        try named(options).enumerated().filter { $0.offset % options.part.of == options.part.number - 1 }.map(\.element)
    }

    /// The scenarios that the command line names: by name, or by the part of their names before a hyphen.
    ///
    /// - Throws: `SuiteError.usage` for a name that there is not, `SuiteError.failed` for one that two scenarios have.
    private static func named(_ options: SuiteOptions) throws -> [Scenario] {
        var names: Set<String> = []
        for scenario in all where !names.insert(scenario.name).inserted {
            throw SuiteError.failed("two scenarios are called '\(scenario.name)'")
        }
        if options.names.isEmpty { return options.isFast ? all.filter(\.isFast) : all }
        return try options.names.flatMap { name in
            let exact = all.filter { $0.name == name }
            let found = exact.isEmpty ? all.filter { $0.name.hasPrefix("\(name)-") } : exact
            guard !found.isEmpty else { throw SuiteError.usage("there is no scenario '\(name)'; --list shows all of them") }
            return found
        }
    }
}
