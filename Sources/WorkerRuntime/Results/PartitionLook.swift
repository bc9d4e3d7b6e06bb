import Foundation
import Kafka

/// Reads in many partitions at once, from one place in each, until each has its answer.
///
/// Lives on the committer's thread.
struct PartitionLook {
    /// What reading on in a partition came to.
    enum Step<Answer> {
        /// Nothing has come.
        case nothing
        /// A record that is no answer has.
        case foreign
        /// The partition need not be read any more.
        case answer(Answer)
    }

    /// What the library may hold of all partitions together, in bytes.
    private static let budget = 16 << 20
    /// Between two looks at what has come: 2 ms in seconds.
    private static let pause = 0.002

    let configuration: KafkaConfiguration
    /// How long the brokers may take in all.
    let limit: Duration

    /// Reads.
    ///
    /// - Parameters:
    ///   - places: The partitions, and the offset from which each is read.
    ///   - step: Reads one record of a slot: a place's number.
    /// - Returns: The answers by slot; those that did not come in time are missing.
    /// - Throws: The library refused.
    func answers<Answer>(
        from places: [(partition: TopicPartition, offset: Int64)], _ step: (PartitionReader, Int) -> Step<Answer>
    ) throws(KafkaError) -> [Int: Answer] {
        guard !places.isEmpty else { return [:] }
        let room = QueueRoom(sharing: Self.budget, among: places.count, atMost: .small)
        let reader = try PartitionReader(configuration, room: room, wakeUpFileDescriptor: -1)
        defer { reader.stop() }
        try reader.start(places.map { (partition: $0.partition, start: StartOffset.offset($0.offset)) })
        var answers: [Int: Answer] = [:]
        let deadline = ContinuousClock.now + limit
        while true {
            var hasMore = false
            for slot in places.indices where answers[slot] == nil {
                switch step(reader, slot) {
                case .nothing: continue
                case .foreign: break
                case .answer(let answer): answers[slot] = answer
                }
                hasMore = true
            }
            guard answers.count < places.count, ContinuousClock.now < deadline else { return answers }
            if !hasMore { Thread.sleep(forTimeInterval: Self.pause) }
        }
    }
}
