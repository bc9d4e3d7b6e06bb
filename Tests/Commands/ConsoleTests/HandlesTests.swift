import Foundation
import HTTPServing
import HubAuth
import HubEmulator
import Kafka
import Outcomes
import PushModel
import Settings
import TestSupport
import Testing

@testable import Console
@testable import Feedback
import HubServer
@testable import JobSupport

/// `handles collect` from the hub's feedback container to the topic of dead handles.
@Suite(.serialized)
struct HandlesTests {
    /// A hub, a broker, and topics of their own.
    private final class Stage {
        let hub: EmulatedHub
        let broker: Broker?
        let kafka: KafkaConfiguration
        let name = "handles-\(UUID().uuidString)"

        init(real: Bool, emulator: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws {
            var configuration = HubEmulatorConfiguration()
            configuration.listen = "127.0.0.1:0"
            emulator(&configuration)
            hub = try EmulatedHub(configuration)
            try hub.start()
            broker = real ? nil : try Broker()
            kafka = KafkaConfiguration(
                bootstrapServers: broker?.cluster.bootstrapServers ?? TestVariables.kafka ?? "")
            for (role, count) in [("handles", 3), ("replays", 1)] {
                if let cluster = broker?.cluster {
                    try cluster.createTopic("\(name).\(role)", partitions: count)
                } else {
                    try TopicAdmin(kafka).createKnown(
                        [NewTopic(name: "\(name).\(role)", partitionCount: count, replicationFactor: 1)])
                }
            }
        }

        deinit { hub.stop() }

        var harness: Harness {
            var harness = Harness()
            harness.environment = [
                "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers, "PUSHFAN_HUB_NAME": "demo",
                "PUSHFAN_HUB_CONNECTION_STRING": hub.connectionString, "PUSHFAN_KAFKA_TOPICS_REQUESTS": "\(name).requests",
                "PUSHFAN_KAFKA_TOPICS_REPLAYS": "\(name).replays",
            ]
            harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
            return harness
        }

        func collect(_ flags: String = "") -> Outcome { harness.run("handles collect -o ndjson \(flags)") }

        /// The records of dead handles, by their places.
        func handles(atLeast count: Int = 0) throws -> [Record] { try read("handles", atLeast: count) }

        func read(_ role: String, atLeast count: Int = 0) throws -> [Record] {
            try Record.all(of: "\(name).\(role)", kafka, atLeast: count)
        }

        func context() throws -> JobContext {
            let topics = try Settings.load(environment: harness.environment).kafka.topics
            return JobContext(kafka: kafka, topics: topics, timeout: .seconds(30), now: harness.now)
        }

        /// The hub as marks name it.
        var place: String { "\(hub.address?.description ?? "")/demo" }
    }

    static let brokers = TestVariables.kafka == nil ? [false] : [false, true]

    private static func entry(_ handle: String, _ outcome: String = "ExpiredChannel", _ more: String = "") -> [UInt8] {
        Array(
            (#"<?xml version="1.0" encoding="utf-16"?><PnsFeedback><FeedbackTime>2026-11-21T10:00:00Z</FeedbackTime>"#
                + "<NotificationSystemError>\(outcome)</NotificationSystemError><Platform>apns</Platform><PnsHandle>\(handle)</PnsHandle>"
                + "\(more)</PnsFeedback>\n").utf8)
    }

    /// The SHA-256 of `handle-1`, as `sha256sum` says it.
    private static let fingerprint = "4219dcd75aa1fff692ddc5cf84c1b34bf799aaad291afdf03dde2213f2f3b397"

