import Synchronization

/// A value that threads share.
public final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    /// One with this value.
    public init(_ value: Value) { self.value = Mutex(value) }

    /// Reads or changes the value.
    public func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value -> Result in body(&value) }
    }
}
