import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// The backlog in seconds as a scraper sees it, with work in delay lanes.
@Suite(.serialized)
struct BacklogMetricsTests {
    /// A record of a delay lane; moments are seconds from now.
    private struct Delayed {
        var published: Int64
        var written: Int64
        var due: Int64
        var attempts = 0
    }

    /// Writes records to a delay lane as a worker would have.
    private static func write(_ records: [Delayed], lane: Int, to bench: Bench) throws {
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.delays[lane]], timeout: farDeadline).first)
        let now = bench.clock.millisecondsSince1970
        let request = #"{"audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}}"#
        for (offset, record) in records.enumerated() {
            let due = now + record.due * 1000
            let history =
                #"{"v":1,"plan":"0","consumed":1,"throttled":0,"hub":0,"calls":[{"attempts":\#(record.attempts),"due":\#(due)}],"#
                + #""attempts":[]}"#
            var headers = HeaderList()
            for (name, value) in [
                ("pushfan-group", bench.name), ("pushfan-lane", "normal"), ("pushfan-origin-topic", bench.topics.requests),
                ("pushfan-origin-partition", "0"), ("pushfan-origin-offset", "\(offset)"),
                ("pushfan-origin-timestamp-ms", "\(now + record.published * 1000)"), ("pushfan-not-before-ms", "\(due)"),
                ("pushfan-history", history),
            ] {
                headers.append(name: Array(name.utf8).span, value: Array(value.utf8).span)
            }
            try producer.produce(
                to: topic, key: nil, value: Array(request.utf8).span, headers: headers, timestamp: now + record.written * 1000)
        }
        try producer.flush(timeout: farDeadline)
    }

    private static func lag(_ bench: Bench, lane: Int) -> Double {
        bench.metric("pushfan_consumer_lag_seconds", #"topic="\#(bench.topics.delays[lane])""#)
    }

    /// Whether the loop has told of a record in a delay lane, and so has measured all there is.
    private static func knows(_ bench: Bench, lane: Int) -> Bool {
        bench.status.statuses.first?.partitions.contains {
            $0.topic == bench.topics.delays[lane] && $0.oldest != nil
        } ?? false
    }

    /// Stops a worker that gives up what it still has to do when its time for that is over.
    private static func stop(_ worker: RunningWorker, _ bench: Bench) throws {
        worker.askToStop()
        #expect(bench.passTime(by: .milliseconds(100)) { worker.hasEnded })
        try worker.wait()
    }

    /// Paused by what the hub says, and by a circuit that opens.
    @Test(arguments: ["status=429,retry-after=300", "status=503"])
    func whatIsDueAndUnreadWhileTheHubIsPausedWaitsFromWhenItWasDue(_ fault: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: fault)])
        // More than may lie in memory, so that some stay unread.
        try Self.write(
            Array(repeating: Delayed(published: -60_000, written: -30_000, due: -40), count: 1400), lane: 0, to: bench)
        try Self.write([Delayed(published: -600, written: -30, due: 3000)], lane: 3, to: bench)
        let worker = try bench.startWorker { configuration in configuration.maxInFlight = 1 }
        #expect(eventually { Self.knows(bench, lane: 3) && Self.lag(bench, lane: 0) >= 40 })
        let before = Self.lag(bench, lane: 0)
        #expect(before < 20_000, "not since it was written, or published")
        #expect(bench.metric("pushfan_consumer_lag_records", #"topic="\#(bench.topics.delays[0])""#) >= 300)
        let oldest = bench.metric("pushfan_oldest_waiting_seconds")
        #expect((40..<20_000).contains(oldest), "\(oldest)")
        #expect(Self.lag(bench, lane: 3) == 0, "not due yet")
        // It grows with the clock although nothing moves.
        bench.clock.advance(by: .seconds(20))
        #expect(eventually { Self.lag(bench, lane: 0) >= before + 20 })
        try worker.stop()
    }

    @Test func whatIsDueBehindAFullWindowWaits() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "hang,count=1")])
        try Self.write(Array(repeating: Delayed(published: -60_000, written: -40, due: -30), count: 200), lane: 0, to: bench)
        let worker = try bench.startWorker { configuration in
            configuration.window = 64
            configuration.requestTimeout = .seconds(3600)
        }
        let unread = #"topic="\#(bench.topics.delays[0])""#
        #expect(
            eventually {
                (1..<200).contains(bench.metric("pushfan_consumer_lag_records", unread)) && bench.hub.calls().count >= 64
            })
        #expect(eventually { Self.lag(bench, lane: 0) >= 30 })
        #expect(Self.lag(bench, lane: 0) < 20_000)
        try Self.stop(worker, bench)
    }

    @Test func whatIsDueWhileResultsCannotBeCommittedWaits() throws {
        // Only the embedded broker refuses what it is told to.
        let bench = try Bench(.embedded, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker { configuration in
            configuration.transactionTimeout = .seconds(2)
        }
        try bench.publish(#"{"audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}}"#)
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        // OffsetCommit (key 8) answers with GROUP_AUTHORIZATION_FAILED (30).
        bench.cluster?.failNext(apiKey: 8, codes: [Int32](repeating: 30, count: 1000))
        bench.gate.open()
        #expect(eventually { bench.metric("pushfan_commit_failures_total") >= 1 })
        try Self.write(Array(repeating: Delayed(published: -600, written: -40, due: -30), count: 5), lane: 0, to: bench)
        #expect(eventually { Self.lag(bench, lane: 0) >= 30 })
        #expect(bench.hub.calls().count == 1, "nothing is begun whose result could not be recorded")
        #expect(throws: WorkerFailure.self) { try Self.stop(worker, bench) }
    }

    @Test func whatIsNotDueYetDoesNotWaitHoweverOldItIs() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(
            [
                Delayed(published: -7200, written: -1200, due: 1800, attempts: 1),
                Delayed(published: -7200, written: -1200, due: 1900),
            ], lane: 3, to: bench)
        let worker = try bench.startWorker()
        #expect(eventually { Self.knows(bench, lane: 3) })
        #expect(bench.metric("pushfan_consumer_lag_records", #"topic="\#(bench.topics.delays[3])""#) == 1)
        #expect(bench.metric("pushfan_consumer_lag_seconds") == 0)
        #expect(bench.metric("pushfan_oldest_waiting_seconds") == 0)
        try worker.stop()
    }

    @Test func aQuestionForAnOutcomeWaitsFromWhenItIsDue() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.hub.register(EmulatedDevice(id: "d", platform: "fcmv1", handle: "handle", tags: ["asked"]))
        bench.hub.arm([try Fault(parsing: "status=429,retry-after=300,tags=refused")])
        let worker = try bench.startWorker()
        func request(_ tag: String, _ more: String = "") -> String {
            #"{"audience":{"categories":["\#(tag)"]},"platforms":["fcmv1"],"message":{"title":"T"}\#(more)}"#
        }
        try bench.publish(all: [request("asked", #","options":{"track_outcome":true}"#)], partition: 0)
        try bench.results(1)
        // From now on the hub is called for nothing, and the refused request waits for a time that has not come. A hub that has just
        // accepted another call would not be paused.
        bench.clock.advance(by: .seconds(2))
        try bench.publish(all: [request("refused")], partition: 0)
        #expect(eventually { bench.status.statuses.first?.throttledUntil != nil })
        bench.clock.advance(by: .seconds(30))
        #expect(
            eventually {
                bench.metric("pushfan_oldest_waiting_seconds") >= 19 && bench.metric("pushfan_consumer_lag_seconds") == 0
            }, "it was taken")
        let oldest = bench.metric("pushfan_oldest_waiting_seconds")
        // The first question is due 10 s after the answer.
        let askedAt = try #require(bench.hub.calls().first).at
        #expect(oldest <= Double(bench.clock.millisecondsSince1970 - askedAt) / 1000 - 9.9, "\(oldest)")
        try worker.stop()
    }
}
