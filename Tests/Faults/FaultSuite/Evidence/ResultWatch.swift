import FaultOracle
import Foundation
import Kafka
import Synchronization

/// Watches results and dead letters as they become visible, to know when a scenario is through and how long nothing came.
final class ResultWatch: Sendable {
    private struct State {
        var settled: Set<Place> = []
        /// Calls that the hub accepted and whose outcome is not told yet.
        var openCalls: Set<CallPlace> = []
        /// Calls whose outcome is told.
        var toldCalls: Set<CallPlace> = []
        var repeats = 0
        var lastArrival: Int64 = 0
        /// When the last fault ended, until something new has arrived.
        var mark: Int64?
        /// The longest time from a mark to the next arrival.
        var longestResumption: Int64?
        /// Partitions of the requests topic that have had nothing new since the last mark, and when that was.
        var awaited: Set<Int32> = []
        var awaitedSince: Int64 = 0
        /// The longest time from a mark until every partition had something new.
        var longestWait: Int64?
        var isEnding = false
        var running = 0
    }

    private let state = Mutex(State())
    private let partitions: Int

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - kafka: The brokers.
    ///   - results: The results topic.
    ///   - deadLetters: The dead-letter topic.
    ///   - partitions: How many partitions the requests topic has.
    init(kafka: KafkaConfiguration, results: String, deadLetters: String, partitions: Int) {
        self.partitions = partitions
        start(kafka, results) { [self] (value, _) in
            var reader = FactReader()
            if let outcome = reader.outcome(value) {
                note(outcome.call)
                return nil
            }
            if let result = reader.result(value, at: 0) { noteCalls(of: result) }
            return reader.origin(of: value)
        }
        start(kafka, deadLetters) { (_, place) in place }
    }

    /// Records that have their result or dead letter.
    var settledCount: Int { state.withLock { $0.settled.count } }

    /// Calls that the hub accepted and whose outcome is not told yet.
    var openCallCount: Int { state.withLock { $0.openCalls.count } }

    /// Calls whose outcome is told.
    var toldCallCount: Int { state.withLock { $0.toldCalls.count } }

    /// Results and dead letters beyond the first of a record.
    var repeatCount: Int { state.withLock { $0.repeats } }

    /// When something new became visible last, milliseconds since 1970.
    var lastArrival: Int64 { state.withLock { $0.lastArrival } }

    /// Remembers this moment, to measure the time to the next new result from here, and until every partition has one. A mark without
    /// any result is forgotten when the next one comes.
    func mark() {
        let now = Clock.now()
        state.withLock { state in
            state.mark = now
            state.awaited = Set(0..<Int32(partitions))
            state.awaitedSince = now
        }
    }

    /// Nothing more is to come, so that no time is measured.
    func unmark() {
        state.withLock { state in
            state.mark = nil
            state.awaited = []
        }
    }

    /// The partitions that have had nothing new since the last mark.
    var awaited: Set<Int32> { state.withLock { $0.awaited } }

    /// Something should have come, and is waited for no longer: the time until now counts as if it had.
    func giveUp() {
        let now = Clock.now()
        state.withLock { state in
            if let mark = state.mark { state.longestResumption = max(state.longestResumption ?? 0, now - mark) }
            if !state.awaited.isEmpty { state.longestWait = max(state.longestWait ?? 0, now - state.awaitedSince) }
        }
        unmark()
    }

    /// The longest time from a mark to the next new result, milliseconds; nil when there was none.
    var resumption: Int64? { state.withLock { $0.longestResumption } }

    /// The longest time from a mark until every partition had something new, milliseconds; nil when there was none.
    var wholeResumption: Int64? { state.withLock { $0.longestWait } }

    /// Stops watching, and waits until the threads have ended.
    func end() {
        state.withLock { $0.isEnding = true }
        while state.withLock({ $0.running }) > 0 { Clock.pause(.milliseconds(10)) }
    }

    private func start(
        _ kafka: KafkaConfiguration, _ topic: String, place: @escaping @Sendable (Span<UInt8>, Place?) -> Place?
    ) {
        state.withLock { $0.running += 1 }
        let thread = Thread { [self] in
            defer { state.withLock { $0.running -= 1 } }
            while !state.withLock({ $0.isEnding }) {
                guard let reader = try? TopicReader(kafka, topic: topic, start: .beginning, timeout: .seconds(5)) else {
                    continue
                }
                watch(reader, place)
            }
        }
        thread.name = "faults-watch"
        thread.start()
    }

    private func watch(_ reader: TopicReader, _ place: (Span<UInt8>, Place?) -> Place?) {
        while !state.withLock({ $0.isEnding }) {
            while reader.nextEvent() != nil {}
            var found: Place?
            let result = reader.read(timeout: .milliseconds(100)) { record in
                if let value = record.value {
                    found = place(value, TopicFacts.deadLetterOrigin(record))
                } else {
                    found = place(Self.nothing.span, TopicFacts.deadLetterOrigin(record))
                }
            }
            if let found { note(found) }
            // The topic was deleted, or made anew: what was seen stays known, and reading begins again.
            if case .error(let error) = result, error.isUnknownTopicOrPartition { break }
        }
        reader.close()
        Clock.pause(.milliseconds(50))
    }

    private func note(_ call: CallPlace) {
        state.withLock { state in
            state.toldCalls.insert(call)
            state.openCalls.remove(call)
        }
    }

    private func noteCalls(of result: ResultFact) {
        state.withLock { state in
            for (index, send) in result.sends.enumerated() where send.isSuccess {
                let call = CallPlace(result.origin, index)
                if !state.toldCalls.contains(call) { state.openCalls.insert(call) }
            }
        }
    }

    private static let nothing: [UInt8] = []

    private func note(_ place: Place) {
        let now = Clock.now()
        state.withLock { state in
            guard state.settled.insert(place).inserted else {
                state.repeats += 1
                return
            }
            state.lastArrival = now
            if state.awaited.remove(place.partition) != nil && state.awaited.isEmpty {
                state.longestWait = max(state.longestWait ?? 0, now - state.awaitedSince)
            }
            guard let mark = state.mark else { return }
            state.mark = nil
            state.longestResumption = max(state.longestResumption ?? 0, now - mark)
        }
    }
}
