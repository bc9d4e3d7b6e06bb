/// What a bench found, as it is written with `-o json` and read with `--compare`.
struct BenchReport: Codable, Equatable {
    /// Under which conditions.
    struct Setting: Codable, Equatable {
        var broker: String
        var guarantee: String
        var requests: Int
        var partitions: Int
        var maxInFlight: Int
        /// Connections to the hub at once; 0 for as many as calls.
        var maxConnections: Int
        var commitIntervalMilliseconds: Double
        var logLevel: String
        var processorCount: Int
    }

    var version: String
    var stages: [StageFigure]
    var setting: Setting?
    var backlog: BacklogFigure?
    var latency: LatencyFigure?
    var allocations: AllocationFigure?
    var advice: [Advice] = []
}

struct StageFigure: Codable, Equatable {
    /// Whether the stage is a part of what a request takes.
    enum Part: String, Codable {
        /// Needed for every request.
        case request
        /// A part of another stage.
        case contained
        /// Not needed for every request.
        case rare
    }

    var name: String
    var part: Part
    var what: String
    /// Processor time, user and system.
    var microseconds: Double
    var systemMicroseconds: Double
    /// Swift's heap allocations; nil where they cannot be counted.
    var allocations: Double?

    /// Takes away what another stage needs that is contained in this one.
    mutating func subtract(_ other: StageFigure) {
        microseconds = max(0, microseconds - other.microseconds)
        systemMicroseconds = max(0, systemMicroseconds - other.systemMicroseconds)
        if let mine = allocations, let its = other.allocations { allocations = max(0, mine - its) }
    }
}

/// How a worker took a backlog; all but the first figure without its first fifth.
struct BacklogFigure: Codable, Equatable {
    var requests: Int
    var steadyRequests: Int
    var requestsPerSecond: Double
    /// Processor time of the worker's process for each request.
    var userMicroseconds: Double
    var systemMicroseconds: Double
    /// Cores in use, on average.
    var processorShare: Double
    var peakMemoryMebibytes: Double
    /// The share of all samples that found as many calls in flight as are allowed, or nil without samples.
    var inFlightFullShare: Double?
    /// The mean time of a hub call, or nil without calls.
    var hubMilliseconds: Double?
    var loggedBytesPerRequest: Double
    /// Requests that did not end in success.
    var failedRequests: Int
    /// From the worker's start to a fifth of the results.
    var secondsToStart: Double

    var processorMicroseconds: Double { userMicroseconds + systemMicroseconds }
}

/// Calls of `malloc` and its kin by a whole worker with all its threads, for each request.
struct AllocationFigure: Codable, Equatable {
    /// Those of the Swift runtime for our code.
    var own: Double
}

/// How long requests took that came evenly.
struct LatencyFigure: Codable, Equatable {
    var requestsPerSecond: Double
    var requests: Int
    /// The time until the hub call, or nil where no call came.
    var publishToHub: Spread?
    /// The time until the result, or nil where none came.
    var publishToResult: Spread?
}

/// How values are spread, in milliseconds.
struct Spread: Codable, Equatable {
    var p50: Double
    var p90: Double
    var p99: Double
    var max: Double

    /// The spread of values, or nil without any.
    init?(_ milliseconds: [Double]) {
        guard !milliseconds.isEmpty else { return nil }
        let values = Percentiles(milliseconds)
        (p50, p90, p99, max) = (values.value(0.5), values.value(0.9), values.value(0.99), values.value(1))
    }
}
