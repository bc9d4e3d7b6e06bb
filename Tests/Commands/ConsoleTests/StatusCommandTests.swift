import Delivery
import HTTPServing
import Kafka
import Settings
import TestSupport
import Testing

@testable import Console

@Suite struct StatusCommandTests {
    private static let minute: Int64 = 60_000
    private static let now: Int64 = 1_795_262_400_000

    /// A broker with five requests in partition 0, a minute apart, the last a minute ago; `committed` is where the group stands.
    private static func broker(committed: Int64?, metadata: String = "") throws -> Broker {
        let broker = try Broker()
        let configuration = KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers)
        let producer = try Producer(configuration, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try producer.topic(named: "push.requests.v1")
        for index in 0..<5 {
            try producer.produce(
                to: topic, partition: 0, key: nil, value: Array("{}".utf8).span, timestamp: now - Int64(5 - index) * minute)
        }
        try producer.flush(timeout: farDeadline)
        guard let committed else { return broker }
        let consumer = try Consumer(configuration, groupID: "pushfan", wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        try consumer.group.commit([
            OffsetCommit(TopicPartition(topic: "push.requests.v1", partition: 0), offset: committed, metadata: metadata)
        ])
        return broker
    }

    @Test func positionsAndAgesComeFromTheBrokerAlone() throws {
        var finished = FinishedOffsets()
        finished.insert(1)
        let broker = try Self.broker(committed: 2, metadata: finished.encoded())
        let outcome = broker.harness.run("status -o json")
        #expect(outcome.code == .done)
        #expect(outcome.output.contains(#""lag_records":2,"lag_ms":180000"#))
        #expect(
            outcome.output.contains(
                #""partition":0,"low":0,"head":5,"committed":2,"finished_ahead":1,"window_percent":0,"lag_records":2,"lag_ms":180000"#
            ))
        #expect(outcome.output.contains("what only workers know"))
        #expect(broker.harness.run("status --max-age 4m").code == .done)
        let late = broker.harness.run("status --max-age 2m")
        #expect(late.code == .failed)
        #expect(late.output.hasPrefix("group pushfan; 2 requests wait, the oldest for 3 min 0 s\n"))
        #expect(late.messages.contains("not asked: what only workers know"))
    }

    @Test func whatIsFinishedAtThePositionIsNotTheOldest() throws {
        let broker = try Self.broker(committed: nil)
        #expect(broker.harness.run("status -o json").output.contains(#""lag_records":5,"lag_ms":300000"#))
        let done = try Self.broker(committed: 5)
        #expect(done.harness.run("status -o json").output.contains(#""lag_records":0,"lag_ms":0"#))
    }

    @Test func incidentsAreReadFromTheTopicOfGateways() throws {
        let broker = try Self.broker(committed: 5)
        let before = broker.harness.run("status --incidents")
        #expect(before.code == .done && before.messages.contains("0 incidents in 14 days"))
        let producer = try Producer(
            KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        try? broker.cluster.createTopic("push.history.v1", partitions: 1)
        let topic = try #require(try producer.warmUp(topics: ["push.history.v1"], timeout: farDeadline).first)
        let minute = #"{"at":"2026-11-21T11:00:00.000Z","covered_ms":60000,"finished":{"sent":1}}"#
        let throttled =
            #"{"incident":{"id":"x","kind":"hub_throttled","subject":"sh\u001bop","from":"2026-11-21T11:00:00.000Z","lasted_ms":720000,"#
            + #""seen_ms":780000,"watched_ms":780000,"over":true,"failed":0,"expired":12,"waited":340}}"#
        for record in [minute, throttled] {
            try producer.produce(to: topic, partition: 0, key: nil, value: Array(record.utf8).span, timestamp: Self.now)
        }
        try producer.flush(timeout: farDeadline)
        let outcome = broker.harness.run("status --incidents")
        #expect(
            outcome.code == .done
                && outcome.output.contains("was throttled (429) for 12 min; meanwhile 340 requests waited, 12 expired in all."))
        #expect(!outcome.output.contains("\u{1B}") && outcome.messages.contains("1 incident in 14 days, of which 0 last"))
        let json = broker.harness.run("status --incidents -o json").output
        #expect(json.contains(#""kind":"hub_throttled""#) && json.contains(#""to":"2026-11-21T11:12:00.000Z","seconds":720"#))
        #expect(broker.harness.run("status --incidents --max-age 1m").code == .usage)
    }

