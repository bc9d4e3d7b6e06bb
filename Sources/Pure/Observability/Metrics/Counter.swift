import Synchronization

/// Counts events since the process started.
///
/// One relaxed atomic, safe from every thread, without allocation. Wraps after 2^64 events.
public final class Counter: Instrument {
    private let count = Atomic<UInt64>(0)

    /// Starts at zero.
    public init() {}

    /// Adds `amount` events, one unless told otherwise.
    public func increment(by amount: UInt64 = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// The number of events so far.
    public var value: UInt64 { count.load(ordering: .relaxed) }

    /// The word `counter` of a `# TYPE` line.
    public static var typeName: String { "counter" }

    /// Appends the one sample of this counter.
    public func write(to writer: inout ExpositionWriter, series: SeriesName) {
        writer.sample(series, value: String(value))
    }
}

/// Adds up time, shown in seconds, for totals such as "time spent waiting".
///
/// Kept in whole nanoseconds so that adding is one relaxed atomic. Negative amounts are ignored, for a counter never falls.
public final class SecondsCounter: Instrument {
    private let total = Atomic<UInt64>(0)

    /// Starts at zero.
    public init() {}

    /// Adds `nanoseconds` of time. Zero and less change nothing.
    public func add(nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        total.wrappingAdd(UInt64(nanoseconds), ordering: .relaxed)
    }

    /// The time so far, in nanoseconds.
    public var nanoseconds: UInt64 { total.load(ordering: .relaxed) }

    /// The word `counter` of a `# TYPE` line.
    public static var typeName: String { "counter" }

    /// Appends the one sample of this counter, in seconds.
    public func write(to writer: inout ExpositionWriter, series: SeriesName) {
        writer.sample(series, value: ExpositionWriter.seconds(nanoseconds))
    }
}
