import Basics
import Synchronization

/// Sorts durations into fixed buckets.
///
/// An observation is a search in a short sorted array and two relaxed atomic additions. It allocates nothing and is safe from
/// every thread. A reader that runs beside observers may see a sum that is one observation ahead of the counts, never a count
/// that contradicts its buckets: the total is added up from the buckets that were read.
public final class Histogram: Instrument {
    /// The upper bounds of an HTTP client's durations, 5 ms to 10 s (OpenTelemetry semantic conventions,
    /// `http.client.request.duration`).
    public static let requestBounds: [Duration] = [
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(75), .milliseconds(100),
        .milliseconds(250), .milliseconds(500), .milliseconds(750), .seconds(1), .milliseconds(2500), .seconds(5),
        .milliseconds(7500), .seconds(10),
    ]

    /// `requestBounds` and then 30 s, 1 min, 5 min, 30 min. A notification hub gives up after the last.
    public static let journeyBounds: [Duration] = requestBounds + [.seconds(30), .seconds(60), .seconds(300), .seconds(1800)]

    private let bounds: [Int64]
    private let buckets: [Counter]
    private let sum = SecondsCounter()

    /// Makes an empty histogram with inclusive upper bounds, sorted here, without repeats. One more bucket holds the durations
    /// above.
    public init(bounds: [Duration]) {
        let sorted = Set(bounds.map(\.wholeNanoseconds)).sorted()
        self.bounds = sorted
        self.buckets = (0...sorted.count).map { _ in Counter() }
    }

    /// Counts one duration, given in nanoseconds. A negative one (the clock was set back) counts as zero.
    public func observe(nanoseconds: Int64) {
        buckets[bucket(of: nanoseconds)].increment()
        sum.add(nanoseconds: nanoseconds)
    }

    /// Counts one duration.
    public func observe(_ duration: Duration) { observe(nanoseconds: duration.wholeNanoseconds) }

    /// The number of observations so far.
    public var count: UInt64 { buckets.reduce(0) { $0 &+ $1.value } }

    private func bucket(of nanoseconds: Int64) -> Int {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low + high) / 2
            if nanoseconds <= bounds[middle] { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The word `histogram` of a `# TYPE` line.
    public static var typeName: String { "histogram" }

    /// Appends cumulative buckets, the sum in seconds and the count.
    public func write(to writer: inout ExpositionWriter, series: SeriesName) {
        var cumulative: UInt64 = 0
        for (index, bucket) in buckets.enumerated() {
            cumulative &+= bucket.value
            let bound = index < bounds.count ? ExpositionWriter.seconds(UInt64(max(0, bounds[index]))) : "+Inf"
            writer.sample(series.suffixed("_bucket", label: "le", value: bound), value: String(cumulative))
        }
        writer.sample(series.suffixed("_sum"), value: ExpositionWriter.seconds(sum.nanoseconds))
        writer.sample(series.suffixed("_count"), value: String(cumulative))
    }
}
