import Dispatch
import Synchronization

/// Hears from clients if a broker has answered, has it said when none does at the start, and knows for how long none has. One for all clients
/// of a program, on any thread.
public final class BrokerWatch: Sendable {
    /// A notice that must be given, and the brokers that it is about.
    public struct Notice: Sendable, Equatable {
        /// The addresses that were asked, as configured.
        public let brokers: String
        /// The notice itself.
        public let event: BrokerSilence.Notice

        /// One line for a person.
        public var line: String {
            switch event {
            case .answered: "a broker answers at \(brokers) now"
            case .otherCluster(let change): "\(change); nothing more is written"
            case .unfreed: "a Kafka client cannot be freed, and is left to itself: the process ends without waiting for it"
            case .silent(let cause):
                "\(cause?.isRefusal == true ? "no broker lets us in" : "no broker answers") at \(brokers) (\(reason)); "
                    + "trying on; \(question)"
            }
        }

        /// The reason that no broker answers, in a few words.
        public var reason: String {
            guard case .silent(let cause?) = event else { return "no answer yet" }
            return cause.rawValue
        }

        /// The thing to check, as a question.
        public var question: String {
            guard case .silent(let cause?) = event else { return BrokerFailure.Cause.addressQuestion }
            return cause.question
        }
    }

    private struct State {
        var cluster = ClusterIdentity()
        var changed: [@Sendable () -> Void] = []
        var silence = BrokerSilence()
        var brokers = ""
        var timer: (any DispatchSourceTimer)?
        var hasSaidUnfreed = false
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let say: @Sendable (Notice) -> Void
    private let isOver = Atomic<Bool>(false)
    private let isOther = Atomic<Bool>(false)
    /// Protects it, and keeps notices in their order. `say` is called while it is held, so that must not come back here.
    private let state = Mutex(State())
    /// Nothing but the clock is asked while it is held.
    private let reach = Mutex(BrokerReach())

    /// A watch that has heard nothing yet.
    ///
    /// - Parameters:
    ///   - now: The clock.
    ///   - say: Shows a notice, quickly; called on any thread.
    public init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, say: @escaping @Sendable (Notice) -> Void
    ) {
        self.now = now
        self.say = say
    }

    deinit { end() }

    /// True while brokers are being asked, and none has answered yet.
    public var isWaiting: Bool { !isOver.load(ordering: .relaxed) }

    /// The time for which no broker has answered any client, or zero. It goes on also when the watch has ended.
    public var silence: Duration { reach.withLock { $0.silence(at: now()) } }

    /// Ends it: nothing is said any more.
    public func end() {
        finish { silence in
            silence.end()
            return nil
        }
    }

    /// Notes that the brokers at `addresses` are asked from now on.
    func asked(_ addresses: String) {
        noteUnanswered()
        guard isWaiting else { return }
        state.withLock { state in
            guard state.silence.asked(at: now()) else { return }
            state.brokers = addresses
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
            timer.setEventHandler { [weak self] in self?.check() }
            timer.resume()
            state.timer = timer
        }
    }

    /// Notes that a question got no answer, or a connection has failed.
    func noteFailure(_ cause: BrokerFailure.Cause?) {
        noteUnanswered()
        guard isWaiting else { return }
        state.withLock { $0.silence.noteFailure(cause) }
        check()
    }

    /// Notes that a broker has answered.
    func answered() {
        reach.withLock { $0.noteAnswer() }
        guard isWaiting else { return }
        finish { $0.answered() }
    }

    /// Notes that a request has left a client, of a kind by its number in Kafka's protocol.
    func noteRequest(kind: Int16) { reach.withLock { $0.noteRequest(kind: kind, at: now()) } }

    /// Notes that a broker has answered a request, of a kind by its number in Kafka's protocol.
    func noteResponse(kind: Int16) { reach.withLock { $0.noteResponse(kind: kind) } }

    /// Notes that a question has no answer so far.
    func noteUnanswered() { reach.withLock { $0.noteQuestion(at: now()) } }

    /// The reason that no client may go on: another cluster has answered than the first. Nil while none has.
    public var clusterFailure: KafkaError? {
        guard isOther.load(ordering: .acquiring) else { return nil }
        return state.withLock(\.cluster.change).map { .otherCluster($0) }
    }

    /// Sets what is called, on any thread, once another cluster has answered than the first. It is called at once if one has.
    public func onOtherCluster(_ body: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.changed.append(body)
            return state.cluster.other != nil
        }
        if isLate { body() }
    }

    /// Notes the id of the cluster that a client works with.
    func saw(cluster id: String) {
        let changed = state.withLock { state -> [@Sendable () -> Void] in
            guard state.cluster.note(id), let change = state.cluster.change else { return [] }
            isOther.store(true, ordering: .releasing)
            say(Notice(brokers: state.brokers, event: .otherCluster(change)))
            return state.changed
        }
        for body in changed { body() }
    }

    /// Says that the library does not free a client. Once, and also when the watch is over: clients are freed last.
    func leftUnfreed() {
        state.withLock { state in
            guard !state.hasSaidUnfreed else { return }
            state.hasSaidUnfreed = true
            say(Notice(brokers: state.brokers, event: .unfreed))
        }
    }

    private func check() {
        state.withLock { state in
            guard let event = state.silence.notice(at: now()) else { return }
            say(Notice(brokers: state.brokers, event: event))
        }
    }

    private func finish(_ last: (inout BrokerSilence) -> BrokerSilence.Notice?) {
        isOver.store(true, ordering: .relaxed)
        state.withLock { state in
            if let event = last(&state.silence) { say(Notice(brokers: state.brokers, event: event)) }
            state.timer?.cancel()
            state.timer = nil
        }
    }
}
