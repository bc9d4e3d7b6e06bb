import Synchronization

/// Holds a value that rises and falls.
///
/// The bits of a `Double` in one relaxed atomic, safe from every thread, without allocation.
public final class Gauge: Instrument {
    private let bits = Atomic<UInt64>(0)
    /// The bits of a gauge without a value, which no calculation gives.
    private static let unknown = Double(nan: 1, signaling: true).bitPattern

    /// Starts at zero.
    public init() {}

    /// Replaces the value.
    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    /// Takes the value away, because it cannot be known: there is no sample until the next `set`. Its `value` is not a number.
    public func clear() { bits.store(Self.unknown, ordering: .relaxed) }

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

    /// Appends the one sample of this gauge, if it has a value.
    public func write(to writer: inout ExpositionWriter, series: SeriesName) {
        let bits = bits.load(ordering: .relaxed)
        guard bits != Self.unknown else { return }
        writer.sample(series, value: ExpositionWriter.number(Double(bitPattern: bits)))
    }
}
