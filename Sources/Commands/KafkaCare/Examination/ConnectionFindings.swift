import JobSupport

/// The places at which a person changes the settings of the connection.
package struct KafkaPlaces: Sendable, Equatable {
    /// That of the bootstrap addresses.
    let brokers: String
    /// That of the client's properties.
    let properties: String

    /// Places, by default the variables that may set them.
    package init(
        brokers: String = "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS", properties: String = "PUSHFAN_KAFKA_PROPERTIES_FILE"
    ) {
        self.brokers = brokers
        self.properties = properties
    }
}

struct ConnectionFacts: Equatable {
    /// The bootstrap addresses.
    var brokers: String
    /// `PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`.
    var securityProtocol = "PLAINTEXT"
    /// The mechanism of the login, such as `SCRAM-SHA-512`, or nil without a login.
    var saslMechanism: String?
    /// The brokers' certificates, and their names in them, are verified.
    var verifiesCertificates = true
    /// The largest record that the client sends.
    var maximumRecordByteCount = 1_000_000
    /// The version of librdkafka.
    var libraryVersion = "2.0.2"
    /// True if it can log in to Kafka 4 and later with SCRAM.
    var supportsScramOnKafka4 = false
    /// The places at which a person changes these settings.
    var places = KafkaPlaces()

    var isEncrypted: Bool { securityProtocol.hasSuffix("SSL") }
    var logsIn: Bool { securityProtocol.hasPrefix("SASL") }
    /// The properties with which the client logs in.
    var loginProperties: String {
        saslMechanism?.uppercased() == "OAUTHBEARER"
            ? "sasl.oauthbearer.token.endpoint.url, client.id and client.secret" : "sasl.username and sasl.password"
    }
    var usesScram: Bool { logsIn && saslMechanism?.uppercased().hasPrefix("SCRAM-") == true }

    /// Every address is one of this machine.
    var isLocal: Bool {
        brokers.split(separator: ",").allSatisfy { address in
            ["127.", "localhost", "[::1]"].contains { address.drop { $0 == " " }.hasPrefix($0) }
        }
    }
}

/// Findings about the connection to the brokers.
enum ConnectionFindings {
    /// One finding each for reachability, encryption, the library and the sizes of records.
    static func of(
        _ facts: ConnectionFacts, brokerCount: Result<Int, QueryFailure>, brokerSettings: Result<[String: String], QueryFailure>
    ) -> [Finding] {
        [reach(facts, brokerCount), encryption(facts, brokerCount), library(facts, brokerCount, brokerSettings), sizes(facts)]
    }

    private static func reach(_ facts: ConnectionFacts, _ brokerCount: Result<Int, QueryFailure>) -> Finding {
        let refusal: QueryFailure
        switch brokerCount {
        case .success(let count):
            return .ok("broker", of: facts.brokers, text: Counted.text(count, "broker is in service", "brokers are in service"))
        case .failure(let failure): refusal = failure
        }
        switch refusal.kind {
        case .login:
            return .failure(
                "broker", of: facts.brokers, text: "the login fails: \(refusal.text)",
                mend: "set \(facts.loginProperties) in \(facts.places.properties); `pushfan config show --origin` shows them",
                cause: .notAllowed)
        case .tls:
            return .failure(
                "broker", of: facts.brokers, text: "TLS cannot be agreed on: \(refusal.text)",
                mend: "name the brokers' authority: ssl.ca.location=FILE in \(facts.places.properties); else the listener speaks"
                    + " no TLS, or its certificate is out of date or names another address", cause: .notAllowed)
        case .certificate:
            return .failure(
                "broker", of: facts.brokers, text: refusal.text,
                mend: "name a valid certificate: ssl.certificate.location=FILE,ssl.key.location=FILE in"
                    + " \(facts.places.properties)",
                cause: .notAllowed)
        case .configuration:
            return .failure(
                "broker", of: facts.brokers, text: refusal.text, mend: "pushfan config show --origin", cause: .configuration)
        case .unreachable, .rights, .missing, .other:
            return .failure(
                "broker", of: facts.brokers, text: refusal.text,
                mend: "start the brokers if they do not run; else give the right address with \(facts.places.brokers), or their"
                    + " listener's security.protocol", cause: .unreachable)
        }
    }

