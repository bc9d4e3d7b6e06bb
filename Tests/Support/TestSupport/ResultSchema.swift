import PushModel

/// The form of a result (page Results): the published schema, and what this version keeps to beyond it.
public enum ResultSchema {
    /// Lists what is forbidden in `bytes`; a member that the schema does not name is, too.
    public static func violations(of bytes: [UInt8]) -> [String] {
        SchemaCheck.violations(of: bytes, by: MessageSchema.result.body, isClosed: true)
    }
}
