import Kafka
import Observability
import Settings

extension Settings {
    /// Has the Kafka clients that are made with these settings use the properties of `new`, which were checked, and says so in the log.
    func renewKafka(by new: Settings, log: Log) {
        switch liveProperties?.renew(new.kafkaConfiguration().properties) ?? .none {
        case .none: break
        case .login: log.info(.configurationLoaded, "Kafka's new user and password are used from the next connection on")
        case .reopening: log.info(.configurationLoaded, "Kafka's clients are opened again with the new properties")
        }
    }

    /// Throws the reason for which no Kafka client can be made with these settings and the properties of `new`.
    func checkKafka(with new: Settings, transactionalID: String?) throws(KafkaError) {
        var configuration = kafkaConfiguration()
        configuration.properties = new.kafkaConfiguration().properties
        try configuration.check(
            transactionalID: transactionalID, transactionTimeout: kafka.transactionTimeout, sessionTimeout: kafka.sessionTimeout)
    }

    /// Gives its Kafka clients properties that can change while the program runs.
    mutating func keepPropertiesLive() { liveProperties = LiveProperties(kafkaConfiguration().properties) }
}

extension Log {
    /// Warns of keys whose new values a running program does not take over, if there are some.
    func warnOfRestart(for keys: [String]) {
        guard !keys.isEmpty else { return }
        warning(
            .configurationDoubtful, "some changed settings take effect only after a restart",
            [.reason: .string(keys.joined(separator: ", "))])
    }

    /// Says why settings that were read again are not used.
    func refuseSettings(for error: any Error) { refuseSettings(because: "\(error)") }

    /// Says why settings that were read again are not used, in a sentence a line.
    func refuseSettings(because lines: String) {
        let reason = lines.split(separator: "\n").joined(separator: "; ")
        error(
            .configurationLoaded, "the new settings cannot be used; the previous ones stay", [.reason: .string(reason)])
    }
}
