import Observability

/// A service that reads files which settings name.
public enum FileReader: String, Sendable, CaseIterable {
    case worker, gateway, callbacks, hub

    /// True for the key of a file that another service alone reads.
    func passesOver(_ key: String) -> Bool {
        [Self.gateway, .callbacks].contains { $0 != self && key.hasPrefix($0.rawValue + ".") }
    }
}

/// The files that settings name.
extension Settings {
    /// Finds the files that settings name and that no process can read. Those of secrets are read with the settings.
    ///
    /// - Parameter reader: The service whose files are looked for, or nil for all of them.
    /// - Returns: A problem for each.
    public func fileProblems(of reader: FileReader? = nil) -> [SettingProblem] {
        let named = values.definitions.compactMap { definition -> SettingProblem? in
            guard definition.namesFile, reader?.passesOver(definition.name) != true, let path = values.shown(definition)
            else { return nil }
            return Host.fault(ofFile: path).map { problem(definition.name, path: path, fault: $0) }
        }
        return named + kafka.properties.compactMap(problem)
    }

    /// The library finds authorities in a folder as well, and `probe` is its word for the system's.
    private func problem(_ property: KafkaProperty) -> SettingProblem? {
        guard property.name.hasSuffix(".location") else { return nil }
        let (path, isOfAuthorities) = (property.value.secret, property.name.hasSuffix(".ca.location"))
        guard !isOfAuthorities || path != "probe", let fault = Host.fault(ofFile: path, mayBeFolder: isOfAuthorities) else {
            return nil
        }
        return problem("kafka.properties", path: path, fault: fault, of: property.name + ": ")
    }

    private func problem(_ key: String, path: String, fault: String, of part: String = "") -> SettingProblem {
        SettingProblem(
            key, origin: values.origin(of: key), message: "\(part)the file \(SettingText.shown(path)) cannot be read: \(fault)")
    }
}
