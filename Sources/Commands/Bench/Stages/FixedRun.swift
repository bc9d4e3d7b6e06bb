/// The same requests the same way, as often as told: what is counted here depends on the program alone, not on the machine's load.
struct FixedRun: Codable {
    var requests: Int
    /// Our own heap allocations for each request; nil where they cannot be counted.
    var allocationsPerRequest: Double?

    /// Takes `count` requests the whole way from the record's bytes to the result's, with the exchange with a hub on a loopback
    /// connection. Before that come as many as everything needs to reach its usual size.
    static func run(_ count: Int) throws -> FixedRun {
        let path = try RequestPath()
        let exchange = try ExchangeRun(call: path.callBytes)
        defer { exchange.close() }
        func pass() throws {
            try path.pass()
            try exchange.pass()
        }
        for _ in 0..<256 { try pass() }
        let allocations = try AllocationCounter.count { for _ in 0..<count { try pass() } }
        return FixedRun(requests: count, allocationsPerRequest: allocations.map { Double($0) / Double(count) })
    }
}
