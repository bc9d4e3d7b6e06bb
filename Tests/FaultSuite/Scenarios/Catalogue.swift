/// All scenarios, in the order in which they run.
enum Catalogue {
    static let all: [Scenario] = workerScenarios + brokerScenarios

    /// The scenarios that the command line asks for.
    ///
    /// - Throws: `SuiteError.usage` for a name that there is not.
    static func selected(_ options: SuiteOptions) throws -> [Scenario] {
        if options.names.isEmpty { return options.isFast ? all.filter(\.isFast) : all }
        return try options.names.map { name in
            guard let scenario = all.first(where: { $0.name == name }) else {
                throw SuiteError.usage("there is no scenario '\(name)'; --list shows all of them")
            }
            return scenario
        }
    }
}
