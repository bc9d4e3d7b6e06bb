import Dispatch
import EventLoop
package import JobSupport
public import Kafka
import Synchronization

/// Knows the state of each receiver: follows the topic of states in a thread of its own, from its beginning. Where that topic is
/// missing from the start, no receiver is paused.
///
/// The thread ends with `close()`, and keeps this until then.
public final class ReceiverStates: Sendable {
    private struct State {
        var book = StateBook()
        var problem: KafkaError?
        var isClosed = false
    }

    /// The most bytes of a record's key: longer than every name of a receiver.
    private static let maximumKeyByteCount = 100
    /// The longest wait for a record, so that the end is seen in time.
    private static let step = Duration.milliseconds(500)
    /// The pause before the topic is opened again.
    private static let pause = DispatchTimeInterval.seconds(2)
    /// The turns between two checks of the client's events and the topic's partitions.
    private static let checkInterval = 60

    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()
    private let kafka: KafkaConfiguration
    private let topic: String
    private let onChange: @Sendable () -> Void

    /// Begins to follow the topic. What cannot be opened is tried again until `close()`.
    ///
    /// - Parameters:
    ///   - kafka: The brokers and the user's properties.
    ///   - topic: The topic of states.
    ///   - onChange: Called in the thread when the states are known for the first time, and when one of them has changed. It must not block.
    public init(_ kafka: KafkaConfiguration, topic: String, onChange: @escaping @Sendable () -> Void = {}) {
        (self.kafka, self.topic, self.onChange) = (kafka, topic, onChange)
        thread.start(named: "pushfan-states") { [self] in work() }
    }

    /// The state of each receiver that ever had one, by its name.
    public var states: [String: ReceiverState] { state.withLock { $0.book.states } }

    /// True after the topic was read to its end, or was found to be missing.
    public var isKnown: Bool { state.withLock { $0.book.isKnown } }

    /// The last problem, or nil while none is known. That the topic is missing is one.
    public var problem: KafkaError? { state.withLock { $0.problem } }

    /// Ends the thread, and waits for it. A second call does nothing.
    public func close() {
        state.withLock { $0.isClosed = true }
        closing.signal()
        thread.waitForEnd()
    }

    /// Reads the topic once, for a command.
    ///
    /// - Parameters:
    ///   - topic: The topic of states.
    ///   - context: The brokers, and the longest wait while nothing comes.
    /// - Returns: The state of each receiver that has one. None where the topic is missing.
    /// - Throws: Kafka did not say, or the job was cancelled.
    package static func read(_ topic: String, by context: JobContext) throws(JobFailure) -> [String: ReceiverState] {
        let scan = TopicScan(context, topic: topic)
        guard let reader = try scan.openIfThere(.beginning, .end) else { return [:] }
        defer { reader.close() }
        var states: [String: ReceiverState] = [:]
        try scan.read(reader) { record in
            if let (receiver, state) = entry(of: record) { states[receiver] = state }
        }
        return states
    }

    /// Reads the topic once, for the names of the receivers that ever had a position or a state.
    ///
    /// - Parameters:
    ///   - topic: The topic of states.
    ///   - context: The brokers, and the longest wait while nothing comes.
    /// - Returns: The names, or nil where the topic is missing.
    /// - Throws: Kafka did not say, or the job was cancelled.
    package static func names(in topic: String, by context: JobContext) throws(JobFailure) -> Set<String>? {
        let scan = TopicScan(context, topic: topic)
        guard let reader = try scan.openIfThere(.beginning, .end) else { return nil }
        defer { reader.close() }
        var names: Set<String> = []
        try scan.read(reader) { record in
            if let name = ReceiverMemory.name(in: record) ?? entry(of: record)?.receiver { names.insert(name) }
        }
        return names
    }
}

extension ReceiverStates {
    /// The receiver that a record is about, and its state. A tombstone, and what cannot be read, is none.
    private static func entry(of record: borrowing ConsumedRecord) -> (receiver: String, state: ReceiverState?)? {
        guard let key = record.key, key.count <= maximumKeyByteCount else { return nil }
        let receiver = key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        guard let value = record.value else { return (receiver, nil) }
        return ReceiverState(json: value).map { (receiver, $0) }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func work() {
        while !isClosed {
            do throws(KafkaError) {
                let reader = try TopicReader(kafka, topic: topic, start: .beginning, timeout: .seconds(5), readAhead: 4 << 20)
                defer { reader.close() }
                try follow(reader)
            } catch {
                if error.isUnknownTopicOrPartition { note { $0.noteMissing() } }
                state.withLock { $0.problem = error }
                _ = closing.wait(timeout: .now() + Self.pause)
            }
        }
    }

    /// Reads until the end, or until another client must take over.
    private func follow(_ reader: TopicReader) throws(KafkaError) {
        var turn = 0
        state.withLock { $0.book.begin() }
        while !isClosed {
            let found = reader.read(timeout: Self.step) { record in
                if let (receiver, new) = Self.entry(of: record) { note { $0.take(new, of: receiver) } }
            }
            switch found {
            case .error(let error) where error.isOutdated: return
            case .error(let error): throw error
            case .record, .endOfPartition, .empty: break
            }
            if reader.hasReachedEnd {
                note { $0.complete() }
                state.withLock { $0.problem = nil }
            }
            turn += 1
            if turn % Self.checkInterval == 0 { try check(reader) }
        }
    }

    /// Throws if the client has failed, and finds partitions that the topic got meanwhile.
    private func check(_ reader: TopicReader) throws(KafkaError) {
        while let event = reader.nextEvent() {
            if case .error(let error) = event, error.isFatal || error.isAuthentication { throw error }
        }
        try reader.refreshPartitions(timeout: .seconds(5))
    }

    /// Changes what is known, and tells if that is news.
    private func note(_ change: (inout StateBook) -> Bool) {
        if state.withLock({ change(&$0.book) }) { onChange() }
    }
}
