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
        "config check --listen SharedAccessKey=CANARYkey",
    ])
    func noSecretIsEverShown(line: String) {
        let outcome = harness.run(line)
        #expect(!outcome.output.contains("CANARY"))
        #expect(!outcome.messages.contains("CANARY"))
    }

    @Test func explainHidesSignatureAndHandles() {
        var harness = harness
        harness.input = """
            {"audience":{"devices":[{"platform":"apple","handle":"\(Self.handle)"}]},"message":{"title":"x"}}
            {"audience":{"devices":[{"platform":"apple","handle":"\(Self.handle)"},{"platform":"apple","handle":"\(Self.handle)2"}]},\
            "message":{"title":"x"}}
            {"audience":{"devices":[{"platform":"apple","handle":"\(Self.handle) with a blank"}]},"message":{"title":"x"}}
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