    @Test(arguments: brokers) func deadHandlesAreListedOnceHoweverOftenItRuns(real: Bool) throws {
        let stage = try Stage(real: real)
        let blob =
            Self.entry("handle-1", "ExpiredChannel", "<InstallationId>i-1</InstallationId>")
            + Self.entry("handle-2", "Throttled") + Self.entry("handle-1", "WrongToken") + Self.entry("handle-3", "BadChannel")
        stage.hub.putFeedback("11202026-a.xml", bytes: blob)
        stage.hub.putFeedback("11212026-a.xml", bytes: Self.entry("handle-4", "WrongToken"))
        let outcome = stage.collect()
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(
            outcome.lines == [
                #"{"blob":"11202026-a.xml","bytes":\#(blob.count),"entries":4,"handles":2,"unreadable":0}"#,
                #"{"blob":"11212026-a.xml","bytes":\#(Self.entry("handle-4", "WrongToken").count),"entries":1,"handles":1,"unreadable":0}"#,
            ])
        #expect(outcome.messages.contains("3 dead handles written to \(stage.name).handles; 2 of 2 blobs have something new"))
        let records = try stage.handles(atLeast: 3)
        #expect(records.count == 3)
        let first = try #require(records.first { $0.value.contains("i-1") })
        let digest = try #require(first.key)
        #expect(digest == Self.fingerprint && first.headers["content-type"] == "application/json")
        #expect(
            first.value
                == #"{"schema_version":1,"fingerprint":"\#(digest)","platform":"apple","reason":"ExpiredChannel","#
                + #""at":"2026-11-21T10:00:00.000Z","hub":"demo","installation_id":"i-1"}"#)
        #expect(!records.contains { $0.value.contains("handle-") })
        // Once more: nothing is new.
        let again = stage.collect()
        #expect(again.code == .done && again.output.isEmpty && again.messages.contains("0 dead handles written"))
        #expect(try stage.handles(atLeast: 3).count == 3)
        // A blob that grew is read on from where it was.
        stage.hub.putFeedback("11212026-a.xml", bytes: Self.entry("handle-5"), isAppended: true)
        let grown = stage.collect()
        #expect(grown.lines.count == 1 && grown.output.contains(#""entries":1,"handles":1"#), "\(grown.output)")
        #expect(try stage.handles(atLeast: 4).count == 4)
    }

    @Test(arguments: brokers) func whatIsStillBeingWrittenComesWithTheNextRun(real: Bool) throws {
        let stage = try Stage(real: real)
        let whole = Self.entry("handle-1")
        let next = Self.entry("handle-2")
        stage.hub.putFeedback("b.xml", bytes: whole + next[..<60])
        let outcome = stage.collect()
        // The end of the line belongs to what is not whole.
        #expect(outcome.code == .done && outcome.output.contains(#""bytes":\#(whole.count - 1),"entries":1,"handles":1"#))
        stage.hub.putFeedback("b.xml", bytes: Array(next[60...]), isAppended: true)
        #expect(stage.collect().output.contains(#""entries":1,"handles":1,"unreadable":0}"#))
        #expect(try stage.handles(atLeast: 2).count == 2)
    }

    @Test func aDryRunWritesNothingAndRemembersNothing() throws {
        let stage = try Stage(real: false)
        stage.hub.putFeedback("b.xml", bytes: Self.entry("handle-1"))
        for _ in 0..<2 {
            let outcome = stage.collect("--dry-run")
            #expect(outcome.code == .done && outcome.output.contains(#""handles":1"#))
            #expect(outcome.messages.contains("1 dead handle would be written"))
        }
        #expect(try stage.handles().isEmpty && stage.read("replays").isEmpty)
        #expect(stage.collect().messages.contains("1 dead handle written"))
        #expect(stage.collect("--dry-run").output.isEmpty, "it knows what was read")
    }

    @Test func manyBlobsAndLargeOnesAreReadInPiecesAndPages() throws {
        let stage = try Stage(real: false)
        for number in 100..<230 { stage.hub.putFeedback("0\(number)2026-&.xml", bytes: Self.entry("small-\(number)")) }
        let large = (0..<5000).flatMap { Self.entry("large-\($0)") }
        #expect(large.count > FeedbackContainer.pieceByteCount)
        stage.hub.putFeedback("large.xml", bytes: large)
        let outcome = stage.collect()
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.messages.contains("5130 dead handles written") && outcome.messages.contains("131 of 131 blobs"))
        let keys = try stage.handles().map(\.key)
        #expect(keys.count == 5130 && Set(keys).count == 5130)
    }

