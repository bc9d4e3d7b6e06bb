import EventLoop
import Kafka
import Publishing
import PushModel

/// How fast the busiest partition of the topics of requests grows, whoever writes to it.
struct TopicRate: Sendable, Equatable {
    /// Seconds over which it is measured. A topic that is younger seems slower until then.
    static let span: Int64 = 300
    /// The limit of each question.
    private static let timeout = Duration.seconds(2)

    /// The busiest partition, or nil where there is none.
    let partition: TopicPartition?
    /// The offsets by which it grows in a second.
    let perSecond: Double

    /// Finds the busiest partition. Each growth is that within ``span``.
    init(_ growths: [PartitionGrowth]) {
        let busiest = growths.max { $0.count < $1.count }
        partition = busiest?.partition
        perSecond = Double(busiest?.count ?? 0) / Double(Self.span)
    }

    /// Asks brokers how far the topics have grown. Blocks.
    init(of topics: RequestTopics, asking producer: Producer) throws(KafkaError) {
        let now = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        let start = now.adding(seconds: -Self.span).milliseconds
        self.init(try producer.growths(of: Set(topics.all), since: start, timeout: Self.timeout))
    }
}
