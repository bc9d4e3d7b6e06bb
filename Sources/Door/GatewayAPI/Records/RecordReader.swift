import Basics
import Dispatch
import EventLoop
package import Kafka
package import Observability
import Synchronization

/// Reads single records by their places, several at a time; those who ask take turns, and none has more than half of the threads.
///
/// A place that is wrong costs what a right one does, a record that is fetched, unless no record can be there; and what it costs is
/// its asker's alone.
///
/// Each thread opens a client of Kafka when it has a question, and closes it when it has had none for a while.
package final class RecordReader: Sendable {
    /// What a question ends with: the record, nil where there is none, or why it could not be read.
    package typealias Answer = Result<StoredRecord?, APIProblem>

    /// How many records are read at a time.
    static let threadCount = 4
    /// How many for one asker are read at a time.
    static let threadsOfAsker = 2
    /// How many questions of one asker may be there, those that are being answered included; an app asks once for each push.
    static let limitOfAsker = 32
    /// How many of all may be there.
    package static let limit = 1024
    /// How long a client is kept without a question.
    private static let idleTime = DispatchTimeInterval.seconds(5)
    /// After so many questions another client is opened: what a client has to report waits in it until it is closed.
    private static let questionsOfAClient = 500

    private struct Question: Sendable {
        let place: StoredPlace
        let asker: String
        let shown: MonotonicTime
        let deadline: MonotonicTime
        let answer: @Sendable (Answer) -> Void

        var timeLeft: Duration { .nanoseconds(max(0, deadline.nanoseconds(since: .now()))) }
    }

    private let open: @Sendable () throws(KafkaError) -> any RecordSource
    private let patience: Duration
    private let log: Log
    private let turns = Mutex(
        UserTurns<Question>(
            lineLimit: RecordReader.threadsOfAsker, userLimit: RecordReader.limitOfAsker, limit: RecordReader.limit))
    private let questions = BoundedQueue<Question>(limit: RecordReader.limit)
    private let places = Mutex(RecordPlaces())
    private let threads = (0..<RecordReader.threadCount).map { _ in ServiceThread() }

    /// Makes one whose threads do not run yet, and each of which reads from brokers by a client of its own.
    package convenience init(_ log: Log, from kafka: KafkaConfiguration) {
        self.init(log) { () throws(KafkaError) in try KafkaRecords(kafka) }
    }

    /// Makes one whose threads do not run yet. `patience` is the wait of a call for Kafka, the time before its turn included.
    /// Each thread opens a source.
    init(
        _ log: Log, patience: Duration = .seconds(5), open: @escaping @Sendable () throws(KafkaError) -> any RecordSource
    ) {
        self.log = log
        self.patience = patience
        self.open = open
    }

    /// Starts the threads; they hold `self` until ``stop()``. To be called once.
    package func start() {
        for (index, thread) in threads.enumerated() {
            thread.start(named: "pushfan-records-\(index + 1)") { [self] in work() }
        }
    }

    /// Ends the threads, and waits up to 1 s for the questions that they are at; those that wait are dropped.
    package func stop() {
        questions.close()
        let deadline = DispatchTime.now() + .seconds(1)
        for thread in threads { thread.waitForEnd(until: deadline) }
    }

    /// Reads a record. Waits for nothing. Askers take turns. `answer` is called once, in any thread, and never after ``stop()``.
    package func read(_ place: StoredPlace, for asker: String, then answer: @escaping @Sendable (Answer) -> Void) {
        let now = MonotonicTime.now()
        let question = Question(
            place: place, asker: asker, shown: now, deadline: now.advanced(by: patience), answer: answer)
        switch turns.withLock({ $0.add(question, of: asker) }) {
        case .inLine: put(question)
        case .kept: return
        case .refusedToUser: answer(.failure(.tooManyRequests(after: 1000)))
        case .refusedToAll: answer(.failure(.overloaded(after: 1000)))
        }
    }

    private func put(_ question: Question) {
        if !questions.put(question) { question.answer(.failure(.stopping)) }
    }

    // MARK: The threads

    private func work() {
        var source: (any RecordSource)?
        var count = 0
        while true {
            switch questions.take(until: source == nil ? .distantFuture : .now() + Self.idleTime) {
            case .closed: return
            case .nothing: source = nil
            case .element(let question):
                question.answer(answer(to: question, from: &source))
                if let next = turns.withLock({ $0.finish(of: question.asker) }) { put(next) }
                count += 1
                if count.isMultiple(of: Self.questionsOfAClient) { source = nil }
            }
        }
    }

    private func answer(to question: Question, from source: inout (any RecordSource)?) -> Answer {
        guard question.timeLeft > .zero else { return .failure(.overloaded(after: 1000)) }
        do throws(KafkaError) {
            return .success(try record(for: question, from: &source))
        } catch {
            places.withLock { $0.forget(question.place.partition) }
            // The next client has the certificates of now.
            if error.isAuthentication { source = nil }
            if error.isUnknownTopicOrPartition { return .success(nil) }
            log.warning(.brokerConnection, "a record cannot be read", [.reason: .string(error.description)])
            return .failure(.recordUnread)
        }
    }

    /// The record at a place; nil when there is none, which is found out without fetching where none can be.
    private func record(for question: Question, from source: inout (any RecordSource)?) throws(KafkaError) -> StoredRecord? {
        while true {
            let verdict = places.withLock { $0.verdict(on: question.place, shown: question.shown) }
            if verdict == .impossible { return nil }
            let opened: any RecordSource
            if let source { opened = source } else { opened = try open() }
            source = opened
            guard case .unknown(let bound) = verdict else {
                return try opened.record(at: question.place, timeout: question.timeLeft)
            }
            let time = MonotonicTime.now()
            let value = try opened.value(of: bound, timeout: question.timeLeft)
            places.withLock { $0.note(value, for: bound, askedAt: time) }
        }
    }
}
