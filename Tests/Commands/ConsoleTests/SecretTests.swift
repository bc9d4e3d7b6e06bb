import Foundation
import HubEmulator
import Kafka
import KafkaCare
import TestSupport
import Testing

@testable import Console

@Suite struct SecretTests {
    private static let key = "CANARYkey0123456789abcdefghijklmnopqrstuvw="
    private static let handle = "CANARYhandle0123456789"
    private static let password = "CANARYpassword"

    private var harness: Harness {
        var harness = Harness()
        harness.environment = [
            "PUSHFAN_HUB_CONNECTION_STRING":
                "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=p;SharedAccessKey=\(Self.key)",
            "PUSHFAN_HUB_NAME": "shop", "PUSHFAN_HUB_SECONDARY_KEY": Self.key,
            "PUSHFAN_KAFKA_PROPERTIES":
                "sasl.password=\(Self.password),sasl.username=me,security.protocol=SASL_PLAINTEXT,sasl.mechanism=PLAIN",
            "PUSHFAN_HUB_PROXY": "http://user:\(Self.password)@127.0.0.1:1", "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
        ]
        return harness
    }

    @Test(arguments: [
        "config show --origin", "config show -o json", "config check", "help --all", "help settings", "enqueue --help",
        "topics check --timeout 200ms", "failed SharedAccessKey=CANARYkey", "failed --timeout 200ms",
        "results list --timeout 200ms", "enqueue --user a --title x --timeout 200ms",
        "config check --kafka.properties sasl.password=CANARYpassword,nonsense", "config check --hub.secondary_key=",
        "explain /dev/stdin", "enqueue --device apple:CANARYhandle0123456789 --titel x",
        "enqueue --device nokia:CANARYhandle0123456789 --title x", "enqueue --device apple:CANARYhandle0123456789",
        "emulator --policy CANARYkey0123456789abcdefghijklmnopqrstuvw", "version SharedAccessKey=CANARYkey",
        "--SharedAccessKey=CANARYkey", "version --SharedAccessKey=CANARYkey", "config check --hub.connection_string CANARYkey",
        "config check --listen SharedAccessKey=CANARYkey", "doctor --timeout 300ms", "doctor -o json --timeout 300ms",
        "doctor --probe-writing --timeout 300ms --kafka.properties security.protocol=SSL,ssl.key.password=CANARYpassword",
        "doctor --timeout 300ms --hub.connection_string SharedAccessKey=CANARYkey", "status --timeout 300ms",
        "handles collect --timeout 300ms", "callbacks list --timeout 300ms", "callbacks check CANARYkey/whsec_CANARY",
        "callbacks test whsec_CANARYkey", "callbacks pause shop --reason x --timeout 300ms",
        "hub check --state /no/such/file --handle-key-file CANARYkey",
        "hub export - --state /no/such/file --handle-key-file CANARYkey", "hub import CANARYkey --policy a=CANARYkey",
        "hub erase --user CANARYuser --state /no/such/file",
        "status --timeout 300ms --worker http://me:CANARYpassword@127.0.0.1:1",
        "status -o json --timeout 300ms --worker http://127.0.0.1:1/status?SharedAccessKey=CANARYkey",
    ])
    func noSecretIsEverShown(line: String) {
        let outcome = harness.run(line)
        #expect(!outcome.output.contains("CANARY"))
        #expect(!outcome.messages.contains("CANARY"))
    }

    /// A hub that refuses the key gets as far as a signature; a broker that answers as far as topics and group.
    @Test func doctorShowsNoSecretOfWhatItAsks() throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(configuration)
        try hub.start()
        defer { hub.stop() }
        var harness = try Broker().harness
        harness.environment["PUSHFAN_HUB_NAME"] = "demo"
        harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = hub.connectionString.replacingOccurrences(
            of: "SharedAccessKey=", with: "SharedAccessKey=CANARY")
        harness.environment["PUSHFAN_KAFKA_PROPERTIES"] = "sasl.username=me,sasl.password=\(Self.password)"
        harness.now = { Int64(Date().timeIntervalSince1970 * 1000) }
        // The embedded broker leaves some questions unanswered.
        let outcome = harness.run("doctor --timeout 2s")
        let found = try DoctorHubTests.findings(harness.environment)
        #expect(found.first?.text.contains("refuses the key: 401") == true)
        #expect(!"\(found)".contains("CANARY") && !"\(found)".contains("sig="))
        #expect(!outcome.output.contains("CANARY") && !outcome.output.contains("sig="))
        #expect(!outcome.messages.contains("CANARY"))
    }

    @Test func statusShowsNoSecretOfSettingsAndNothingOfRequests() throws {
        let broker = try Broker()
        var harness = broker.harness
        harness.environment["PUSHFAN_HUB_CONNECTION_STRING"] = self.harness.environment["PUSHFAN_HUB_CONNECTION_STRING"]
        harness.environment["PUSHFAN_KAFKA_PROPERTIES"] = "sasl.username=me,sasl.password=\(Self.password)"
        // The embedded broker finds no record by its time, so each would count as old.
        harness.environment["PUSHFAN_KAFKA_START"] = "beginning"
        let producer = try Producer(
            KafkaConfiguration(bootstrapServers: broker.cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let request = #"{"id":"CANARYid","audience":{"devices":[{"platform":"fcmv1","handle":"\#(Self.handle)"}]}}"#
        try producer.produce(
            to: try producer.topic(named: "push.requests.v1"), partition: 0, key: Array("CANARYkey".utf8).span,
            value: Array(request.utf8).span)
        try producer.flush(timeout: farDeadline)
        for format in ["table", "json"] {
            let outcome = harness.run("status -o \(format)")
            #expect(outcome.code == .done, "\(outcome.messages)")
            #expect(outcome.output.contains("1 request waits") || outcome.output.contains(#""lag_records":1"#))
            #expect(!outcome.output.contains("CANARY") && !outcome.messages.contains("CANARY"))
        }
    }

    @Test func explainHidesSignatureAndHandles() {
        var harness = harness
        harness.input = """
            {"audience":{"devices":[{"platform":"fcmv1","handle":"\(Self.handle)"}]},"message":{"title":"x"}}
            {"audience":{"devices":[{"platform":"fcmv1","handle":"\(Self.handle)"},{"platform":"fcmv1","handle":"\(Self.handle)2"}]},\
            "message":{"title":"x"}}
            {"audience":{"devices":[{"platform":"fcmv1","handle":"\(Self.handle) with a blank"}]},"message":{"title":"x"}}
            """
        for format in ["table", "json", "ndjson"] {
            let outcome = harness.run("explain - -o \(format)")
            #expect(outcome.output.contains("Authorization: SharedAccessSignature …redacted"))
            #expect(outcome.output.contains("ServiceBusNotification-DeviceHandle: …redacted"))
            #expect(!outcome.output.contains("CANARY"))
            #expect(!outcome.output.contains("sig="))
            #expect(!outcome.messages.contains("CANARY"))
            #expect(outcome.code == .failed)
        }
    }
}