    @Test func theFeedbackOfTheHubsOwnSendsIsCollected() throws {
        let script = try TelemetryScript(parsing: "refuse=ExpiredChannel")
        let stage = try Stage(real: false) { $0.telemetry = [script] }
        try stage.hub.register(EmulatedDevice(id: "d-1", platform: "fcmv1", handle: "handle-1", tags: ["x"]))
        #expect(stage.collect().output.isEmpty)
        // The feedback of a send is what a push service told of a device.
        let policy = HubEmulatorConfiguration.defaultPolicy
        let token = try SASToken.sign(
            resource: "http://127.0.0.1/demo", policy: policy.name, key: SecretKey(policy.key),
            expiry: Int64(Date().timeIntervalSince1970) + 3600, style: .dotNet)
        let sent = stage.hub.handle(
            HTTPServerRequest(
                method: "POST", target: "/demo/messages?api-version=2020-06",
                headers: [
                    "Host": "127.0.0.1", "Authorization": String(decoding: token.headerValue, as: UTF8.self),
                    "ServiceBusNotification-Format": "fcmv1", "ServiceBusNotification-Tags": "x",
                    "Content-Type": "application/json;charset=utf-8",
                ], body: Array(#"{"message":{"notification":{"title":"x"}}}"#.utf8)))
        #expect(sent.status == 201)
        let outcome = stage.collect()
        #expect(outcome.code == .done && outcome.output.contains("-feedback.xml"), "\(outcome.messages)")
        #expect(try stage.handles(atLeast: 1).first?.value.contains(#""platform":"fcmv1","reason":"ExpiredChannel""#) ?? false)
    }

    /// What stands in a blob, its code, and what is said of it.
    @Test(
        arguments: [
            ("<Other/>", ExitCode.partlyFailed, #""entries":3,"handles":2,"unreadable":1"#, "not a PnsFeedback element"),
            (
                "<PnsFeedback><PnsHandle>\(String(repeating: "s3cret", count: 2000))</PnsHandle></PnsFeedback>", .partlyFailed,
                #""entries":3,"handles":2,"unreadable":1"#, "the element PnsHandle"
            ),
            (
                "<!DOCTYPE s3cret>" + String(repeating: "s3cret", count: 12_000), .partlyFailed,
                #""entries":1,"handles":1,"unreadable":0"#,
                "what follows is no feedback"
            ),
        ] as [(String, ExitCode, String, String)])
    func hostileFeedbackIsToldAndHoldsUpNoOtherBlob(text: String, code: ExitCode, counts: String, trouble: String) throws {
        let stage = try Stage(real: false)
        stage.hub.putFeedback("a.xml", bytes: Self.entry("handle-1") + Array(text.utf8) + Self.entry("handle-2"))
        stage.hub.putFeedback("b.xml", bytes: Self.entry("handle-3"))
        let outcome = stage.collect()
        #expect(outcome.code == code && outcome.output.contains(counts) && outcome.output.contains(trouble), "\(outcome.output)")
        #expect(outcome.output.contains(#""blob":"b.xml""#) && outcome.output.contains(#""trouble":""#))
        #expect(!outcome.output.contains("s3cret") && !outcome.messages.contains("s3cret"))
    }

    @Test func whatWasWrittenLastBeforeIsLeft() throws {
        let stage = try Stage(real: false)
        stage.hub.putFeedback("b.xml", bytes: Self.entry("handle-1"))
        #expect(stage.collect("--since 2030-01-01").messages.contains("0 of 0 blobs"))
        #expect(stage.collect("--since 1h").messages.contains("1 dead handle written"))
        #expect(stage.collect("--since soon").code == .usage)
    }

    /// A run that died after a piece was committed, and one that died with a transaction open.
    @Test(.needsKafka)
    func aRunThatDiedIsTakenUpWhereItWasAndRepeatsNothing() throws {
        let stage = try Stage(real: true)
        let first = (0..<10).flatMap { Self.entry("handle-\($0)") }
        let second = (10..<20).flatMap { Self.entry("handle-\($0)") }
        stage.hub.putFeedback("b.xml", bytes: first + second)
        let context = try stage.context()
        do {
            let session = try HandlesSession(for: stage.place, hubName: "demo", context: context)
            let found = FeedbackPiece(reading: first.span).devices.enumerated().map { index, device in
                FoundHandle(device: device, fingerprint: Array("fingerprint-\(index)".utf8))
            }
            try session.write(found, of: "b.xml", upTo: Int64(first.count), now: Timestamp(milliseconds: 0))
        }
        // A transaction that is open when its process dies: nothing of it may count.
        let dead = try Producer(stage.kafka, transactionalID: "pushfan-handles-\(stage.place)", transactionTimeout: farDeadline)
        let topics = try dead.warmUp(topics: ["\(stage.name).handles", "\(stage.name).replays"], timeout: farDeadline)
        try #require(topics.count == 2)
        try dead.initTransactions(timeout: farDeadline)
        try dead.beginTransaction()
        try dead.produce(to: topics[0], key: Array("half".utf8).span, value: Array("{}".utf8).span)
        try dead.produce(
            to: topics[1], partition: 0, key: FeedbackMarks.key(stage.place, "b.xml").span,
            value: FeedbackMarks.value("b.xml", 1_000_000).span)
        try dead.flush(timeout: farDeadline)
        let outcome = stage.collect()
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains(#""bytes":\#(second.count),"entries":10,"handles":10"#), "\(outcome.output)")
        dead.close(timeout: .zero)
        let records = try stage.handles(atLeast: 20)
        #expect(records.count == 20 && !records.contains { $0.key == "half" })
        #expect(records.count { $0.key?.hasPrefix("fingerprint-") ?? false } == 10)
        #expect(stage.collect().output.isEmpty)
    }

    @Test(.needsKafka)
    func aLaterRunFencesAnEarlierOne() throws {
        let stage = try Stage(real: true)
        stage.hub.putFeedback("b.xml", bytes: Self.entry("handle-1"))
        let earlier = try HandlesSession(for: stage.place, hubName: "demo", context: try stage.context())
        #expect(stage.collect().code == .done)
        let devices = FeedbackPiece(reading: Self.entry("h").span).devices
        let device = try #require(devices.first)
        let found = FoundHandle(device: device, fingerprint: Array("late".utf8))
        #expect(throws: KafkaError.self) {
            try earlier.write([found], of: "b.xml", upTo: 1, now: Timestamp(milliseconds: 0))
        }
        #expect(try stage.handles(atLeast: 1).count == 1)
    }

    @Test func jobsOfReplaysAreNotConfusedByMarks() throws {
        let stage = try Stage(real: false)
        stage.hub.putFeedback("b.xml", bytes: Self.entry("handle-1"))
        #expect(stage.collect().code == .done)
        let list = stage.harness.run("replay list")
        #expect(list.code == .nothingMatched || list.code == .done, "\(list.messages)")
        #expect(!list.output.contains("feedback"))
    }
}

/// What goes wrong on the way, and what is said then.
@Suite(.serialized)
struct HandlesFailureTests {
    private static func harness(_ hub: EmulatedHub, _ broker: Broker) -> Harness {
        var harness = broker.harness
        harness.environment["PUSHFAN_HUB_NAME"] = "demo"
        harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
        return harness
    }

    private static func hub(_ change: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws -> EmulatedHub {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        change(&configuration)
        let hub = try EmulatedHub(configuration)
        try hub.start()
        return hub
    }

    @Test func aHubBelowTheStandardTierHasNone() throws {
        let hub = try Self.hub { $0.tier = .basic }
        defer { hub.stop() }
        let outcome = Self.harness(hub, try Broker()).run("handles collect")
        #expect(outcome.code == .notAllowed && outcome.messages.contains("Standard tier"), "\(outcome.messages)")
    }

    @Test func aKeyWithoutTheRightIsRefused() throws {
        let hub = try Self.hub { $0.policies = [HubPolicy(name: "l", key: "bGlzdGVu", rights: .listen)] }
        defer { hub.stop() }
        let outcome = Self.harness(hub, try Broker()).run("handles collect")
        #expect(outcome.code == .notAllowed && outcome.messages.contains("one with Manage has all"), "\(outcome.messages)")
    }

    @Test func aHubThatIsAwayIsUnreachableAndOneThatIsBusyMeansLater() throws {
        let hub = try Self.hub()
        let broker = try Broker()
        let harness = Self.harness(hub, broker)
        hub.arm([try Fault(parsing: "status=503")])
        let busy = harness.run("handles collect --timeout 5s")
        #expect(busy.code == .temporary && busy.messages.contains("it answers 503"), "\(busy.messages)")
        hub.stop()
        let away = harness.run("handles collect --timeout 5s")
        #expect(away.code == .unreachable, "\(away.messages)")
    }

    @Test func aHubThatIsNotSetIsSaid() throws {
        let outcome = try Broker().harness.run("handles collect")
        #expect(outcome.code == .configuration && outcome.messages.contains("hub.connection_string"))
    }

    @Test func neitherLinkNorKeyNorHandleIsEverShown() throws {
        let hub = try Self.hub()
        defer { hub.stop() }
        let broker = try Broker()
        let harness = Self.harness(hub, broker)
        let entry =
            "<PnsFeedback><NotificationSystemError>BadChannel</NotificationSystemError><Platform>gcm</Platform><PnsHandle>CANARY"
        hub.putFeedback(
            "b.xml", bytes: Array((entry + "</PnsHandle></PnsFeedback>" + entry + "<CANARY/></PnsHandle></PnsFeedback>").utf8))
        hub.putFeedback("..", bytes: Array(entry.utf8))
        for line in [
            "handles collect --dry-run", "handles collect --timeout 300ms --bootstrap 127.0.0.1:1", "handles collect -o json",
            "handles collect", "handles collect --help",
        ] {
            let outcome = harness.run(line)
            for secret in ["CANARY", "sig=", "SharedAccess", "cHVzaGZhbi"] {
                #expect(!outcome.output.contains(secret) && !outcome.messages.contains(secret), "\(line): \(outcome.messages)")
            }
        }
        for record in try broker.read("push.handles.v1", count: 1) { #expect(!record.value.contains("CANARY")) }
    }
}
