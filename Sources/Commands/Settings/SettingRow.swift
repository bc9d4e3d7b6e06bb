import Observability

/// One key, its value and its source, for a person.
public struct SettingRow: Sendable, Equatable {
    /// The dotted name.
    public let key: String
    /// The value. Secrets are shown as `[redacted]`, no value as the empty text.
    public let value: String
    /// The source of the value.
    public let origin: SettingOrigin

    /// Words in names of librdkafka's properties whose values may be secrets (CONFIGURATION.md of librdkafka).
    private static let secretWords = ["password", "secret", "pem", "token", "config", "passphrase", "credential", "jaas"]

    static func shown(properties: [KafkaProperty]) -> String {
        properties.map { property in
            let isSecret = secretWords.contains { property.name.lowercased().contains($0) }
            return property.name + "=" + (isSecret ? property.value.description : property.value.secret)
        }.joined(separator: ",")
    }
}
