import Basics
import CallbackRecords
import EventLoop
import Kafka
import Observability
import ResultFeed
import TestSupport
import Testing
import Webhooks

@testable import CallbackRuntime

/// What the loop has of a receiver, without a loop: a clock that moves when it is told to, and topics in memory.
@Suite struct ReceiverPortTests {
    private struct World {
        let feeds = [CallbackBench.Feed(), CallbackBench.Feed()]
        let inbox: CallbackInbox
        let connector: ReceiverConnector
        let port: ReceiverPort
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)

        init(_ receiver: Receiver) throws {
            inbox = try CallbackInbox()
            connector = try ReceiverConnector(ReceiverSet(), poller: Poller(), log: .silent, now: now)
            let metrics = CallbackMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
            port = try ReceiverPort(
                1, receiver: receiver, connector: connector, meter: ReceiverMeter(receiver.name, in: metrics), log: .silent,
                now: now)
            for place in CallbackBench.partitions { port.desk.give(place, from: 0) }
        }

        /// The readings so far, by source.
        var readCounts: [Int] { feeds.map { $0.readCount.withLock { $0 } } }

        /// The results behind the receiver, as it looked last.
        var behind: Int64? { port.status(now: now, at: 0).behind }

        /// Lets the receiver measure its distance from the ends.
        func measureLag() { port.measureLag(to: feeds.map(\.end), of: CallbackBench.topics) }

        /// Lets the loop turn so often, with a second between two turns.
        mutating func turn(_ count: Int) {
            for _ in 0..<count {
                now += 1_000_000_000
                port.read(feeds, topics: CallbackBench.topics, inbox: inbox, now: now)
                for message in inbox.take() {
                    guard case .read(_, let reading) = message else { continue }
                    port.take(reading, of: CallbackBench.topics.name(of: reading.source), now: now)
                }
            }
        }
    }

    @Test func oneThatHasReadAllReadsNothingUntilThereIsNews() throws {
        var world = try World(sampleReceiver())
        world.turn(10)
        #expect(world.readCounts == [1, 1])
        for source in CallbackSource.allCases {
            let before = world.readCounts
            world.inbox.noteNews(of: source)
            world.turn(10)
            var expected = before
            expected[source.rawValue] += 1
            #expect(world.readCounts == expected)
        }
    }

    @Test func whatIsBehindTheLastRecordIsPassedThoughNoNewsCome() throws {
        var world = try World(sampleReceiver())
        world.turn(10)
        world.measureLag()
        world.turn(10)
        #expect(world.readCounts == [1, 1] && world.behind == 0, "nothing is behind, so nothing is read")
        world.feeds[CallbackSource.results.rawValue].mark(1)
        world.measureLag()
        #expect(world.behind == 1)
        world.turn(10)
        world.measureLag()
        world.turn(10)
        #expect(world.readCounts == [2, 1] && world.behind == 0)
        let partition = TopicPartition(topic: CallbackBench.topics.results, partition: 1)
        #expect(world.port.desk.takeOffsets()[partition] == 1)
    }
}
