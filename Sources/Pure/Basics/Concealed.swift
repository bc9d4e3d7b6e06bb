/// A value with a secret, of which nothing shows more than its description, whatever prints it.
public protocol Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Concealed {
    /// As `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that a dump shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
