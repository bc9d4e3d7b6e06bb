import Delivery
import Kafka
import PushModel

/// Makes a ruling of what a partition's records have answered. Belongs to one thread.
final class StartRulings {
    /// The time that a broker may take for an answer. It is asked again after a failure.
    private static let limit = Duration.seconds(5)

    private let configuration: WorkerConfiguration
    private let clock: WorkerClock
    /// Made with the first question to a broker, because most rulings need none.
    private var admin: TopicAdmin?

    init(_ configuration: WorkerConfiguration, clock: WorkerClock) {
        self.configuration = configuration
        self.clock = clock
    }

    /// The finding that an answered question leads to.
    ///
    /// - Parameter question: The question with its answer.
    /// - Returns: Where its partition begins.
    /// - Throws: What else has to be known could not be learnt.
    func finding(of question: StartQuestion) throws(KafkaError) -> StartLook.Finding {
        let partition = question.partition
        if case .waiting(let low, let end) = question.matter {
            let mayBeFinished = question.mayHaveGoneOn ?? true
            let ruling = try ruling(of: partition, low: low, end: end, mayBeFinished: mayBeFinished)
            return StartLook.Finding(partition: partition, ruling: ruling, end: nil)
        }
        guard question.last != .same else { return StartLook.Finding(partition: partition, ruling: nil, end: question.end) }
        let admin = try connected()
        let low = try admin.beginnings(of: [partition.partition], in: partition.topic, timeout: Self.limit).first ?? 0
        let end = try admin.ends(of: [partition.partition], in: partition.topic, timeout: Self.limit).first ?? low
        let ruling = question.tail(low: low, high: end)?.ruling(configuration.start, since: nil)
        return StartLook.Finding(partition: partition, ruling: ruling, end: end)
    }

    /// The place where a partition without a position begins whose records workers wrote.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - low: The first offset that is retained.
    ///   - end: The next offset.
    ///   - mayBeFinished: Whether a worker of this group may have gone on with what waits.
    /// - Returns: The ruling.
    /// - Throws: The age of its records could not be learnt.
    func ruling(
        of partition: TopicPartition, low: Int64, end: Int64, mayBeFinished: Bool
    ) throws(KafkaError) -> AssignmentPlan.Ruling {
        let rule = configuration.start
        var since: Int64?
        // Whatever their age is, `safe` leaves them to an operator.
        if mayBeFinished, rule != .safe, let time = rule.time(now: Timestamp(milliseconds: clock.millisecondsSince1970)) {
            since = try connected().offset(since: time.milliseconds, in: partition, timeout: Self.limit)
        }
        let decision = rule.decision(low: low, high: end, since: since, by: .workers(mayBeFinished: mayBeFinished))
        return AssignmentPlan.Ruling(decision, .noPosition, end: end, waiting: max(0, end - low))
    }

    private func connected() throws(KafkaError) -> TopicAdmin {
        if let admin { return admin }
        let made = try TopicAdmin(configuration.kafka, seesUncommitted: true)
        admin = made
        return made
    }
}
