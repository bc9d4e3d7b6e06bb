/// Reads settings, each by the one line that defines its key, and collects the definitions and the faults on the way.
struct SettingReader: Sendable {
    /// The names of the sections that the file names.
    let named: NamedSettings
    let hostName: String
    /// Every key that was read, in that order.
    private(set) var definitions: [SettingDefinition] = []
    /// The faults of single values.
    private(set) var problems: [SettingProblem] = []
    private var chosen: [String: SettingCandidate]

    /// - Parameters:
    ///   - candidates: The values that the sources offer.
    ///   - named: The names of the sections that the file names.
    ///   - hostName: The default of `worker.id`.
    init(_ candidates: [String: SettingCandidate], named: NamedSettings, hostName: String) {
        chosen = candidates
        self.named = named
        self.hostName = hostName
    }

    /// Reads a key that has a default (`text`, as it would be written, or `base` in its place). A value with a fault, which is
    /// now among `problems`, counts as not set. Documents do not show a default that `dependsOnPlace`. It throws for a default that is not
    /// legal.
    mutating func callAsFunction<Value>(
        _ name: String, as type: SettingType<Value>, default text: String, like base: Value? = nil, unit: String? = nil,
        dependsOnPlace: Bool = false, summary: String
    ) throws(SettingsError) -> Value {
        if base == nil, chosen[name] == nil { chosen[name] = SettingCandidate(input: .text(text), origin: .builtIn) }
        let value = read(name, as: type, default: base == nil && !dependsOnPlace ? text : nil, unit: unit, summary: summary)
        if let value = value ?? base ?? (try? type.read(.text(text))) { return value }
        throw SettingsError(problems: problems)
    }

    /// Reads a key that may have no value. Nil for none, or for one with a fault, which is now among `problems`.
    mutating func optional<Value>(_ name: String, as type: SettingType<Value>, summary: String) -> Value? {
        read(name, as: type, default: nil, unit: nil, summary: summary)
    }

    private mutating func read<Value>(
        _ name: String, as type: SettingType<Value>, default text: String?, unit: String?, summary: String
    ) -> Value? {
        let definition = SettingDefinition(
            name: name, defaultText: text, summary: summary, unit: unit, allowed: type.allowed, choices: type.choices,
            isSecret: type.isSecret, acceptsList: type.shape == .list, acceptsMap: type.shape == .map,
            namesFile: type.namesFile)
        definitions.append(definition)
        guard let candidate = chosen[name] else { return nil }
        do throws(SettingFault) {
            return try type.read(candidate.input)
        } catch {
            let subject = definition.isSecret ? "the value" : candidate.input.shown
            problems.append(
                SettingProblem(
                    name, origin: candidate.origin, message: "\(subject) \(error.message)", expected: definition.allowed))
            return nil
        }
    }

    /// True if a key has a value, be it the default, and it is legal.
    func isLegal(_ name: String) -> Bool { chosen[name] != nil && !problems.contains { $0.key == name } }

    /// The source of a key's value.
    func origin(of name: String) -> SettingOrigin { chosen[name]?.origin ?? .builtIn }

    /// The text of a key as a person may see it, or nil when there is none.
    func shown(_ definition: SettingDefinition) -> String? {
        guard let input = chosen[definition.name]?.input else { return nil }
        if definition.name == "kafka.properties" {
            return SettingRow.shown(properties: (try? SettingType.properties.read(input)) ?? [])
        }
        guard !definition.isSecret else { return "[redacted]" }
        switch input {
        case .text(let text): return text
        case .list(let items): return items.joined(separator: ",")
        case .map(let pairs): return pairs.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        }
    }
}
