/// Whom a tagged hub call addresses.
///
/// The hub reads a call without a tag header as a call to every device. Here everyone has to be asked for by name: an
/// expression cannot be empty, so nothing that is missing or blank turns into `.broadcast`.
public enum TagTarget: Sendable, Hashable {
    /// The devices that fulfil an expression.
    case tags(TagExpression)
    /// Every device.
    case broadcast
}
