import Foundation

/// The system's clock, for hubs that are given no other.
public enum SystemClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    @Sendable public static func milliseconds() -> Int64 {
        Int64(Date.now.timeIntervalSince1970 * 1000)
    }
}
