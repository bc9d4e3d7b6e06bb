package import Delivery
import FanOut
package import JobSupport
import Kafka
import PushModel
package import Replay
package import Replays
package import ResultQuery
import Synchronization
package import TestSupport

/// A broker inside the process with the topics that replays read, and a folder for plans. It cannot do transactions.
package final class ReplayBroker {
    package static let now: Int64 = 1_795_262_400_000

    package let topics = Topics()
    package let folder: TemporaryFolder
    private let cluster: MockCluster
    private let producer: Producer

    package init() throws {
        cluster = try MockCluster()
        folder = try TemporaryFolder()
        for topic in [topics.requests, topics.results, topics.replays, topics.control] {
            try cluster.createTopic(topic, partitions: 1)
        }
        try cluster.createTopic(topics.deadLetters, partitions: 2)
        producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
    }

    deinit {
        producer.close(timeout: .zero)
        cluster.close()
    }

    /// The plan's file.
    package var path: String { folder.path("plan.ndjson") }

    package func context(isCancelled: @escaping @Sendable () -> Bool = { false }) -> JobContext {
        JobContext(
            kafka: cluster.configuration, topics: topics, timeout: farDeadline, now: { Self.now }, isCancelled: isCancelled)
    }

    /// Writes a record.
    package func write(
        _ value: String, to name: String, partition: Int32 = 0, key: String = "key",
        headers: [(name: String, value: String)] = [], at time: Int64 = now
    ) throws {
        let topic = try producer.topic(named: name)
        var list = HeaderList()
        for (name, value) in headers { list.append(name, value: value) }
        try producer.produce(
            to: topic, partition: partition, key: Array(key.utf8).span, value: Array(value.utf8).span, headers: list,
            timestamp: time)
        try producer.flush(timeout: farDeadline)
    }

    /// Writes requests for Apple and Windows, and their results with the outcomes of the two calls. A result names the time of its request's
    /// record, if any.
    package func writeHistory(
        _ outcomes: [(apple: String, windows: String)], headers: HeadersOfResult = .absent, publishedAt time: Int64? = nil
    ) throws {
        let timings = time.map { #","timings":{"published_at":"\#(Timestamp(milliseconds: $0).text)"}"# } ?? ""
        for (index, (apple, windows)) in outcomes.enumerated() {
            try write(
                #"{"id":"r\#(index)","audience":{"users":["u"]},"platforms":["apple","windows"],"message":{"title":"Hi"}}"#,
                to: topics.requests)
            let good = [apple, windows].count { $0 == "success" }
            try write(
                """
                {"schema_version":1,"request_id":"r\(index)","kind":"final","state":"\(good == 2 ? "sent" : "partial")",\
                "outcome":"transient","sends":[{"index":0,"platform":"apple","outcome":"\(apple)"},\
                {"index":1,"platform":"windows","outcome":"\(windows)"}],"targets":{"planned":2},\
                "origin":{"topic":"\(topics.requests)","partition":0,"offset":"\(index)"}\(timings)}
                """, to: topics.results, headers: headers.list(of: "r\(index)"))
        }
    }

    /// Writes a dead letter of the requests topic.
    package func writeLetter(
        _ value: String, partition: Int32 = 0, at time: Int64 = now, reason: String = "unexpected_end", isCut: Bool = false
    ) throws {
        let cut = isCut ? [("pushfan-dlq-cut-bytes", "9")] : []
        try write(
            value, to: topics.deadLetters, partition: partition,
            headers: [
                ("pushfan-dlq-topic", topics.requests), ("pushfan-dlq-reason", reason), ("pushfan-dlq-message", "The text ends."),
            ] + cut, at: time)
    }

    package func letter(_ partition: Int32, _ offset: Int64) -> RecordPlace {
        RecordPlace(topic: topics.deadLetters, partition: partition, offset: offset)
    }

    package static func header(_ source: ReplayPlanHeader.Source = .results) -> ReplayPlanHeader {
        var header = ReplayPlanHeader(jobID: "job", createdAt: Timestamp(milliseconds: now), filter: "", actor: "ann")
        header.source = source
        return header
    }

    /// Plans all results, or those that a filter wants.
    package func plan(
        _ header: ReplayPlanHeader, _ context: JobContext, _ filter: ResultFilter = ResultFilter()
    ) throws -> ReplayPlanHeader {
        var maker = try PlanMaker(context, planning: FanOutPlanner.Configuration(), header: header, path: path)
        try maker.plan(PlanMaker.narrowed(filter), limit: 1000)
        return maker.header
    }

    /// Plans dead letters.
    package func planLetters(
        _ named: Set<Original> = [], replacement: String? = nil, claiming source: String? = nil, _ context: JobContext
    ) throws -> ReplayPlanHeader {
        var plan = DeadLetterPlan(Self.header(.deadletter), [], ReplayHistory(), context, path: path)
        try plan.make(ResultFilter(), named: named, replacement: replacement.map { Array($0.utf8) }, claiming: source)
        return plan.header
    }
}

/// Cancels at a question.
package final class CancelledAt: Sendable {
    private let left: Atomic<Int>

    /// Cancels when it was asked so many times before.
    package init(_ count: Int) { left = Atomic(count) }

    package var isCancelled: Bool { left.subtract(1, ordering: .relaxed).newValue < 0 }
}
