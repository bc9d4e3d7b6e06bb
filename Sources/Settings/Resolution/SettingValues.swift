/// The value of every key after the sources were weighed.
struct SettingValues: Sendable {
    private let chosen: [String: SettingCandidate]
    /// The keys of the sections that the file names.
    let named: NamedSettings

    /// - Parameters:
    ///   - candidates: The values that the sources offer.
    ///   - named: The keys of the sections that the file names.
    ///   - hostName: The default of `worker.id`.
    init(_ candidates: [String: SettingCandidate], named: NamedSettings, hostName: String) {
        self.named = named
        let defaults = SettingsSchema.all.compactMap { definition in
            definition.defaultText.map { (definition.name, SettingCandidate(input: .text($0), origin: .builtIn)) }
        }
        let host = SettingCandidate(input: .text(hostName), origin: .builtIn)
        var chosen = Dictionary(uniqueKeysWithValues: defaults + [(SettingsSchema.workerID.definition.name, host)])
            .merging(candidates) { $1 }
        if case .text(let requests)? = chosen[SettingsSchema.requestsTopic.definition.name]?.input {
            for (definition, name) in SettingsSchema.derivedTopics(requests) where chosen[definition.name] == nil {
                chosen[definition.name] = SettingCandidate(input: .text(name), origin: .builtIn)
            }
        }
        self.chosen = chosen
    }

    /// The value of a key, or nil when there is none or it is not legal.
    subscript<Value>(key: SettingKey<Value>) -> Value? {
        guard let candidate = chosen[key.definition.name] else { return nil }
        return try? key.type.read(candidate.input)
    }

    /// The value of a key that has a default.
    ///
    /// - Parameter key: The key.
    /// - Returns: Its value.
    /// - Throws: `SettingsError` when the value is not legal.
    func value<Value>(_ key: SettingKey<Value>) throws(SettingsError) -> Value {
        if let value = self[key] { return value }
        throw SettingsError(problems: [problem(key.definition) ?? missing(key.definition)])
    }

    /// The source of a key's value.
    func origin(of definition: SettingDefinition) -> SettingOrigin {
        chosen[definition.name]?.origin ?? .builtIn
    }

    /// The text of a key as a person may see it, or nil when there is none.
    func shown(_ definition: SettingDefinition) -> String? {
        guard let candidate = chosen[definition.name] else { return nil }
        switch candidate.input {
        case _ where definition.name == SettingsSchema.properties.definition.name:
            return SettingRow.shown(properties: self[SettingsSchema.properties] ?? [])
        case _ where definition.isSecret: return "[redacted]"
        case .text(let text): return text
        case .list(let items): return items.joined(separator: ",")
        case .map(let pairs): return pairs.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        }
    }

    /// The faults of each value by itself, and then of some of them together.
    func problems() -> [SettingProblem] {
        definitions.compactMap(problem) + contradictions() + wrongNames()
    }

    /// Every key that there is.
    var definitions: [SettingDefinition] { SettingsSchema.all + named.definitions }

    /// Names of hubs that nothing has, or more than one thing.
    private func wrongNames() -> [SettingProblem] {
        var problems: [SettingProblem] = []
        var hubs: Set<String> = []
        if let name = self[SettingsSchema.hubName] { hubs.insert(name) }
        for hub in named.hubs where !hubs.insert(hub.name).inserted {
            problems.append(contradiction(SettingsSchema.hubName.definition, message: "is the name of another hub as well"))
        }
        var all = hubs
        for spread in named.spreads {
            let definition = spread.key.definition
            if !all.insert(spread.name).inserted {
                problems.append(
                    SettingProblem(definition.name, origin: origin(of: definition), message: "is the name of a hub as well"))
            }
            for member in self[spread.key] ?? [] where !hubs.contains(member) {
                problems.append(unknownHub(member, in: definition))
            }
        }
        if let name = self[SettingsSchema.defaultHub], !all.contains(name) {
            problems.append(unknownHub(name, in: SettingsSchema.defaultHub.definition))
        }
        for item in self[SettingsSchema.tenantHubs] ?? [] where !all.contains(item.hub) {
            problems.append(unknownHub(item.hub, in: SettingsSchema.tenantHubs.definition))
        }
        return problems
    }

    private func unknownHub(_ name: String, in definition: SettingDefinition) -> SettingProblem {
        SettingProblem(definition.name, origin: origin(of: definition), message: "there is no hub \(SettingText.shown(name))")
    }

    private func problem(_ definition: SettingDefinition) -> SettingProblem? {
        guard let candidate = chosen[definition.name] else { return nil }
        do {
            try definition.check(candidate.input)
            return nil
        } catch {
            let subject = definition.isSecret ? "the value" : candidate.input.shown
            return SettingProblem(
                definition.name, origin: candidate.origin, message: "\(subject) \(error.message)", expected: definition.allowed)
        }
    }

    private func missing(_ definition: SettingDefinition) -> SettingProblem {
        SettingProblem(definition.name, origin: .builtIn, message: "there is no value", expected: definition.allowed)
    }

    private func contradictions() -> [SettingProblem] {
        var problems: [SettingProblem] = []
        var users: [String: String] = [:]
        for key in SettingsSchema.topics {
            guard let topic = self[key] else { continue }
            if let other = users.updateValue(key.definition.name, forKey: topic) {
                problems.append(contradiction(key.definition, message: "is the same topic as \(other)"))
            }
        }
        if let base = self[SettingsSchema.retryBase], let cap = self[SettingsSchema.retryCap], base > cap {
            problems.append(contradiction(SettingsSchema.retryBase.definition, message: "is longer than retry.cap"))
        }
        if let connect = self[SettingsSchema.connectTimeout], let whole = self[SettingsSchema.requestTimeout], connect > whole {
            problems.append(
                contradiction(SettingsSchema.connectTimeout.definition, message: "is longer than hub.request_timeout"))
        }
        return problems
    }

    private func contradiction(_ definition: SettingDefinition, message: String) -> SettingProblem {
        SettingProblem(
            definition.name, origin: origin(of: definition), message: "\(SettingText.shown(shown(definition) ?? "")) \(message)")
    }
}