    private static func encryption(_ facts: ConnectionFacts, _ brokerCount: Result<Int, QueryFailure>) -> Finding {
        let how = facts.securityProtocol + (facts.logsIn ? " with \(facts.saslMechanism ?? "no mechanism")" : "")
        guard facts.isEncrypted else {
            guard !facts.isLocal else { return .ok("tls", of: facts.brokers, text: "\(how); the brokers are on this machine") }
            let what = facts.logsIn ? "requests, device handles and the password" : "requests and device handles"
            return .warning(
                "tls", of: facts.brokers, text: "\(how): \(what) cross the network unencrypted",
                mend: "set security.protocol=\(facts.logsIn ? "SASL_SSL" : "SSL"),ssl.ca.location=FILE in"
                    + " \(facts.places.properties)")
        }
        guard facts.verifiesCertificates else {
            return .warning(
                "tls", of: facts.brokers,
                text: "\(how), but the brokers' certificates are not verified: anyone in between can pose as them",
                mend: "take enable.ssl.certificate.verification=false and ssl.endpoint.identification.algorithm=none out of"
                    + " \(facts.places.properties)")
        }
        guard case .success = brokerCount else {
            return .unasked("tls", of: facts.brokers, text: "\(how); no connection was made")
        }
        return .ok("tls", of: facts.brokers, text: "\(how), certificates verified")
    }

    /// The one known break between this library and a broker: SCRAM before 2.6.1 against Kafka 4.
    private static func library(
        _ facts: ConnectionFacts, _ brokerCount: Result<Int, QueryFailure>,
        _ brokerSettings: Result<[String: String], QueryFailure>
    ) -> Finding {
        let name = "librdkafka \(facts.libraryVersion)"
        guard facts.usesScram, !facts.supportsScramOnKafka4 else {
            let broker = kafkaVersion(brokerSettings).map { " with \($0)" } ?? ""
            return .ok(
                "library", of: name,
                text: facts.supportsScramOnKafka4 ? "works\(broker)" : "works\(broker), but for SCRAM on Kafka 4 or later")
        }
        let cause = "librdkafka before 2.6.1 sends a nonce in SCRAM that Kafka 4 and later refuse as invalid credentials"
        let remedy =
            "use librdkafka 2.6.1 or later, or set security.protocol=SASL_SSL,sasl.mechanism=PLAIN,… in \(facts.places.properties)"
        if case .failure(let refusal) = brokerCount, refusal.kind == .login {
            return .failure(
                "library", of: name, text: "\(cause): user and password may be right", mend: remedy, cause: .notAllowed)
        }
        return .warning("library", of: name, text: "\(cause): logging in will fail from the upgrade to Kafka 4 on", mend: remedy)
    }

    /// Brokers do not publish their version. Kafka 4 no longer has a setting that names the protocol between brokers.
    private static func kafkaVersion(_ settings: Result<[String: String], QueryFailure>) -> String? {
        guard let settings = settings.answer, settings["offsets.topic.num.partitions"] != nil else { return nil }
        return settings["inter.broker.protocol.version"].map { "Kafka \($0)" } ?? "Kafka 4 or later"
    }

    private static func sizes(_ facts: ConnectionFacts) -> Finding {
        let needed = TopicRole.largestRecordByteCount
        guard facts.maximumRecordByteCount >= needed else {
            return .failure(
                "size", of: "message.max.bytes",
                text: "the client sends records of \(facts.maximumRecordByteCount) bytes at most; \(needed) are needed",
                mend: "set message.max.bytes=1000000 in \(facts.places.properties)", cause: .configuration)
        }
        return .ok(
            "size", of: "message.max.bytes", text: "the client sends records of up to \(facts.maximumRecordByteCount) bytes")
    }
}
