import Basics

/// The signature of Standard Webhooks 1.0: HMAC with SHA-256 over the call's id, its moment and its body.
public enum WebhookSignature {
    /// Writes what is signed.
    ///
    /// - Parameters:
    ///   - id: The field `webhook-id`.
    ///   - timestamp: The field `webhook-timestamp`: seconds since 1970.
    ///   - body: The body as it is sent.
    /// - Returns: The three with dots between them.
    public static func content(id: String, timestamp: Int64, body: [UInt8]) -> [UInt8] {
        Array("\(id).\(timestamp).".utf8) + body
    }

    /// Writes the field `webhook-signature`.
    ///
    /// - Parameter macs: A code of the content by each secret.
    /// - Returns: `v1,` and the code in base64 for each, with spaces between them.
    public static func header(_ macs: [[UInt8]]) -> String {
        macs.map { "v1," + String(decoding: Base64.encode($0), as: UTF8.self) }.joined(separator: " ")
    }
}
