import Kafka
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

/// The gauges of what waits, as a scraper sees them while no broker answers.
@Suite(.serialized)
struct SilentBrokersTests {
    /// The time of a watch, which a test moves on.
    private final class Ahead: Sendable {
        private let duration = Mutex(Duration.zero)

        var now: ContinuousClock.Instant { .now + duration.withLock(\.self) }

        func advance(by more: Duration) { duration.withLock { $0 += more } }
    }

    private let ahead = Ahead()
    private let watch: BrokerWatch

    init() {
        watch = BrokerWatch { [ahead] in
            ahead.now
        } say: { _ in
        }
    }

    /// The samples of a metric.
    private static func samples(_ bench: Bench, _ name: String) -> [Double] {
        bench.exposition().split(separator: "\n").filter { $0.hasPrefix(name + "{") }.compactMap {
            Double($0.split(separator: " ").last ?? "")
        }
    }

    private static let waits = ["pushfan_oldest_waiting_seconds", "pushfan_consumer_lag_seconds", "pushfan_consumer_lag_records"]

    @Test func whatWaitedNotIsUnknownWithoutBrokersAndKnownAgainBehind() throws {
        let bench = try Bench(.embedded)
        let cluster = try #require(bench.cluster)
        let worker = try bench.startWorker { $0.kafka.watch = watch }
        defer { try? worker.stop() }
        func show(_ isThere: Bool) -> Bool {
            Self.waits.allSatisfy { name in
                let samples = Self.samples(bench, name)
                return samples.isEmpty != isThere && samples.allSatisfy { $0 == 0 }
            }
        }
        #expect(eventually { show(true) && bench.metric("pushfan_assigned_partitions") > 0 })
        cluster.setBroker(1, isUp: false)
        #expect(eventually { watch.silence > .zero })
        ahead.advance(by: .seconds(20))
        #expect(eventually { show(false) })
        #expect(watch.silence >= .seconds(5))
        cluster.setBroker(1, isUp: true)
        #expect(eventually { watch.silence < .seconds(5) && show(true) })
    }

    @Test func whatWaitedGrowsOnWithoutBrokers() throws {
        let bench = try Bench(.embedded)
        let cluster = try #require(bench.cluster)
        let worker = try bench.startWorker { $0.kafka.watch = watch }
        defer {
            cluster.setBroker(1, isUp: true)
            bench.gate.open()
            try? worker.stop()
        }
        bench.gate.close()
        try bench.publish(#"{"audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}}"#)
        #expect(eventually { bench.metric("pushfan_inflight_sends") > 0 })
        bench.clock.advance(by: .seconds(20))
        #expect(eventually { bench.metric("pushfan_oldest_waiting_seconds") >= 20 })
        cluster.setBroker(1, isUp: false)
        #expect(eventually { watch.silence > .zero })
        ahead.advance(by: .seconds(20))
        bench.clock.advance(by: .seconds(100))
        #expect(eventually { bench.metric("pushfan_oldest_waiting_seconds") >= 120 })
        #expect(eventually { Self.samples(bench, "pushfan_consumer_lag_seconds").isEmpty })
        #expect(bench.metric("pushfan_oldest_waiting_seconds") >= 120)
    }
}
