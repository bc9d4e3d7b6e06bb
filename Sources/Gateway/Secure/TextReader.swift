import Basics
import Crypto
import Dispatch
import EventLoop
import FanOut
import Foundation
import Kafka
import Observability
import Synchronization

/// Reads texts of secure push, several at a time; users take turns, and none has more than half of the threads.
///
/// An id has no check of its own that one could see without its record: only the record opens by the id's random bits. So a wrong id costs
/// what a right one does, a record that is fetched, unless its place cannot be; and what it costs is its user's alone.
///
/// Each thread opens a client of Kafka when it has a question, and closes it when it has had none for a while.
final class TextReader: Sendable {
    /// How many texts are read at a time.
    static let threadCount = 4
    /// How many of one user are read at a time.
    static let threadsOfUser = 2
    /// How many questions of one user may be there, those that are being answered included; an app asks once for each push.
    static let limitOfUser = 32
    /// How many of all users may be there.
    static let limit = 1024
    /// How long a client is kept without a question.
    private static let idleTime = DispatchTimeInterval.seconds(5)
    /// After so many questions another client is opened: what a client has to tell waits in it until it is closed.
    private static let questionsOfAClient = 500

    /// A call for a text.
    private struct Question: Sendable {
        let id: SecureID
        let user: UserTag
        let shown: MonotonicTime
        let deadline: MonotonicTime
        let answer: @Sendable (APIAnswer) -> Void

        var timeLeft: Duration { .nanoseconds(max(0, deadline.nanoseconds(since: .now()))) }
    }

    private let open: @Sendable () throws(KafkaError) -> any TextSource
    private let patience: Duration
    private let log: Log
    private let turns = Mutex(
        UserTurns<Question>(
            lineLimit: TextReader.threadsOfUser, userLimit: TextReader.limitOfUser, limit: TextReader.limit))
    /// What is in line.
    private let questions = BoundedQueue<Question>(limit: TextReader.limit)
    private let places = Mutex(TextPlaces())
    private let ended = DispatchSemaphore(value: 0)

    /// Makes one whose threads do not run yet.
    ///
    /// - Parameters:
    ///   - log: The program's log.
    ///   - patience: How long a call waits for Kafka, the time before its turn included; default 5 s.
    ///   - open: Makes what a thread asks; called in that thread.
    init(
        _ log: Log, patience: Duration = .seconds(5), open: @escaping @Sendable () throws(KafkaError) -> any TextSource
    ) {
        self.log = log
        self.patience = patience
        self.open = open
    }

    /// Starts the threads; they hold `self` until ``stop()``. To be called once.
    func start() {
        for number in 1...Self.threadCount {
            let thread = Thread { [self] in
                work()
                ended.signal()
            }
            thread.name = "pushfan-secure-\(number)"
            thread.start()
        }
    }

    /// Ends the threads, and waits up to 1 s for the questions that they are at; those that wait are dropped.
    func stop() {
        questions.close()
        let deadline = DispatchTime.now() + .seconds(1)
        for _ in 0..<Self.threadCount { _ = ended.wait(timeout: deadline) }
    }

    /// Answers a text, or 404 where there is none for this user; waits for nothing.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - user: Who asks.
    ///   - answer: Called once, in any thread; never after ``stop()``.
    func ask(_ id: SecureID, for user: UserTag, _ answer: @escaping @Sendable (APIAnswer) -> Void) {
        let now = MonotonicTime.now()
        let question = Question(id: id, user: user, shown: now, deadline: now.advanced(by: patience), answer: answer)
        switch turns.withLock({ $0.add(question, of: user.folded) }) {
        case .inLine: put(question)
        case .kept: return
        case .refusedToUser: answer(APIAnswer(APIProblem.tooManyRequests(after: 1000)))
        case .refusedToAll: answer(APIAnswer(APIProblem.overloaded(after: 1000)))
        }
    }

    private func put(_ question: Question) {
        if !questions.put(question) { question.answer(APIAnswer(APIProblem.stopping)) }
    }

    // MARK: The threads

    private func work() {
        var source: (any TextSource)?
        var count = 0
        while true {
            switch questions.take(until: source == nil ? .distantFuture : .now() + Self.idleTime) {
            case .closed: return
            case .nothing: source = nil
            case .element(let question):
                question.answer(answer(to: question, &source))
                if let next = turns.withLock({ $0.finish(of: question.user.folded) }) { put(next) }
                count += 1
                if count.isMultiple(of: Self.questionsOfAClient) { source = nil }
            }
        }
    }

    private func answer(to question: Question, _ source: inout (any TextSource)?) -> APIAnswer {
        guard question.timeLeft > .zero else { return APIAnswer(APIProblem.overloaded(after: 1000)) }
        do throws(KafkaError) {
            guard let record = try record(for: question, &source), let text = try? Self.text(of: record, question)
            else { return APIAnswer(APIProblem.notFound) }
            return .payload(text)
        } catch {
            places.withLock { $0.forget(question.id.partition) }
            if error.isUnknownTopicOrPartition { return APIAnswer(APIProblem.notFound) }
            log.warning(.brokerConnection, "a text of secure push cannot be read", [.reason: .string(error.description)])
            return APIAnswer(APIProblem.textUnread)
        }
    }

    /// The record that an id names; nil when there is none, which is found out without fetching where its place cannot be.
    private func record(for question: Question, _ source: inout (any TextSource)?) throws(KafkaError) -> TextRecord? {
        while true {
            let verdict = places.withLock { $0.verdict(on: question.id, shown: question.shown) }
            if verdict == .impossible { return nil }
            let opened: any TextSource
            if let source { opened = source } else { opened = try open() }
            source = opened
            guard case .unknown(let bound) = verdict else {
                return try opened.record(of: question.id, timeout: question.timeLeft)
            }
            let time = MonotonicTime.now()
            let value = try opened.value(of: bound, timeout: question.timeLeft)
            places.withLock { $0.note(value, for: bound, askedAt: time) }
        }
    }

    /// The text of a record; nil for whoever asks with another id, is another user, or comes too late.
    private static func text(of record: TextRecord, _ question: Question) throws(CryptoError) -> String? {
        guard let written = record.timestamp, written >= WallClock.millisecondsSince1970() - SecureText.lifetime,
            let value = record.value, let found = try SecureText.opened(value, by: question.id.secret),
            found.user == question.user.folded
        else { return nil }
        return found.text
    }
}
