import Synchronization

/// Writes structured log lines to a sink.
///
/// A message is a constant. Variable parts go into typed fields, and both events and keys are closed lists. Warnings and errors
/// are sampled per event, so that a storm of failures cannot become a storm of lines. Device handles, bodies, keys and tokens are
/// never fields. A handle is named by a salted fingerprint that the caller computes.
///
/// Copies share level and sampler. Safe from every thread. The sink is called on the caller's thread, with one whole line.
public struct Log: Sendable {
    /// The format of a line.
    public enum Format: Sendable {
        /// One JSON object, for collectors.
        case json
        /// Time, level, message and pairs, for a person at a terminal.
        case text
    }

    /// The part that copies of a log share.
    private final class Shared: Sendable {
        let level: Atomic<UInt8>
        /// Protects the sampler. Held for a few instructions, never while the sink is called.
        let sampler: Mutex<LogSampler>

        init(level: LogLevel, sampler: LogSampler) {
            self.level = Atomic(level.rawValue)
            self.sampler = Mutex(sampler)
        }
    }

    private let shared: Shared
    private let format: Format
    private let now: @Sendable () -> Int64
    private let sink: @Sendable ([UInt8]) -> Void

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - format: The format of a line.
    ///   - level: The lowest level that is written. Default `info`.
    ///   - sampler: Limits warnings and errors.
    ///   - now: The wall clock, in milliseconds since 1970.
    ///   - sink: Takes one line, its line feed included.
    public init(
        format: Format, level: LogLevel = .info, sampler: LogSampler = LogSampler(), now: @escaping @Sendable () -> Int64,
        sink: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.shared = Shared(level: level, sampler: sampler)
        self.format = format
        self.now = now
        self.sink = sink
    }

    /// A log that writes nothing.
    public static let silent = Log(format: .json, level: .error, now: { 0 }, sink: { _ in })

    /// The lowest level that is written. It may be changed while others write.
    public var level: LogLevel {
        get { LogLevel(rawValue: shared.level.load(ordering: .relaxed)) ?? .info }
        nonmutating set { shared.level.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// True if a line of this level would be written. Called before fields that are costly to make.
    public func isEnabled(_ level: LogLevel) -> Bool {
        level.rawValue >= shared.level.load(ordering: .relaxed)
    }

    /// Writes a line that matters in a search only.
    public func debug(_ event: LogEvent, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.debug, event: event, message: message, fields: fields)
    }

    /// Writes a line about the ordinary course.
    public func info(_ event: LogEvent, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.info, event: event, message: message, fields: fields)
    }

    /// Writes a line about a fault that the program deals with.
    public func warning(_ event: LogEvent, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.warning, event: event, message: message, fields: fields)
    }

    /// Writes a line about a fault that needs a person.
    public func error(_ event: LogEvent, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.error, event: event, message: message, fields: fields)
    }

    /// Reports the suppressed lines of storms that have ended. Called by a timer and before the program ends.
    public func flushSuppressed() {
        let time = now()
        for (event, count) in shared.sampler.withLock({ $0.takeEnded(now: time) }) { writeSuppressed(count, of: event, at: time) }
    }

    private func write(
        _ level: LogLevel, event: LogEvent, message: StaticString, fields: KeyValuePairs<LogKey, LogValue>
    ) {
        guard isEnabled(level) else { return }
        let time = now()
        if level >= .warning {
            switch shared.sampler.withLock({ $0.admit(event, now: time) }) {
            case .suppress: return
            case .write(suppressed: 0): break
            case .write(let count): writeSuppressed(count, of: event, at: time)
            }
        }
        emit(LogLine(time: time, level: level, event: event, message: "\(message)", fields: fields))
    }

    private func writeSuppressed(_ count: Int, of event: LogEvent, at time: Int64) {
        emit(
            LogLine(
                time: time, level: .warning, event: .suppressed, message: "suppressed \(count)",
                fields: [.suppressedEvent: .string(event.rawValue), .count: LogValue(count)]))
    }

    private func emit(_ line: LogLine) {
        switch format {
        case .json: sink(line.json())
        case .text: sink(line.text())
        }
    }
}
