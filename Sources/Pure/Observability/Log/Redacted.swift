public import Basics

/// Holds a secret that no print, interpolation, dump or mirror can show.
///
/// The value is reached by name only, so every place that shows a secret can be found by searching for `secret`.
public struct Redacted<Secret> {
    /// The secret itself.
    public let secret: Secret

    /// Wraps a secret.
    public init(_ secret: Secret) {
        self.secret = secret
    }
}

extension Redacted: Sendable where Secret: Sendable {}
extension Redacted: Equatable where Secret: Equatable {}

extension Redacted: Concealed {
    /// `[redacted]`, whatever the secret is.
    public var description: String { "[redacted]" }
}
