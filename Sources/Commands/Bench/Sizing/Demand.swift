/// The load that a fleet is sized for. `Sizing` takes any values, and `SizeArguments` lets only sensible ones in.
struct Demand: Codable, Equatable {
    /// Requests a second on average.
    var requestsPerSecond: Double
    /// Requests a second at the peak.
    var peakPerSecond: Double
    /// The mean time of a hub call, in milliseconds.
    var hubMilliseconds = 100.0
    /// Users whom a large request names, or 0 for no large requests.
    var users = 0.0
    /// Broadcasts to all users in a day.
    var largeRequestsPerDay = 1.0
    /// Platforms of a request, each of which is a hub call.
    var platforms = 1
    /// Calls that are made again, as a share of all.
    var retries = 0.05
    /// Bytes of a request's record.
    var payloadBytes = 1024.0
    /// Days for which requests and results are kept, or nil for as long as `topics create` says.
    var retentionDays: Double?
    /// Brokers that keep each partition.
    var replication = 3
    /// The share of calls in flight and of a processor that is in use at the peak.
    var utilisation = 0.6
    /// Processors of a worker, each with a loop.
    var cores = 1

    /// The peak as a multiple of the average, unless told.
    static let usualPeak = 3.0
}

/// The measured cost of a call.
struct CallCost: Codable, Equatable {
    /// Processor time of a call with its request, in all threads of a worker, in microseconds.
    var microseconds: Double
    /// The place, time and machine of the measurement.
    var origin: String

    /// The recorded cost of `Tests/Benchmarks/peer`: the upper end of 10 to 12 µs.
    static let recorded = CallCost(
        microseconds: 12,
        origin:
            "recorded on 2026-11-26 on two x86_64 processors, exactly once, a hub that answers at once. TLS adds about half"
    )
}
