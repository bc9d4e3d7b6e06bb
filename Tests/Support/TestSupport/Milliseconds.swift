import Synchronization

/// Milliseconds that a test moves.
public final class Milliseconds: Sendable {
    private let count: Mutex<Int64>

    /// So many.
    public init(_ count: Int64) { self.count = Mutex(count) }

    /// The milliseconds now.
    public var value: Int64 { count.withLock { $0 } }

    /// Moves on.
    public func add(_ more: Int64) { count.withLock { $0 += more } }
}
