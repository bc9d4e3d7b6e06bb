import CRDKafka

/// The treatment of every error and log line: secrets are blotted out, and a failure known to mislead is put in plain words.
struct Diagnosis: Sendable {
    private let ownSecrets: [String]
    private let saslMechanism: String?
    /// Hears whether a broker answers.
    let watch: BrokerWatch?
    private let live: LiveProperties?

    /// Knows the secrets and the SASL mechanism of `configuration`.
    init(_ configuration: KafkaConfiguration) {
        ownSecrets = configuration.properties.filter(\.isSecret).map(\.value)
        saslMechanism = configuration.value(of: "sasl.mechanism") ?? configuration.value(of: "sasl.mechanisms")
        watch = configuration.watch
        live = configuration.live
    }

    /// The client logs in with tokens, which the library fetches from a server or makes (SASL OAUTHBEARER).
    var needsTokens: Bool { saslMechanism?.uppercased() == "OAUTHBEARER" }

    /// A very short secret would blot out half of every sentence and protects nothing.
    private var secrets: [String] { (ownSecrets + (live?.secrets ?? [])).filter { $0.utf8.count >= 4 } }

    /// `text` with every secret value replaced by `***`.
    func redact(_ text: String) -> String {
        secrets.reduce(text) { text, secret in
            text.contains(secret)
                ? text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***") : text
        }
    }

    /// `error` without secrets, in plain words if it is about a connection, and with a hint if SCRAM failed with a library too old for
    /// Kafka 4. The watch hears of it.
    func explain(_ error: KafkaError) -> KafkaError {
        let error = plain(error)
        if error.brokerFailure != nil || error.isAllBrokersDown { watch?.noteFailure(error.brokerFailure?.cause) }
        guard error.isAuthentication, KafkaLibrary.needsScramHint(mechanism: saslMechanism, version: rd_kafka_version()) else {
            return error
        }
        return error.saying("\(error.message). \(KafkaLibrary.scramHint)")
    }

    private func plain(_ error: KafkaError) -> KafkaError {
        if error.isAllBrokersDown { return error.saying("no broker answers") }
        let message = redact(error.message)
        if message.hasPrefix(TokenKeeper.failed) { return error.saying(String(message.dropFirst(TokenKeeper.failed.count))) }
        if let failure = BrokerFailure(name: error.name, sentence: message) {
            return error.saying("\(failure)", brokerFailure: failure)
        }
        return message == error.message ? error : error.saying(message)
    }
}

/// The librdkafka that the program runs with.
public enum KafkaLibrary {
    /// The version in text, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// True if SASL SCRAM works against Kafka 4 and later, which refuse the nonce sent by librdkafka before 2.6.1.
    public static var supportsScramOnKafka4: Bool { rd_kafka_version() >= firstWithValidNonce }

    /// librdkafka 2.6.1, `RD_KAFKA_VERSION` in rdkafka.h.
    private static let firstWithValidNonce: Int32 = 0x0206_01ff

    static func needsScramHint(mechanism: String?, version: Int32) -> Bool {
        guard let mechanism else { return false }
        return version < firstWithValidNonce && mechanism.uppercased().hasPrefix("SCRAM-")
    }

    static var scramHint: String {
        "If user and password are right: librdkafka \(version) cannot log in with SCRAM to Kafka 4 or later. Use librdkafka 2.6.1 or "
            + "later, or sasl.mechanism=PLAIN over TLS"
    }
}
