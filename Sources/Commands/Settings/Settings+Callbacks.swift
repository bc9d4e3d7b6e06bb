public import CallbackRecords
public import CallbackRuntime
import Delivery

/// From settings to the configuration of the service that calls receivers.
extension Settings {
    /// The default of the address below.
    public static let callbackProbesDefault = "127.0.0.1:9466"

    /// The address of the service's health and metrics. Its default is neither the worker's nor the gateway's, so that all run on one machine.
    public var callbackProbes: String { origin(of: "listen") == .builtIn ? Self.callbackProbesDefault : listen.description }

    /// The topics of callbacks.
    public var callbackTopics: CallbackTopics {
        let topics = kafka.topics
        return CallbackTopics(
            results: topics.results, states: topics.callbacks, deadLetters: topics.callbackDeadLetters,
            replays: topics.callbackReplays)
    }

    /// The file of receivers.
    ///
    /// - Throws: `SettingsError` where no key names one.
    public func receiversFile() throws(SettingsError) -> String {
        if let file = callbacks.receiversFile { return file }
        throw SettingsError(problems: [missing("callbacks.receivers_file", expected: "the path of the file of receivers")])
    }

    /// The configuration of the service.
    ///
    /// - Parameter version: The program's version.
    /// - Returns: The configuration. Neither Kafka nor a receiver was contacted, and the file of receivers not read.
    /// - Throws: `SettingsError` naming every key that is missing.
    public func callbackConfiguration(version: String) throws(SettingsError) -> CallbackServiceConfiguration {
        CallbackServiceConfiguration(
            kafka: kafkaConfiguration(), topics: callbackTopics, groupID: callbacks.groupID,
            receiversFile: try receiversFile(), version: version, instance: callbacks.instance)
    }
}