    @Test func aWorkersPageIsShownBesideItsPartitions() throws {
        let page = """
            {"schema":1,"version":"v","hub":"demo","loops":[{"worker":"w1","mode":"running","circuit":"open","limit":64,"in_flight":3,\
            "waiting_for_turn":2,"waiting_for_timer":5,"finished_per_second":12.5,"throttled_ms":1500,\
            "last_commit":"2026-11-21T11:59:58Z","partitions":[{"topic":"push.requests.v1","partition":0,"in_work":3,\
            "oldest":{"offset":2,"attempt":4,"waits_for":"timer","next_due":"2026-11-21T12:00:07Z"}}]}]}
            """
        let server = HTTPServer(HTTPServerConfiguration()) { request in
            HTTPServerResponse(status: request.path == "/status" ? 200 : 404, body: Array(page.utf8))
        }
        let address = try server.start()
        defer { server.stop() }
        let broker = try Self.broker(committed: 2)
        let outcome = broker.harness.run("status --worker http://\(address)")
        #expect(outcome.code == .failed, "the circuit is open")
        #expect(outcome.output.contains("offset 2, attempt 4, waits for timer due in 7.0 s"))
        #expect(outcome.output.contains("stuck: w1: the hub is unavailable"))
        #expect(outcome.output.contains("2.0 s ago"))
        let json = broker.harness.run("status --worker http://\(address) -o json")
        #expect(json.output.contains(#""status":{"schema":1,"version":"v""#))
        #expect(json.output.contains(#""reasons":[{"kind":"outage","stuck":true,"text":"w1: the hub is unavailable"#))
    }

