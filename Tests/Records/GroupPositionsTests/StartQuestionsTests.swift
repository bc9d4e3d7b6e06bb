import Delivery
import PushModel
import TestSupport
import Testing

@testable import GroupPositions
@testable import Kafka

/// The questions that it takes to learn where partitions begin, and what follows from the answers.
struct StartQuestionsTests {
    private static let requests = (0..<4).map { "requests\($0)" }
    private static let delays = (0..<7).map { "delay\($0)" }
    /// The time that an answer may take.
    private static let limit = Duration.seconds(5)

    private static func terms(_ start: StartRule, kafka: KafkaConfiguration? = nil) -> GroupTerms {
        GroupTerms(
            kafka: kafka ?? KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), group: "g", requests: requests, delays: delays,
            held: "held", parents: "parents", start: start)
    }

    private static func partition(_ topic: String, _ number: Int32 = 0) -> TopicPartition {
        TopicPartition(topic: topic, partition: number)
    }

    /// The positions in so many partitions of all 13 topics. Without `offset` in each of them, there is none in every other, from the first on.
    private static func positions(_ count: Int32, offset: Int64 = 3, inAll: Bool = false) -> [CommittedOffset] {
        terms(.beginning).topics.flatMap { topic in
            (0..<count).map {
                CommittedOffset(partition: partition(topic, $0), offset: inAll || !$0.isMultiple(of: 2) ? offset : nil)
            }
        }
    }

    private static func starts(
        of positions: [CommittedOffset], by start: StartRule, behindCommit: Set<TopicPartition> = [],
        kafka: KafkaConfiguration? = nil, asking brokers: FakeBrokers
    ) throws -> PartitionStarts {
        let terms = terms(start, kafka: kafka)
        let consumer = try Consumer(terms.kafka, groupID: terms.group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        var finder = StartFinder(
            terms, group: consumer.group, limits: StartFinder.Limits(), now: { Timestamp(milliseconds: 1_000_000_000) },
            makeProber: { LogProber(limit: limit, most: 10_000) { brokers } })
        return try finder.starts(of: positions, behindCommit: behindCommit)
    }

    @Test(.tags(.waits), arguments: [1, 2, 400]) func manyPartitionsOfManyTopicsTakeNoMoreQuestionsThanOne(count: Int32) throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        let starts = try Self.starts(of: Self.positions(count), by: .beginning, asking: brokers)
        let unplaced = 13 * Int((count + 1) / 2)
        // Of those with a position the ends of requests and of held ones matter.
        #expect(brokers.questions == [.ends(unplaced + 5 * Int(count / 2)), .beginnings(unplaced)])
        #expect(brokers.timeouts == [Self.limit, Self.limit])
        #expect(starts.rulings.count == unplaced && starts.rulings.values.allSatisfy { $0.decision == .offset(0) })
        #expect(starts.unanswered.isEmpty && starts.away.isEmpty)

        let dated = FakeBrokers()
        dated.bounds = Dictionary(uniqueKeysWithValues: Self.requests.map { (Self.partition($0), 2..<9) })
        // The cluster says that there are no partitions of other workers.
        let cluster = try MockCluster()
        defer { cluster.close() }
        for topic in Self.requests { try cluster.createTopic(topic, partitions: Int(count)) }
        let late = try Self.starts(
            of: Self.positions(count, offset: 0), by: .moment(Timestamp(milliseconds: 5)), kafka: cluster.configuration,
            asking: dated)
        #expect(dated.questions.count == 3 && dated.questions.last == .times(4), "\(dated.questions)")
        #expect(Self.requests.allSatisfy { late.rulings[Self.partition($0)]?.decision == .offset(9) })

        let placed = FakeBrokers()
        placed.usualBounds = 0..<9
        let begun = try Self.starts(of: Self.positions(count, inAll: true), by: .safe, asking: placed)
        #expect(placed.questions == [.ends(5 * Int(count))] && placed.timeouts == [.seconds(1)])
        #expect(begun.rulings.isEmpty && begun.unanswered.isEmpty && begun.ends.count == 5 * Int(count))
    }

    @Test func aPartitionWithoutALeaderTakesNothingFromTheOthers() throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        let away = [Self.partition("requests1", 2), Self.partition("delay3", 4)]
        brokers.leaderless = Set(away)
        let positions = Self.positions(400)
        let starts = try Self.starts(of: positions, by: .beginning, asking: brokers)
        let all = 13 * 200 + 5 * 200
        #expect(brokers.questions.prefix(2) == [.ends(all), .leaders(all)])
        #expect(brokers.questions.count == 6, "\(brokers.questions)")
        #expect(brokers.questions.last == .beginnings(13 * 200 - 2))
        #expect(brokers.timeouts[0] == Self.limit && brokers.timeouts[1...4].allSatisfy { $0 <= .seconds(1) })
        #expect(Set(starts.away) == Set(away))
        for position in positions where position.offset == nil {
            let expected = away.contains(position.partition) ? StartRule.Decision.undecided : .offset(0)
            #expect(starts.rulings[position.partition]?.decision == expected)
        }
    }

    @Test func aQuestionNamesNoMoreThanAThousandPartitions() throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        brokers.leaderless = [Self.partition("requests0", 1200)]
        let prober = LogProber(limit: Self.limit) { brokers }
        let partitions = (0..<2500).map { Self.partition("requests0", $0) }
        let answers = try prober.ends(of: partitions)
        #expect(answers.values == partitions.map { $0.partition == 1200 ? nil : 9 } && answers.failure?.isLeaderAway == true)
        #expect(brokers.questions.prefix(3) == [.ends(1000), .ends(1000), .leaders(1000)])
        #expect(brokers.questions.last == .ends(500) && brokers.timeouts.last == .seconds(1))
    }

    @Test func theEndsOfWhatASilentBrokerLeadsAreUnknown() throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        brokers.silent = [1]
        let prober = LogProber(limit: .milliseconds(700)) { brokers }
        let partitions = Self.requests.flatMap { topic in (0..<6).map { Self.partition(topic, $0) } }
        let answers = try prober.ends(of: partitions)
        #expect(answers.values == partitions.map { $0.partition % 3 == 1 ? nil : 9 } && answers.failure?.isUnreachable == true)
        #expect(brokers.questions == [.ends(24), .leaders(24), .ends(8), .ends(8), .ends(8)])
        #expect(brokers.timeouts[2...].allSatisfy { $0 <= .milliseconds(700) })
        #expect(try prober.ends(of: []).values.isEmpty && brokers.questions.count == 5)
        // Where all have positions, nobody waits longer than a second for them together.
        let positions = Self.positions(6, inAll: true)
        let starts = try Self.starts(of: positions, by: .safe, asking: brokers)
        #expect(starts.rulings.isEmpty && starts.away.isEmpty && starts.ends.count == 5 * 4)
    }

    @Test func aBeginningThatIsAwayLeavesAPartitionUndecidedOrFailsIfItWasRead() throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        let partitions = (0..<6).map { Self.partition("requests0", $0) }
        let terms = Self.terms(.moment(Timestamp(milliseconds: 5)))
        var probes = partitions.map { PartitionProbe(CommittedOffset(partition: $0, offset: nil), terms: terms) }
        for index in probes.indices { probes[index].end = 9 }
        brokers.silent = [2]
        let prober = LogProber(limit: Self.limit) { brokers }
        #expect(try prober.complete(&probes, since: 5)?.isUnreachable == true)
        #expect(probes.map(\.end) == [9, 9, nil, 9, 9, nil] && probes.map(\.low) == [0, 0, nil, 0, 0, nil])
        #expect(brokers.questions.last == .times(4))
        // One that ends before its position, and does not say where it begins, cannot be begun.
        let behind = partitions[0]
        let beyond = FakeBrokers()
        beyond.bounds[behind] = 0..<2
        beyond.leaderless = [behind]
        #expect(throws: KafkaError.self) {
            try Self.starts(
                of: [CommittedOffset(partition: behind, offset: 5)], by: .beginning, behindCommit: [behind], asking: beyond)
        }
    }

    @Test func aTopicThatIsNotThereHasNothingUnlessItHasRequests() throws {
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        brokers.missing = ["delay2", "parents"]
        let positions = Self.positions(3)
        let starts = try Self.starts(of: positions, by: .beginning, asking: brokers)
        #expect(starts.rulings.count == 11 * 2)
        #expect(starts.rulings.keys.allSatisfy { !brokers.missing.contains($0.topic) })
        #expect(brokers.questions.last == .beginnings(11 * 2))
        brokers.missing = ["requests3"]
        #expect { try Self.starts(of: positions, by: .beginning, asking: brokers) } throws: {
            ($0 as? KafkaError)?.isUnknownTopicOrPartition == true
        }
        // That nobody may see a topic whose positions are all known holds up nothing, and hides no end of another.
        brokers.missing = []
        brokers.forbidden = ["requests3"]
        let known = try Self.starts(of: Self.positions(3, inAll: true), by: .safe, asking: brokers)
        #expect(known.rulings.isEmpty && known.ends.count == 4 * 3 && known.ends.keys.allSatisfy { $0.topic != "requests3" })
    }

    /// A topic in which the group has a position in partition 0 is known to it, whoever reads that. In a strange one `end` has partition 0
    /// wait for those of other workers.
    @Test(.tags(.waits), arguments: [StartRule.safe, .end]) func topicsWithNeighboursAreAskedAboutTogether(rule: StartRule) throws
    {
        let cluster = try MockCluster()
        defer { cluster.close() }
        for topic in Self.requests { try cluster.createTopic(topic, partitions: 3) }
        let (known, own, strange) = (Self.requests[0], Self.requests[1], Self.requests[2])
        let consumer = try Consumer(cluster.configuration, groupID: "g", wakeUpFileDescriptor: -1)
        let placed = [Self.partition(known), Self.partition(own), Self.partition(strange, 2)]
        let commits = placed.map { OffsetCommit($0, offset: 4) }
        #expect(eventually { (try? consumer.group.commit(commits)) != nil })
        consumer.close(timeout: .seconds(1))
        let brokers = FakeBrokers()
        brokers.usualBounds = 0..<9
        let starts = try Self.starts(
            of: [
                CommittedOffset(partition: Self.partition(known, 1), offset: nil),
                CommittedOffset(partition: Self.partition(own, 0), offset: 4),
                CommittedOffset(partition: Self.partition(own, 1), offset: nil),
                CommittedOffset(partition: Self.partition(strange, 1), offset: nil),
            ], by: rule, kafka: cluster.configuration, asking: brokers)
        // Of the strange topic partition 0 is asked about as well, and not partition 2.
        let questions = [FakeBrokers.Question.ends(5), .beginnings(4), .times(4)]
        #expect(brokers.questions == Array(questions.prefix(rule == .safe ? 3 : 2)), "\(brokers.questions)")
        #expect(starts.rulings[Self.partition(known, 1)]?.decision == .offset(0))
        #expect(starts.rulings[Self.partition(own, 1)]?.decision == .offset(0))
        #expect(starts.rulings[Self.partition(strange, 1)]?.decision == (rule == .safe ? .refused : .offset(9)))
        let first = try Self.starts(
            of: [CommittedOffset(partition: Self.partition(strange), offset: nil)], by: rule, kafka: cluster.configuration,
            asking: brokers)
        #expect(first.rulings[Self.partition(strange)]?.decision == (rule == .safe ? .refused : .undecided))
        #expect(first.awaited == (rule == .safe ? [] : [Self.partition(strange, 1)]) && starts.awaited.isEmpty)
    }
}
