import Synchronization
import TestSupport
import Testing

@testable import Kafka

/// Another cluster that answers in the place of the first.
@Suite(.serialized) struct ClusterIdentityTests {
    /// The ids that brokers tell, and the one that another cluster is known by in the end.
    @Test(
        arguments: [
            ([], nil), (["a"], nil), (["a", "a", ""], nil), (["", "b", "b"], nil), (["a", "b"], "b"),
            (["a", "b", "a", "c"], "b"),
        ] as [([String], String?)])
    func onlyAnIdThatDiffersFromTheFirstIsAnotherCluster(_ ids: [String], _ other: String?) {
        var identity = ClusterIdentity()
        let signs = ids.map { identity.note($0) }
        #expect(identity.other == other)
        #expect(signs.count { $0 } == (other == nil ? 0 : 1), "it is said once")
        #expect((identity.change == nil) == (other == nil))
        if let other, let change = identity.change { #expect(change.contains("is \(other)") && change.contains("is a")) }
    }

    @Test func noClientOfTheProcessGoesOnWhereAnotherClusterAnswers() throws {
        let (first, second) = (try MockCluster(), try MockCluster())
        let heard = Heard()
        let watch = BrokerWatch { heard.add($0) }
        defer { watch.end() }
        watch.onOtherCluster { heard.noteChange() }
        var configuration = first.configuration
        configuration.watch = watch
        let admin = try TopicAdmin(configuration)
        _ = try admin.describe(topics: [], timeout: farDeadline)
        try first.createTopic("t", partitions: 1)
        let producer = try Producer(configuration, transactionalID: nil)
        let topic = try producer.warmUp(topics: ["t"], timeout: farDeadline)[0]
        #expect(watch.clusterFailure == nil)
        var other = second.configuration
        other.watch = watch
        let error = #expect(throws: KafkaError.self) {
            _ = try TopicAdmin(other).describe(topics: [], timeout: farDeadline)
        }
        #expect(error?.isOtherCluster == true && error?.isFatal == true)
        #expect(watch.clusterFailure?.isOtherCluster == true)
        let value: [UInt8] = [1]
        let refusal = #expect(throws: KafkaError.self) {
            try producer.produce(to: topic, key: nil, value: value.span, headers: HeaderList())
        }
        #expect(refusal?.isOtherCluster == true, "nothing more is written, by whichever client")
        #expect(throws: KafkaError.self) { try admin.describe(topics: [], timeout: farDeadline) }
        producer.close(timeout: .zero)
        #expect(heard.changeCount == 1)
        #expect(heard.events.count { if case .otherCluster = $0 { true } else { false } } == 1)
        first.close()
        second.close()
    }
}

/// The notices and calls of a watch.
private final class Heard: Sendable {
    private let state = Mutex<(events: [BrokerSilence.Notice], changeCount: Int)>(([], 0))

    var events: [BrokerSilence.Notice] { state.withLock(\.events) }
    var changeCount: Int { state.withLock(\.changeCount) }

    func add(_ notice: BrokerWatch.Notice) { state.withLock { $0.events.append(notice.event) } }
    func noteChange() { state.withLock { $0.changeCount += 1 } }
}
