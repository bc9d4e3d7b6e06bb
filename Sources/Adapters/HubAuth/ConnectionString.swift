public import Basics

/// A notification hub's connection string: where the namespace is and which key signs.
///
/// `Endpoint=sb://{namespace}.servicebus.windows.net/;SharedAccessKeyName={policy};SharedAccessKey={key}`. The official
/// SDKs disagree on nearly every edge; this reader takes what all agree on, ignores what it does not know, and refuses
/// what two of them would read differently.
public struct ConnectionString: Sendable {
    /// The address at which the namespace answers.
    public let endpoint: HubEndpoint
    /// The policy's name and key.
    public let credential: SASCredential
    /// Plain sentences on fields that were ignored, worth one line in a log, and free of secrets.
    public let warnings: [String]

    /// Reads a connection string.
    ///
    /// Fields are separated by `;`, empty ones skipped; a field's name ends at its first `=` and is compared without
    /// regard to case; white space around names and values is dropped.
    ///
    /// - Parameter text: The whole text, as the portal shows it.
    /// - Throws: `HubAuthError`, which names the field and never its value.
    public init(parsing text: String) throws(HubAuthError) {
        var values: [HubAuthError.Field: ArraySlice<UInt8>] = [:]
        var warnings: [String] = []
        let parts = Array(text.utf8).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() where !part.trimmed.isEmpty {
            guard let (name, value) = part.split(atFirst: UInt8(ascii: "=")) else { throw .noEqualsSign(part: index + 1) }
            let folded = name.trimmed.lowercased
            guard let field = HubAuthError.Field.allCases.first(where: { $0.rawValue.utf8.lowercased == folded }) else {
                warnings.append(Self.warning(unknown: folded, part: index + 1))
                continue
            }
            guard values.updateValue(value.trimmed, forKey: field) == nil else { throw .duplicate(field) }
        }
        endpoint = try HubEndpoint(parsing: Self.value(of: .endpoint, in: values, limit: 2048))
        credential = SASCredential(
            policy: try Self.value(of: .keyName, in: values, limit: 256),
            key: SecretKey(try Self.value(of: .key, in: values, limit: 256)))
        self.warnings = warnings
    }

    /// One field's text. The limits of 256 are the .NET SDK's.
    private static func value(
        of field: HubAuthError.Field, in values: [HubAuthError.Field: ArraySlice<UInt8>], limit: Int
    ) throws(HubAuthError) -> String {
        guard let value = values[field] else { throw .missing(field) }
        guard !value.isEmpty else { throw .empty(field) }
        guard !value.contains(where: \.isControl) else { throw .controlCharacter(field) }
        guard value.count <= limit else { throw .tooLong(field, limit: limit) }
        return value.text
    }

    /// Names an ignored field only when it is one of Service Bus's own: anything else may be the rest of a key that
    /// held a semicolon.
    private static func warning(unknown folded: [UInt8], part: Int) -> String {
        let name = familiar.first { $0.utf8.lowercased == folded }
        return name.map { "\($0) in the connection string is ignored" }
            ?? "part \(part) of the connection string has an unknown name and is ignored"
    }

    private static let familiar = [
        "EntityPath", "TransportType", "OperationTimeout", "SharedAccessSignature", "SharedSecretIssuer", "SharedSecretValue",
        "StsEndpoint", "RuntimePort", "ManagementPort", "UseDevelopmentEmulator", "Authentication",
    ]
}

extension ConnectionString: Concealed {
    /// The policy's name, never the key.
    public var description: String { "ConnectionString(policy: \(credential.policy))" }
}
