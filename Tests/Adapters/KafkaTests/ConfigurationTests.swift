import Kafka
import TestSupport
import Testing

/// What a user may set, and what a refusal says.
@Suite(.tags(.c)) struct ConfigurationTests {
    private func error(_ key: String, _ value: String, with others: [KafkaConfiguration.Property] = []) -> KafkaError? {
        let configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: others + [.init(key: key, value: value)])
        do {
            let consumer = try Consumer(configuration, groupID: "g", wakeUpFileDescriptor: -1)
            consumer.close(timeout: .seconds(5))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "enable.auto.commit", "enable.auto.offset.store", "transactional.id", "isolation.level", "enable.idempotence", "group.id",
        "bootstrap.servers", "log.queue", "group.instance.id",
    ])
    func whatTheGuaranteesRestOnIsRefused(key: String) {
        #expect(error(key, "true")?.property == key)
        #expect(error(key, "true")?.message.contains("'\(key)'") == true)
    }

    @Test func anUnknownPropertyAndABadValueAreNamed() {
        #expect(error("no.such.thing", "1")?.property == "no.such.thing")
        #expect(error("session.timeout.ms", "soon")?.property == "session.timeout.ms")
        #expect(error("partition.assignment.strategy", "cooperative-sticky")?.property == "partition.assignment.strategy")
        #expect(error("session.timeout.ms", "7000") == nil)
        #expect(error("linger.ms", "5") == nil, "a producer's property must not stop a consumer")
    }

    /// The library has freed a part of what it was given when it cannot make a client that is watched.
    @Test func aWatchedClientThatCannotBeMadeIsAnErrorAgainAndAgain() throws {
        func client(_ properties: [KafkaConfiguration.Property]) throws(KafkaError) {
            var configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", properties: properties)
            configuration.watch = BrokerWatch {
                .now
            } say: { _ in
            }
            _ = try TopicAdmin(configuration)
        }
        let missing = ["security.protocol": "ssl", "ssl.certificate.location": "/no/such"]
        for _ in 0..<3 {
            let error = #expect(throws: KafkaError.self) { try client(missing.map { .init(key: $0.key, value: $0.value) }) }
            #expect(error?.property == "ssl.certificate.location")
        }
        for _ in 0..<2 { try client([]) }
    }

    @Test func noSecretIsEverShown() throws {
        let secret = "hunter2-hunter2"
        for key in ["ssl.key.pem", "ssl.key.password", "sasl.password", "ssl.keystore.password"] {
            let property = KafkaConfiguration.Property(key: key, value: secret)
            let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", properties: [property])
            var dumped = ""
            dump(configuration, to: &dumped)
            #expect(!dumped.contains(secret))
            #expect(!"\(configuration)".contains(secret))
            #expect(!String(reflecting: property).contains(secret))
        }
        let broken = try #require(error("ssl.key.pem", secret, with: [.init(key: "security.protocol", value: "ssl")]))
        #expect(!"\(broken)".contains(secret))
    }

    @Test(
        arguments: [
            ("a", nil), ("push.requests.v1", nil), ("A_b-9", nil), ("...", nil), (String(repeating: "a", count: 249), nil),
            ("", "is empty"), (".", "is reserved"), ("..", "is reserved"), ("a b", "holds something else"),
            ("a/b", "holds something else"), ("ü", "holds something else"),
            (String(repeating: "a", count: 250), "is longer than 249"),
        ] as [(String, String?)])
    func aTopicNameIsTakenThatKafkaAllows(name: String, fault: String?) {
        do throws(KafkaError) {
            try TopicName.validate(name)
            #expect(fault == nil)
        } catch {
            #expect(fault.map { error.message.contains($0) } == true, "\(error.message)")
        }
    }
}
