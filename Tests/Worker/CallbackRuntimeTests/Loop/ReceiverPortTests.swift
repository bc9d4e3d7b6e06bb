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
}
