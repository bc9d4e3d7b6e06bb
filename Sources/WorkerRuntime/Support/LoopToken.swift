import Delivery

/// A loop's own tokens of its poller. Connections to the hubs use those below.
enum LoopToken {
    /// The first of those for connections to where error details are.
    static let details: UInt64 = 1 << 61
    static let wakeUp: UInt64 = 1 << 62
    static let kafka: UInt64 = 1 << 62 + 1
    static let delayed: UInt64 = 1 << 62 + 2
    static let firstLane: UInt64 = 1 << 62 + 3
    static let lastLane: UInt64 = 1 << 62 + 6

    static func of(_ lane: Lane) -> UInt64 { firstLane + UInt64(lane.rawValue) }
}
