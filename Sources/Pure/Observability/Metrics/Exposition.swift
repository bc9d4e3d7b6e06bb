/// A metric that can be written as samples of the Prometheus text format.
public protocol Instrument: AnyObject, Sendable {
    /// The word after the name in a `# TYPE` line.
    static var typeName: String { get }

    /// Appends the samples of this instrument.
    ///
    /// - Parameters:
    ///   - writer: Takes the samples.
    ///   - series: The name and labels of the samples.
    func write(to writer: inout ExpositionWriter, series: SeriesName)
}

/// The name of a series: a metric's name and its labels.
public struct SeriesName: Sendable {
    let name: String
    let labels: [(name: String, value: String)]

    init(_ name: String, labels: [(name: String, value: String)] = []) {
        self.name = name
        self.labels = labels
    }

    func suffixed(_ suffix: String) -> SeriesName { SeriesName(name + suffix, labels: labels) }

    func suffixed(_ suffix: String, label: String, value: String) -> SeriesName {
        SeriesName(name + suffix, labels: labels + [(label, value)])
    }
}

/// Writes the Prometheus text exposition format, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats, "Text-based format").
public struct ExpositionWriter: Sendable {
    /// The media type to serve the text with.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The bytes written so far.
    public private(set) var bytes: [UInt8]

    /// Goes on after `bytes`.
    public init(continuing bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    mutating func family(_ name: String, type: String, help: String) {
        text("# HELP \(name) ")
        escaped(help, quotes: false)
        text("\n# TYPE \(name) \(type)\n")
    }

    mutating func sample(_ series: SeriesName, value: String) {
        text(series.name)
        for (index, label) in series.labels.enumerated() {
            text(index == 0 ? "{" : ",")
            text(label.name)
            text("=\"")
            escaped(label.value, quotes: true)
            text("\"")
        }
        text(series.labels.isEmpty ? " " : "} ")
        text(value)
        text("\n")
    }

    private mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Backslash and line feed are escaped everywhere, the double quote in label values only.
    private mutating func escaped(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: [byte, byte])
            case UInt8(ascii: "\n"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case UInt8(ascii: "\"") where quotes: bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            default: bytes.append(byte)
            }
        }
    }

    /// A number as Go's `ParseFloat` reads it, which is what the format asks for.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.description
    }

    /// Nanoseconds as exact decimal seconds without trailing zeros: `1500000000` is `1.5`.
    static func seconds(_ nanoseconds: UInt64) -> String {
        let (whole, part) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard part > 0 else { return String(whole) }
        var digits = String(part)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
