import CRDKafka
import Synchronization

/// The `rd_kafka_conf_t` of a client to be made: our defaults, then the user's properties, then what the guarantees rest on.
///
/// A class, so that a conf left over by a failed initialiser is destroyed; `rd_kafka_new` takes it over only when it succeeds.
final class ClientSettings {
    typealias Setting = (key: String, value: String)

    /// The treatment of an error or log line before anybody sees it.
    let diagnosis: Diagnosis
    /// Tells the client of changes.
    let live: LiveProperties?
    /// The epoch of `live` from which the properties and files are.
    let epoch: Int
    /// Gives the client tokens, if it needs some.
    let tokens: TokenKeeper?
    private let brokers: String
    private var conf: OpaquePointer?
    private var isWatched = false
    /// The confs whose interceptors the library has freed, as bits of their pointers. Nothing else is locked while they are held.
    private static let spoiled = Mutex<[UInt]>([])
    /// True if the last watched client could not be made, so that the next is tried without a watch first.
    private static let hasFailed = Atomic<Bool>(false)

    /// Fills a conf from `configuration`, whose properties win over `defaults` and may not name what is `fixed`. Throws an error
    /// that names the property which is unknown, refused, or has an unacceptable value.
    init(_ configuration: KafkaConfiguration, defaults: [Setting], fixed: [Setting]) throws(KafkaError) {
        var configuration = configuration
        live = configuration.live
        epoch = live?.epoch ?? 0
        if let live { configuration.properties = live.renewed(configuration.properties) }
        diagnosis = Diagnosis(configuration)
        tokens = configuration.fetchesTokens ? configuration.tokens : nil
        brokers = configuration.bootstrapServers
        conf = rd_kafka_conf_new()
        try Self.validate(configuration, fixed: fixed)
        for setting in Self.commonDefaults + defaults { try set(setting.key, to: setting.value) }
        for property in configuration.properties where tokens == nil || !TokenKeeper.reads(property.key) {
            try set(property.key, to: property.value)
        }
        try set("client.id", to: configuration.clientID)
        try set("bootstrap.servers", to: configuration.bootstrapServers)
        try set("log.queue", to: "true")
        for setting in fixed { try set(setting.key, to: setting.value) }
        if diagnosis.needsTokens { rd_kafka_conf_enable_sasl_queue(conf, 1) }
    }

    deinit {
        if let conf { rd_kafka_conf_destroy(conf) }
    }

    /// Lends the conf for callbacks and events, which have calls of their own.
    func withConf(_ body: (OpaquePointer) -> Void) {
        if let conf { body(conf) }
    }

    /// Has the watch, if there is one, hear of the client's requests.
    func registerWatch() {
        guard let conf, let watch = diagnosis.watch else { return }
        watch.register(in: conf)
        isWatched = true
    }

    /// Has the watch know that a client is made, which asks the brokers.
    func noteQuestion() { diagnosis.watch?.asked(brokers) }

    /// Makes the client. The conf is gone afterwards.
    ///
    /// Where the library cannot make one it has freed the interceptors of the conf, and would free them again with the conf (2.0.2,
    /// `rd_kafka_new`). Such a conf is kept for ever. So that a file which stays unusable costs one alone, whoever tries again does so with
    /// a copy first, which has no interceptors.
    func makeClient(_ type: rd_kafka_type_t) throws(KafkaError) -> OpaquePointer {
        if isWatched, Self.hasFailed.load(ordering: .relaxed) {
            let copy = rd_kafka_conf_dup(conf)
            do throws(KafkaError) {
                rd_kafka_destroy(try newClient(type, of: copy))
            } catch {
                rd_kafka_conf_destroy(copy)
                throw error
            }
        }
        do throws(KafkaError) {
            let client = try newClient(type, of: conf)
            conf = nil
            if isWatched { Self.hasFailed.store(false, ordering: .relaxed) }
            return try withTokens(client)
        } catch {
            if isWatched, let spoiled = conf {
                Self.spoiled.withLock { $0.append(UInt(bitPattern: spoiled)) }
                conf = nil
                Self.hasFailed.store(true, ordering: .relaxed)
            }
            throw error
        }
    }

