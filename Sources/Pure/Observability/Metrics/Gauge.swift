import Synchronization

/// Holds a value that rises and falls.
///
/// The bits of a `Double` in one relaxed atomic, safe from every thread, without allocation.
public final class Gauge: Instrument {
    private let bits = Atomic<UInt64>(0)

    /// Starts at zero.
    public init() {}

    /// Replaces the value.
    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    /// Replaces the value with a whole number, exact up to 2^53.
    public func set(_ value: Int) { set(Double(value)) }

    /// Adds `amount`, which may be negative.
    public func add(_ amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    /// The value now.
    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    /// The word `gauge` of a `# TYPE` line.
    public static var typeName: String { "gauge" }

    /// Appends the one sample of this gauge.
    public func write(to writer: inout ExpositionWriter, series: SeriesName) {
        writer.sample(series, value: ExpositionWriter.number(value))
    }
}
