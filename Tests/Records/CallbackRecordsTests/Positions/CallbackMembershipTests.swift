import Dispatch
import Kafka
import TestSupport
import Testing

@testable import CallbackRecords

@Suite(.tags(.threads)) struct CallbackMembershipTests {
    private func join(
        _ broker: CallbackBroker, as name: String? = nil, onChange: @escaping @Sendable (Set<TopicPartition>) -> Void
    ) -> CallbackMembership {
        CallbackMembership(
            broker.kafka, groupID: "sharing", instanceID: name, topics: [broker.topics.results, broker.topics.replays],
            onChange: onChange)
    }

    @Test func theOnlyMemberHasAllPartitionsAndGivesThemUpAtTheEnd() throws {
        let broker = try CallbackBroker(partitions: 3)
        let changes = Box<[Set<TopicPartition>]>([])
        let member = join(broker, as: "a") { partitions in changes.withLock { $0.append(partitions) } }
        let all = Set((0..<3).flatMap { [partition($0), partition($0, of: broker.topics.replays)] })
        #expect(eventually { changes.withLock { $0.last } == all })
        #expect(eventually { member.isKnown })
        member.close()
        #expect(changes.withLock { $0.last } == [])
        member.close()
    }

    @Test func aPartitionIsTheOthersOnlyAfterItWasGivenUp() throws {
        let broker = try CallbackBroker(partitions: 4)
        let (first, second) = (Box<Set<TopicPartition>>([]), Box<Set<TopicPartition>>([]))
        let isShared = Box(false)
        let mayGiveUp = DispatchSemaphore(value: 0)
        let one = join(broker) { partitions in
            if partitions.isEmpty, !first.withLock({ $0.isEmpty }) {
                mayGiveUp.wait()
                mayGiveUp.signal()
            }
            first.withLock { $0 = partitions }
        }
        #expect(eventually { first.withLock { $0.count } == 8 })
        let two = join(broker) { partitions in
            if !partitions.isDisjoint(with: first.withLock { $0 }) { isShared.withLock { $0 = true } }
            second.withLock { $0 = partitions }
        }
        mayGiveUp.signal()
        #expect(eventually { first.withLock { $0.count } == 4 && second.withLock { $0.count } == 4 })
        #expect(first.withLock { $0 }.isDisjoint(with: second.withLock { $0 }))
        #expect(!isShared.withLock { $0 })
        one.close()
        #expect(eventually { second.withLock { $0.count } == 8 })
        two.close()
    }

    @Test func aProblemIsOverWhenTheGroupAnswersAgainWithoutARebalance() throws {
        let broker = try CallbackBroker()
        let changes = Box<[Set<TopicPartition>]>([])
        let member = join(broker) { partitions in changes.withLock { $0.append(partitions) } }
        #expect(eventually { changes.withLock { $0.last?.count } == 4 })
        let before = changes.withLock { $0 }
        // The group has moved, and the first who is asked for the place refuses to say.
        broker.cluster.failNext(apiKey: 10, codes: [30])
        broker.cluster.failNext(apiKey: 12, codes: [16])
        #expect(eventually { member.problem?.isAuthorization == true })
        #expect(eventually { member.problem == nil })
        #expect(changes.withLock { $0 } == before)
        member.close()
    }
}
