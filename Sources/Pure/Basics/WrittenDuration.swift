/// A duration as people write it in files: a whole number with a unit, `200ms`, `10s`, `5m` or `1h`.
public struct WrittenDuration: Sendable {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// The duration.
    public let duration: Duration

    /// Reads a text. Nil for anything else, and for more milliseconds than 64 bits hold.
    public init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let count = Int64(digits), let unit = Self.units.first(where: { $0.suffix == suffix }) else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        duration = .milliseconds(milliseconds)
    }

    /// The shortest way to write a duration of whole milliseconds.
    public static func text(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        let unit = units.first { milliseconds % $0.milliseconds == 0 && milliseconds != 0 } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