    private func newClient(_ type: rd_kafka_type_t, of conf: OpaquePointer?) throws(KafkaError) -> OpaquePointer {
        var reason = [CChar](repeating: 0, count: 512)
        if let client = rd_kafka_new(type, conf, &reason, reason.count) { return client }
        let code = rd_kafka_last_error()
        let why = text(reason)
        if let file = Self.unusableFile(why) { throw file }
        // Else it refuses properties that do not go together, and names them in such quotes.
        let property =
            code == RD_KAFKA_RESP_ERR__INVALID_ARG ? why.split(separator: "`").dropFirst().first.map(String.init) : nil
        throw diagnosis.explain(KafkaError(code, message: "cannot make a Kafka client: \(why)", property: property))
    }

    private func withTokens(_ client: OpaquePointer) throws(KafkaError) -> OpaquePointer {
        // The library's own tokens are renewed in a thread of its own. Else calls that block before the first poll have none.
        if diagnosis.needsTokens, tokens == nil,
            let error = KafkaError(consuming: rd_kafka_sasl_background_callbacks_enable(client))
        {
            rd_kafka_destroy(client)
            throw error
        }
        return client
    }

    private func set(_ key: String, to value: String) throws(KafkaError) {
        var reason = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(conf, key, value, &reason, reason.count)
        guard result != RD_KAFKA_CONF_OK else { return }
        let isUnknown = result == RD_KAFKA_CONF_UNKNOWN
        let isSecret = KafkaConfiguration.Property(key: key, value: value).isSecret
        let why =
            isUnknown ? "there is no such property" : isSecret ? "its value is not accepted" : diagnosis.redact(text(reason))
        throw KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, message: "Kafka property '\(key)': \(why)", property: key)
    }
}

extension ClientSettings {
    /// The settings that both sides start from (rdkafka `CONFIGURATION.md`): no Nagle delay, quick reconnects, and a
    /// connection is given up when an answer takes 10 s, not a minute.
    private static var commonDefaults: [Setting] {
        [
            ("socket.nagle.disable", "true"), ("socket.keepalive.enable", "true"), ("reconnect.backoff.ms", "50"),
            ("reconnect.backoff.max.ms", "2000"), ("socket.timeout.ms", "10000"),
        ]
    }

    /// The properties that this module sets by itself, and how the user says the same thing, or nil if there is no way.
    private static var reserved: [String: String?] {
        [
            "bootstrap.servers": "the setting for the bootstrap servers",
            "metadata.broker.list": "the setting for the bootstrap servers",
            "group.id": "the setting for the group", "group.instance.id": "the setting for the worker's name",
            "transactional.id": "the setting for the worker's name", "enable.auto.commit": nil, "auto.commit.enable": nil,
            "enable.auto.offset.store": nil, "isolation.level": nil, "enable.idempotence": nil, "log.queue": nil,
            "enable.partition.eof": nil, "test.mock.num.brokers": nil, "client.id": "the setting for the client's name",
        ]
    }

    private static func validate(_ configuration: KafkaConfiguration, fixed: [Setting]) throws(KafkaError) {
        if configuration.bootstrapServers.isEmpty { throw refused("bootstrap.servers", because: "no broker is named") }
        if configuration.clientID.isEmpty || configuration.clientID.utf8.count > 100 {
            throw refused("client.id", because: "it must have 1 to 100 characters")
        }
        for property in configuration.properties {
            if let instead = reserved[property.key] {
                throw refused(
                    property.key,
                    because: instead.map { "use \($0) instead" } ?? "it is set by the program, because its guarantees rest on it")
            }
            if fixed.contains(where: { $0.key == property.key }) {
                throw refused(property.key, because: "it is set by the program, because its guarantees rest on it")
            }
            if property.key == "partition.assignment.strategy", property.value.contains("cooperative") {
                throw refused(property.key, because: "only the eager strategies range and roundrobin are supported")
            }
            if property.value.utf8.contains(0) { throw refused(property.key, because: "its value holds a zero byte") }
        }
    }

    /// The meaning of a sentence such as `ssl.key.location failed: error:…`.
    private static func unusableFile(_ why: String) -> KafkaError? {
        guard let end = why.firstRange(of: " failed: ")?.lowerBound, why[..<end].hasSuffix(".location") else { return nil }
        let key = String(why[..<end])
        let password = key == "ssl.ca.location" || key == "ssl.crl.location" ? "" : ", or ssl.key.password is wrong"
        return refused(key, because: "its file is missing, not readable or no PEM\(password)")
    }

    private static func refused(_ key: String, because why: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, message: "Kafka property '\(key)': \(why)", property: key)
    }
}

/// The text of a C buffer up to its zero byte.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
