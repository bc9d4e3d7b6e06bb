import Basics
import Dispatch
package import GatewayAPI
import Kafka
package import Observability
import Synchronization

/// Says at the start for how long repeated publishes are found at the topics' rate, and warns whenever that has become too short.
package final class RetryReachMonitor: Sendable {
    /// Calls a job, in another thread, after some time.
    typealias Timer = @Sendable (_ delay: Duration, _ job: @escaping @Sendable () -> Void) -> Void

    /// Time from one answer to the next question.
    private static let interval = Duration.seconds(60)
    /// Time to the next question where brokers did not answer.
    private static let retryInterval = Duration.seconds(5)

    private let reach: RetryReach
    private let log: Log
    private let ask: @Sendable () throws(KafkaError) -> TopicRate
    private let timer: Timer
    private let queue = DispatchQueue(label: "pushfan-reach", qos: .utility)
    private let isStopped = Atomic<Bool>(false)
    /// Whether the reach was too short at the last answer, or nil before the first.
    private let wasShort = Mutex<Bool?>(nil)

    /// Makes one that asks nothing yet, and then brokers by a producer of requests.
    package convenience init(_ configuration: GatewayConfiguration, log: Log, asking producer: RequestProducer) {
        self.init(RetryReach(offsets: configuration.dedupeReach), log: log) {
            [topics = configuration.requestTopics] () throws(KafkaError) in
            try TopicRate(of: topics, asking: producer.current)
        }
    }

    /// Makes one that asks nothing yet. `timer` is by default on a queue of its own, and `ask` may block.
    init(_ reach: RetryReach, log: Log, timer: Timer? = nil, ask: @escaping @Sendable () throws(KafkaError) -> TopicRate) {
        self.reach = reach
        self.log = log
        self.ask = ask
        self.timer =
            timer ?? { [queue] (delay, job) in
                queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay.timeoutMilliseconds)), execute: job)
            }
    }

    /// Begins to ask, at once and then each minute. To be called once.
    package func start() { askLater(.zero) }

    /// Ends it, and waits up to 1 s for a question that is on its way.
    package func stop() {
        isStopped.store(true, ordering: .relaxed)
        let end = DispatchWorkItem {}
        queue.async(execute: end)
        _ = end.wait(timeout: .now() + .seconds(1))
    }

    private func askLater(_ delay: Duration) {
        timer(delay) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            let rate = try? ask()
            if let rate { report(rate) }
            askLater(rate == nil ? Self.retryInterval : Self.interval)
        }
    }

    private func report(_ rate: TopicRate) {
        let isShort = reach.isShort(atRate: rate.perSecond)
        let before = wasShort.withLock { state in
            defer { state = isShort }
            return state
        }
        let found = reach.seconds(atRate: rate.perSecond).map { "for \(Int64($0)) s" } ?? "without an end"
        let place = rate.partition.map { "\($0)" } ?? "no partition"
        let reason = "at \(Int64(rate.perSecond.rounded(.up))) offsets in a second in \(place) a repetition is found \(found)"
        if isShort, before != true {
            log.warning(
                .configurationDoubtful, "a publish that is repeated within a minute may be sent twice: raise dedupe.reach",
                [.setting: "dedupe.reach", .count: .double(rate.perSecond), .reason: .string(reason)])
        } else if before == nil {
            log.info(
                .retryReach, "a publish that is repeated within a minute is sent once",
                [.setting: "dedupe.reach", .count: .double(rate.perSecond), .reason: .string(reason)])
        }
    }
}
