import Basics
import Delivery
import Testing

struct LaneTopicsTests {
    private static func moment(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    /// A partition of a topic that the producer does not write to.
    private static let third = Membership.Partition(topic: "requests", number: 2)

    /// What a producer found, what brokers say later, and whether another producer must be made.
    @Test(
        arguments: [
            (.partitions(4), .partitions(4), false), (.missing, .missing, false),
            // Deleted, made again with fewer or more partitions, and made for the first time.
            (.partitions(4), .missing, true), (.partitions(4), .partitions(1), true), (.partitions(4), .partitions(8), true),
            (.missing, .partitions(4), true), (.unclear, .partitions(4), true),
            // Not allowed any more, or not yet.
            (.partitions(4), .partitions(0), true), (.missing, .partitions(0), false), (.partitions(0), .missing, false),
            // Leaders are being chosen, or the answer leaves the topic out.
            (.partitions(4), .unclear, false), (.missing, .unclear, false), (.partitions(4), nil, false),
        ] as [(LaneTopics.Answer, LaneTopics.Answer?, Bool)])
    func aTopicThatIsNotAsItWasFoundNeedsAnotherProducer(
        _ found: LaneTopics.Answer, _ answer: LaneTopics.Answer?, _ isOutdated: Bool
    ) {
        var topics = LaneTopics()
        topics.producerMade(["lane": found, "other": .partitions(1)])
        var answers: [String: LaneTopics.Answer] = ["other": .partitions(1), "requests": .missing]
        answers["lane"] = answer
        let first = topics.answered(answers, for: [Self.third], now: Self.moment(0))
        #expect(first == isOutdated)
        // The next producer finds what is there.
        topics.producerMade(answers.filter { $0.key != "requests" })
        let second = topics.answered(answers, for: [Self.third], now: Self.moment(5000))
        #expect(!second)
    }

    /// What brokers say of a topic, and when, in milliseconds; then what is known of its third partition.
    @Test(
        arguments: [
            ([], .present), ([(0, .partitions(3))], .present), ([(0, .unclear), (9000, .unclear)], .present),
            ([(0, .missing)], .doubtful), ([(0, .missing), (999, .missing)], .doubtful),
            ([(0, .missing), (1000, .missing)], .deleted), ([(0, .missing), (5000, .missing)], .deleted),
            // Made again with fewer partitions.
            ([(0, .partitions(2))], .doubtful), ([(0, .partitions(2)), (1000, .partitions(2))], .deleted),
            ([(0, .missing), (1000, .partitions(1))], .deleted),
            // Time alone proves nothing.
            ([(0, .missing), (5000, .unclear)], .doubtful), ([(0, .missing), (1, .missing), (9000, .unclear)], .doubtful),
            // Seen meanwhile, or made again.
            ([(0, .missing), (500, .partitions(4)), (1000, .missing)], .doubtful),
            ([(0, .missing), (1000, .missing), (6000, .partitions(3))], .present),
            ([(0, .missing), (1000, .missing), (6000, .unclear)], .deleted),
            // Not allowed to know says nothing.
            ([(0, .partitions(0)), (5000, .partitions(0))], .present),
        ] as [([(Int64, LaneTopics.Answer)], LaneTopics.Presence)])
    func aPartitionIsDeletedWhenBrokersKeepSayingSo(
        _ answers: [(Int64, LaneTopics.Answer)], _ presence: LaneTopics.Presence
    ) {
        var topics = LaneTopics()
        for (milliseconds, answer) in answers {
            let isOutdated = topics.answered(["requests": answer], for: [Self.third], now: Self.moment(milliseconds))
            #expect(!isOutdated, "the producer does not write there")
        }
        #expect(topics.presence(of: Self.third) == presence)
        #expect(topics.presence(of: .init(topic: "requests", number: 1)) == .present, "the commit has no position for it")
    }

    @Test func brokersAreAskedAtOnceThenNowAndThenAndAfterAFailure() {
        var topics = LaneTopics()
        func isDue(_ milliseconds: Int64, _ positions: [Membership.Partition] = []) -> Bool {
            topics.isDue(for: positions, now: Self.moment(milliseconds))
        }
        #expect(isDue(0))
        _ = topics.answered(["requests": .partitions(3)], for: [Self.third], now: Self.moment(100))
        #expect(!isDue(5099) && isDue(5100))
        topics.commitFailed()
        #expect(isDue(101))
        // Soon again where it is not clear whether a partition was deleted.
        _ = topics.answered(["requests": .missing], for: [Self.third], now: Self.moment(200))
        #expect(!isDue(1199, [Self.third]) && isDue(1200))
        _ = topics.answered(["requests": .missing], for: [Self.third], now: Self.moment(1200))
        #expect(!isDue(6199) && isDue(6200))
        #expect(isDue(1201, [Self.third]), "it may be there again")
    }

    /// A lane that an installation never had is no reason to ask more often.
    @Test func aTopicWithoutPositionsMayBeMissing() {
        var topics = LaneTopics()
        topics.producerMade(["lane": .missing])
        let isOutdated = topics.answered(["lane": .missing], for: [], now: Self.moment(0))
        #expect(!isOutdated)
        #expect(!topics.isDue(for: [], now: Self.moment(4999)))
    }
}
