/// A loop's own tokens of its poller. Connections to the hubs use those below.
enum LoopToken {
    /// The first of those for connections to where error details are.
    static let details: UInt64 = 1 << 61
    static let wakeUp: UInt64 = 1 << 62
    static let kafka: UInt64 = 1 << 62 + 1
    static let reader: UInt64 = 1 << 62 + 2
    static let requests: UInt64 = 1 << 62 + 3
}
