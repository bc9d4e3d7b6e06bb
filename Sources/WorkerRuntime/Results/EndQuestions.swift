import Kafka

/// Asks where partitions end, and finds out which of them have a leader that is away. One of those takes the whole time of a question, so
/// that later ones have less.
struct EndQuestions {
    private let admin: TopicAdmin
    /// The time that all partitions of a topic may take together.
    private var limit = Duration.seconds(5)
    /// The reason that the latest question had no answer, or nil while all had one.
    private(set) var failure: KafkaError?

    init(_ admin: TopicAdmin) { self.admin = admin }

    /// The ends of partitions of a topic: all are asked at once, and each by itself where that fails.
    ///
    /// - Parameters:
    ///   - partitions: Their numbers.
    ///   - topic: The topic's name.
    /// - Returns: The next offset of each, in order; nil where the leader did not answer in time.
    /// - Throws: The question failed for another reason.
    mutating func ends(of partitions: [Int32], in topic: String) throws(KafkaError) -> [Int64?] {
        do throws(KafkaError) {
            return try admin.ends(of: partitions, in: topic, timeout: limit)
        } catch {
            guard error.isLeaderAway else { throw error }
            failure = error
            limit = .seconds(1)
        }
        let deadline = ContinuousClock.now + .seconds(3)
        var ends: [Int64?] = []
        for partition in partitions {
            let left = min(limit, deadline - .now)
            var found: [Int64]?
            if left > .zero { found = try? admin.ends(of: [partition], in: topic, timeout: left) }
            ends.append(found?.first)
        }
        return ends
    }
}