    @Test func whoseRequestsWaitIsReadFromTheirRecords() throws {
        let page = #"{"loops":[{"worker":"w1","mode":"running","finished_per_second":0.5}]}"#
        let server = HTTPServer(HTTPServerConfiguration()) { _ in HTTPServerResponse(status: 200, body: Array(page.utf8)) }
        let address = try server.start()
        defer { server.stop() }
        let broker = try Self.broker(committed: 5)
        let topics = try Settings.load(environment: [:]).kafka.topics
        let written = Self.now - 2 * Self.minute
        try broker.write([#"{"source":"shop","tenant":"acme"}"#, #"{"source":"shop"}"#], to: topics.requests, at: written)
        try broker.write(["{"], to: topics.requests, headers: [("ce_source", "broken")], at: written)
        try broker.write(["{}"], to: topics.requestsBulk, headers: [("ce_source", "a\u{1B}[2J")], at: written)
        let outcome = broker.harness.run("status --worker http://\(address)")
        let lines = [#"sources: shop 2, $'a\x1b[2J' 1, none 1"#, "tenants: acme 1, none 3"]
        let text = (lines + ["done in about 8 s at 0.5/s, if nothing more comes"]).joined(separator: "\n") + "\n"
        #expect(outcome.output.contains(text), "\(outcome.output) \(outcome.messages)")
        let json = broker.harness.run("status -o json").output
        #expect(json.contains(#""waiting_by":{"requests":4,"sources":{"first":[{"name":"shop","requests":2},"#), "\(json)")
        #expect(!json.contains(#""outlook""#), "no worker has said how much ends")
    }

    @Test func aWorkerThatDoesNotAnswerIsSaidAndCounts() throws {
        let broker = try Self.broker(committed: 5)
        let outcome = broker.harness.run("status --worker http://127.0.0.1:1")
        #expect(outcome.code == .partlyFailed)
        #expect(outcome.messages.contains("not asked: the worker at http://127.0.0.1:1/status: nothing answers"))
    }

    @Test func aCoordinatorThatIsJustAppointedIsWaitedFor() throws {
        let (notLeader, notAvailable, notCoordinator): (Int32, Int32, Int32) = (6, 15, 16)
        let broker = try Self.broker(committed: 2)
        let (listOffsets, offsetFetch): (Int16, Int16) = (2, 9)
        broker.cluster.failNext(apiKey: listOffsets, codes: [notLeader])
        broker.cluster.failNext(apiKey: offsetFetch, codes: [notCoordinator, notAvailable, notCoordinator])
        let outcome = broker.harness.run("status -o json")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains(#""committed":2"#))
    }

    @Test func everyLaneIsAskedAndWhatIsDelayedIsLateOnlyOnceItIsDue() throws {
        let broker = try Self.broker(committed: 3)
        let topics = try Settings.load(environment: [:]).kafka.topics
        let lane = try #require(topics.delays.first)
        let producer = try Producer(
            KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let empty = Array("{}".utf8)
        try producer.produce(
            to: producer.topic(named: topics.requestsBulk), partition: 1, key: nil, value: empty.span,
            timestamp: Self.now - 8 * Self.minute)
        try Self.produceDelayed(by: producer, to: lane, partition: 0, due: "\(Self.now + 9000)")
        try Self.produceDelayed(by: producer, to: lane, partition: 2, due: "\(Self.now - 30_000)")
        try producer.flush(timeout: farDeadline)
        let outcome = broker.harness.run("status")
        #expect(
            outcome.output.hasPrefix(
                "group pushfan; 3 requests wait, the oldest for 8 min 0 s; 2 are delayed, the first was due 30.0 s ago\n"),
            "\(outcome.output) \(outcome.messages)")
        let json = broker.harness.run("status -o json")
        #expect(json.output.contains(#""lag_records":3,"lag_ms":480000,"delayed_records":2"#))
        #expect(json.output.contains(#""topic":"\#(lane)","partition":0"#))
        #expect(json.output.contains(#""lag_records":1,"lag_ms":0,"due":"2026-11-21T12:00:09"#))
        let rows = outcome.lines.filter { $0.hasPrefix("push.") }.map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(rows.count == 9 + 3, "nine topics, and the partitions in which something waits: \(rows)")
        let wide = broker.harness.run("status -o wide")
        #expect(wide.lines.count { $0.hasPrefix("push.") } == 9 + 3 + 8 * 4, "\(wide.output)")
    }

    /// Lanes hold more than requests of the group: questions for outcomes, and what waits for other groups.
    @Test func delayedHeldAndCancelledAreToldApartAndCountedAlikeInAllLines() throws {
        let broker = try Self.broker(committed: 4)
        let topics = try Settings.load(environment: [:]).kafka.topics
        func headers(_ offset: Int, group: String = "pushfan") -> [(name: String, value: String)] {
            [
                ("pushfan-group", group), ("pushfan-origin-topic", "push.requests.v1"), ("pushfan-origin-partition", "0"),
                ("pushfan-origin-offset", "\(offset)"), ("pushfan-not-before-ms", "\(Self.now + 9000)"),
            ]
        }
        let written = Self.now - Self.minute
        try broker.write(["{}"], to: topics.delays[0], headers: headers(100), at: written)
        try broker.write([#"{"id":"stopped"}"#], to: topics.delays[1], headers: headers(101), at: written)
        try broker.write(["{}"], to: topics.delays[1], headers: headers(102, group: "other"), at: written)
        try broker.write(["{}"], to: topics.delays[0], headers: headers(103) + [("pushfan-poll", "1")], at: written)
        try broker.write(["{}"], to: topics.held, headers: headers(104), at: written)
        try broker.write(["{}"], to: topics.control, key: "cancel/stopped", at: Self.now)
        let outcome = broker.harness.run("status")
        let heading =
            "; 1 request waits, the oldest for 1 min 0 s; 2 are delayed, the first is due in 9.0 s; "
            + "1 is held for an ordering key; of all these 1 is cancelled and ends in turn\n"
        #expect(outcome.output.contains(heading), "\(outcome.output) \(outcome.messages)")
        let json = broker.harness.run("status -o json").output
        #expect(
            json.contains(
                #""delayed_records":2,"held_records":1,"cancelled_records":1,"exact":true"#), "\(json)")
        #expect(json.contains(#""lag_records":1,"lag_ms":60000"#))
    }

    private static func produceDelayed(by producer: Producer, to topic: String, partition: Int32, due: String) throws {
        var headers = HeaderList()
        let empty = Array("{}".utf8)
        for (name, value) in [
            ("not-before-ms", due), ("group", "pushfan"), ("origin-topic", "push.requests.v1"), ("origin-partition", "0"),
            ("origin-offset", "\(partition)"),
        ] { headers.append("pushfan-" + name, value: value) }
        try producer.produce(
            to: producer.topic(named: topic), partition: partition, key: nil, value: empty.span, headers: headers,
            timestamp: now - 20 * minute)
    }

    @Test(arguments: [
        ("-9223372036854775808", "1970-01-01T00:00:00"), ("9223372036854775807", "9999-12-31T23:59:59"),
        ("soon", "2026-11-21T11:40:00"),
    ])
    func whateverStandsInADelayLaneIsShown(due: String, shown: String) throws {
        let broker = try Broker()
        let lane = try #require(try Settings.load(environment: [:]).kafka.topics.delays.dropFirst(3).first)
        let producer = try Producer(
            KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        try Self.produceDelayed(by: producer, to: lane, partition: 1, due: due)
        try producer.flush(timeout: farDeadline)
        #expect(broker.harness.run("status").output.contains("; 1 is delayed"))
        #expect(broker.harness.run("status -o json").output.contains(#""due":"\#(shown)"#))
    }
}
