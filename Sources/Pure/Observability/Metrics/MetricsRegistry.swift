import Synchronization

/// Knows every instrument of the process and writes them all as text.
///
/// Instruments are declared once, when the program is put together, and never leave. A reader (`/metrics`) runs beside the
/// threads that count, and takes no lock that they take on their hot path.
public final class MetricsRegistry: Sendable {
    /// Protects the list of writers, in the order of declaration. A family's lock may be taken after it was released.
    private let writers = Mutex<[@Sendable (inout ExpositionWriter) -> Void]>([])

    /// Starts without instruments.
    public init() {}

    /// Declares a counter without labels.
    public func counter(_ name: String, help: String) -> Counter {
        single(name, help: help, as: Counter())
    }

    /// Declares a gauge without labels.
    public func gauge(_ name: String, help: String) -> Gauge {
        single(name, help: help, as: Gauge())
    }

    /// Declares a family of instruments.
    ///
    /// - Parameters:
    ///   - name: The metric's name, with its unit and, for a counter, `_total`.
    ///   - help: One sentence.
    ///   - labels: The labels' names.
    ///   - limit: The most series it may have. Further ones share one. Default 512.
    ///   - make: Makes one empty instrument.
    /// - Returns: The family, without series.
    public func family<Kind: Instrument, let labelCount: Int>(
        _ name: String, help: String, labels: InlineArray<labelCount, String>, limit: Int = 512,
        make: @escaping @Sendable () -> Kind
    ) -> Family<Kind, labelCount> {
        let family = Family(name, help: help, labels: labels, limit: limit, make: make)
        writers.withLock { $0.append { family.write(to: &$0) } }
        return family
    }

    /// Declares a metric whose value is read when the text is written. Nothing is written while it has none.
    ///
    /// - Parameters:
    ///   - name: The metric's name.
    ///   - help: One sentence.
    ///   - type: `gauge` or `counter`.
    ///   - read: Gives the value. Called from the thread that writes.
    public func reading(_ name: String, help: String, type: ReadingType, read: @escaping @Sendable () -> Double?) {
        writers.withLock {
            $0.append { writer in
                guard let value = read() else { return }
                writer.family(name, type: type.rawValue, help: help)
                writer.sample(SeriesName(name), value: ExpositionWriter.number(value))
            }
        }
    }

    /// The type of a metric that is read on demand.
    public enum ReadingType: String, Sendable {
        /// A value that rises and falls.
        case gauge
        /// A value that only rises.
        case counter
    }

    /// Appends every metric in the Prometheus text format, in the order of declaration.
    public func write(into bytes: inout [UInt8]) {
        var writer = ExpositionWriter(continuing: bytes)
        bytes = []
        for write in writers.withLock({ $0 }) { write(&writer) }
        bytes = writer.bytes
    }

    private func single<Kind: Instrument>(_ name: String, help: String, as instrument: Kind) -> Kind {
        writers.withLock {
            $0.append { writer in
                writer.family(name, type: Kind.typeName, help: help)
                instrument.write(to: &writer, series: SeriesName(name))
            }
        }
        return instrument
    }
}
