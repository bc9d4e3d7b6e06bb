import Delivery

/// Faults that single values do not show.
extension Settings {
    /// Values that contradict each other.
    func contradictions() -> [SettingProblem] {
        var problems: [SettingProblem] = []
        var users = [kafka.topics.status: "that of workers' reports", kafka.topics.history: "that of gateways' figures"]
        for topic in kafka.topics.following { users[topic] = "one that is named after kafka.topics.requests" }
        for definition in values.definitions where definition.name.hasPrefix("kafka.topics.") {
            guard definition.name != "kafka.topics.prefix", values.isLegal(definition.name), let topic = values.shown(definition)
            else { continue }
            if let other = users.updateValue(definition.name, forKey: topic) {
                problems.append(contradiction(definition.name, message: "is the same topic as \(other)"))
            }
        }
        func order(_ shorter: String, before longer: String, holds: Bool) {
            guard !holds, values.isLegal(shorter), values.isLegal(longer) else { return }
            problems.append(contradiction(shorter, message: "is longer than \(longer)"))
        }
        order("retry.base", before: "retry.cap", holds: retry.base <= retry.cap)
        order("hub.connect_timeout", before: "hub.request_timeout", holds: hub.connectTimeout <= hub.requestTimeout)
        return problems
    }

    /// Names of hubs that nothing has, or more than one thing.
    func wrongNames() -> [SettingProblem] {
        var problems: [SettingProblem] = []
        var hubs = Set([hub.name].compactMap { $0 })
        for hub in namedHubs where !hubs.insert(hub.key ?? "").inserted {
            problems.append(contradiction("hub.name", message: "is the name of another hub as well"))
        }
        var all = hubs
        for spread in spreads {
            let key = "spreads.\(spread.name)"
            if !all.insert(spread.name).inserted {
                problems.append(SettingProblem(key, origin: values.origin(of: key), message: "is the name of a hub as well"))
            }
            problems += spread.hubs.filter { !hubs.contains($0) }.map { unknownHub($0, in: key) }
        }
        if values.isLegal("default_hub"), let name = defaultHub, !all.contains(name) {
            problems.append(unknownHub(name, in: "default_hub"))
        }
        return problems + tenantHubs.filter { !all.contains($0.hub) }.map { unknownHub($0.hub, in: "tenants") }
    }

    private func unknownHub(_ name: String, in key: String) -> SettingProblem {
        SettingProblem(key, origin: values.origin(of: key), message: "there is no hub \(SettingText.shown(name))")
    }

    private func contradiction(_ key: String, message: String) -> SettingProblem {
        let text = values.definitions.first { $0.name == key }.flatMap(values.shown) ?? ""
        return SettingProblem(key, origin: values.origin(of: key), message: "\(SettingText.shown(text)) \(message)")
    }
}
