import Delivery
import Foundation
import Kafka
import PushModel

/// Looks whether a worker of this group may have gone on with what waits in partitions of delay lanes and of held requests.
///
/// The first record of the group tells: all behind it were written later, and wait behind it. Lives on the committer's thread.
struct WaitingLook {
    /// A partition and what it retains.
    struct Place {
        let partition: TopicPartition
        /// The first offset that is retained.
        let low: Int64
        /// The next offset.
        let end: Int64
    }

    /// What the library may hold of all partitions together, in bytes.
    private static let budget = 16 << 20
    /// Between two looks at what has come: 2 ms in seconds.
    private static let pause = 0.002

    private let configuration: WorkerConfiguration
    /// How long the brokers may take in all.
    private let limit: Duration

    init(_ configuration: WorkerConfiguration, limit: Duration) {
        self.configuration = configuration
        self.limit = limit
    }

    /// Reads each partition up to its first record of the group.
    ///
    /// - Parameters:
    ///   - places: The partitions.
    ///   - now: The present moment.
    /// - Returns: Those where that record may have been gone on with, and those where it did not come in time.
    /// - Throws: The library refused.
    func doubtful(among places: [Place], now: Timestamp) throws(KafkaError) -> Set<TopicPartition> {
        let filled = places.filter { $0.low < $0.end }
        guard !filled.isEmpty else { return [] }
        let room = QueueRoom(sharing: Self.budget, among: filled.count, atMost: .small)
        let reader = try PartitionReader(configuration.kafka, room: room, wakeUpFileDescriptor: -1)
        defer { reader.stop() }
        try reader.start(filled.map { (partition: $0.partition, start: StartOffset.offset($0.low)) })
        var open = Set(filled.indices)
        var doubtful = Set(filled.map(\.partition))
        let deadline = ContinuousClock.now + limit
        while !open.isEmpty, ContinuousClock.now < deadline {
            var hasMore = false
            for slot in open {
                let answer = look(reader, slot, filled[slot], now)
                if answer != .nothing { hasMore = true }
                guard case .isDoubtful(let isDoubtful) = answer else { continue }
                open.remove(slot)
                if !isDoubtful { doubtful.remove(filled[slot].partition) }
            }
            if !hasMore { Thread.sleep(forTimeInterval: Self.pause) }
        }
        return doubtful
    }

    private enum Answer: Equatable {
        /// Nothing has come.
        case nothing
        /// Another group's record has.
        case foreign
        /// The first of this group has, or there is none.
        case isDoubtful(Bool)
    }

    private func look(_ reader: PartitionReader, _ slot: Int, _ place: Place, _ now: Timestamp) -> Answer {
        var answer = Answer.nothing
        let result = reader.read(slot: slot) { record in
            answer = .foreign
            let headers = PollHeaders(record, group: configuration.groupID)
            // What came since the end was asked for is not what a position was lost for.
            guard record.offset < place.end else {
                answer = .isDoubtful(false)
                return
            }
            guard headers.isOurs ?? false else { return }
            var lane: Int?
            if case .delay(let delay) = PartitionRole(of: place.partition, in: configuration.topics) { lane = delay }
            let mayHaveGoneOn = DelayLanes.mayHaveGoneOn(
                in: lane, written: record.timestamp.map { Timestamp(milliseconds: $0) },
                due: headers.due.map { Timestamp(milliseconds: $0) }, now: now)
            answer = .isDoubtful(mayHaveGoneOn)
        }
        if case .endOfPartition = result { return .isDoubtful(false) }
        return answer
    }
}
