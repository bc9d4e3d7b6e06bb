import Synchronization

/// One metric name with labels: an instrument for each requested combination of label values.
///
/// A request for a series takes a lock and may allocate, so it is made when a hub, a topic or a partition appears. The holder
/// keeps the instrument and updates that. The number of series is bounded: from `limit` on, every new combination shares one
/// series whose label values are all `other`, so a label can never grow without end.
public final class Family<Kind: Instrument, let labelCount: Int>: Sendable {
    private struct Series: Sendable {
        let values: [String]
        let instrument: Kind
    }

    /// Protects the series and their index. No other lock is taken while it is held.
    private struct State: Sendable {
        var series: [Series] = []
        var index: [[String]: Int] = [:]
        var overflow: Kind?
    }

    private let name: String
    private let help: String
    private let labels: [String]
    private let limit: Int
    private let make: @Sendable () -> Kind
    private let state = Mutex(State())

    init(
        _ name: String, help: String, labels: InlineArray<labelCount, String>, limit: Int, make: @escaping @Sendable () -> Kind
    ) {
        self.name = name
        self.help = help
        self.labels = Self.array(labels)
        self.limit = limit
        self.make = make
    }

    /// The instrument for these label values, in the order in which the labels were declared, made on first use. New values share
    /// the `other` instrument when the family is full.
    public func series(_ values: InlineArray<labelCount, String>) -> Kind {
        let key = Self.array(values)
        return state.withLock { state in
            if let index = state.index[key] { return state.series[index].instrument }
            guard state.series.count < limit else {
                let shared = state.overflow ?? make()
                state.overflow = shared
                return shared
            }
            let instrument = make()
            state.index[key] = state.series.count
            state.series.append(Series(values: key, instrument: instrument))
            return instrument
        }
    }

    /// Takes a series out of the exposition, for a partition or a topic that this worker no longer reads. Unknown label values
    /// change nothing.
    public func remove(_ values: InlineArray<labelCount, String>) {
        let key = Self.array(values)
        state.withLock { state in
            guard let index = state.index.removeValue(forKey: key) else { return }
            state.series.remove(at: index)
            for position in index..<state.series.count { state.index[state.series[position].values] = position }
        }
    }

    /// The number of series, the shared one not counted.
    public var seriesCount: Int { state.withLock { $0.series.count } }

    func write(to writer: inout ExpositionWriter) {
        let (series, overflow) = state.withLock { ($0.series, $0.overflow) }
        writer.family(name, type: Kind.typeName, help: help)
        for one in series { one.instrument.write(to: &writer, series: named(one.values)) }
        overflow?.write(to: &writer, series: named(labels.map { _ in "other" }))
    }

    private func named(_ values: [String]) -> SeriesName {
        SeriesName(name, labels: zip(labels, values).map { (name: $0, value: $1) })
    }

    private static func array(_ values: InlineArray<labelCount, String>) -> [String] {
        values.indices.map { values[$0] }
    }
}
