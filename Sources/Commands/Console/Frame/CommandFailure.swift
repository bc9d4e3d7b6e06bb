public import Kafka

/// The reason for which a command cannot go on, as a text for a person and an exit code for a script.
public struct CommandFailure: Error, Sendable, Equatable {
    /// The number that the program ends with.
    public let code: ExitCode
    /// One or more plain lines without secrets, empty when everything was written before.
    public let message: String
    /// The remedy, if there is one to name.
    public let hint: String?

    /// A failure that ends the program with `code`.
    public init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// A command line that cannot be understood.
    public static func usage(_ message: String, hint: String? = nil) -> CommandFailure {
        CommandFailure(.usage, message, hint: hint)
    }

    /// The hint where Kafka knows no such topic, which it also says to a user without the right to see it.
    static let missingTopicHint =
        "`pushfan topics create` makes the topics that are missing; one that is there is hidden from a user without the right Describe"

    /// The reader of standard output has gone, which is its right.
    static let brokenPipe = CommandFailure(.done, "")
}

extension CommandFailure {
    /// The meaning of an error of Kafka for a command that cannot go on without it.
    ///
    /// - Parameters:
    ///   - error: The library's error.
    ///   - brokers: The addresses that were called.
    ///   - action: The attempted action, such as `create the topics`.
    public init(_ error: KafkaError, brokers: String, action: String) {
        let told = Sanitised.line(error.description)
        if error.isAuthentication || error.isAuthorization {
            self.init(
                .notAllowed, "the broker at \(brokers) does not let us \(action): \(told)",
                hint: error.brokerFailure?.cause.question)
        } else if error.isConfiguration {
            self.init(.configuration, "kafka.properties: \(told)")
        } else if error.isUnknownTopicOrPartition {
            self.init(.failed, "cannot \(action): \(told)", hint: CommandFailure.missingTopicHint)
        } else if error.isUnreachable {
            let reason = error.brokerFailure?.cause
            let what = reason?.isRefusal == true ? "no broker lets us in" : "no broker answers"
            self.init(
                .unreachable, "cannot \(action): \(what) at \(brokers) (\(reason?.rawValue ?? Sanitised.line(error.message)))",
                hint: reason?.isRefusal == true
                    ? reason?.question : "give the right address with --bootstrap or PUSHFAN_KAFKA_BOOTSTRAP_SERVERS")
        } else {
            self.init(.failed, "cannot \(action): \(told)")
        }
    }
}
