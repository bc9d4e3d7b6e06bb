import Basics

/// The name of a notification hub, which is one path segment and needs no escaping in a URL.
///
/// Azure's naming rules for `Microsoft.NotificationHubs/namespaces/notificationHubs`: 1–260 letters, digits, periods,
/// hyphens and underscores, first and last a letter or a digit. So neither a separator nor `..` can reach a request line.
public struct HubName: Sendable, Hashable, CustomStringConvertible {
    /// The name as it was given. The service compares names without regard to case.
    public let text: String

    /// Checks a name.
    ///
    /// - Parameter text: The name.
    /// - Throws: `HubAuthError.hubName`.
    public init(_ text: String) throws(HubAuthError) {
        let bytes = text.utf8
        guard (1...260).contains(bytes.count), let first = bytes.first, let last = bytes.last,
            first.isLetterOrDigit, last.isLetterOrDigit,
            bytes.allSatisfy({ $0.isLetterOrDigit || ".-_".utf8.contains($0) })
        else { throw .hubName }
        self.text = text
    }

    /// The name.
    public var description: String { text }
}
