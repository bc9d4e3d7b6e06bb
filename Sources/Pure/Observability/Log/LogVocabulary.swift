/// The severity of a log line.
public enum LogLevel: UInt8, Sendable, CaseIterable, Comparable {
    /// One line per hub call, for a search after a fault.
    case debug
    /// The program's actions, and where the setting `log.requests` is `all` one line per request.
    case info
    /// Something went wrong and the program deals with it.
    case warning
    /// Something went wrong and needs a person.
    case error

    /// The word in the field `level`, which is also the word in the setting `log.level`.
    public var word: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// Orders levels by weight.
    public static func < (one: LogLevel, other: LogLevel) -> Bool { one.rawValue < other.rawValue }
}

/// The requests about whose end there is a line. The words are those of the setting `log.requests`.
public enum LoggedRequests: String, Sendable, CaseIterable {
    /// None.
    case off
    /// Those that did not succeed, as warnings, of which there is a bounded number.
    case failures
    /// All of them.
    case all
}

/// An event, from a closed list that alerts and searches can rely on.
public enum LogEvent: String, Sendable, CaseIterable {
    /// The program started. The line names its version.
    case started
    /// The program got a signal to stop and finishes the requests in flight.
    case draining
    /// The program ended.
    case stopped
    /// The settings were read.
    case configurationLoaded = "configuration_loaded"
    /// A setting is legal and yet likely to be a mistake.
    case configurationDoubtful = "configuration_doubtful"
    /// An HTTP listener is open. The line names its address.
    case listening
    /// Kafka gave or took partitions.
    case rebalanced
    /// No broker answers, or one answers again.
    case brokerConnection = "broker_connection"
    /// An error of the Kafka client that it deals with itself.
    case kafkaError = "kafka_error"
    /// Offsets or a transaction could not be committed.
    case commitFailed = "commit_failed"
    /// Brokers take this worker for an outdated one, or another process has its name.
    case fenced
    /// A request has its final result.
    case requestFinished = "request_finished"
    /// A record could not be understood and went to the dead-letter topic.
    case deadLettered = "dead_lettered"
    /// A request carries fields that this version does not know.
    case unknownFields = "unknown_fields"
    /// One call failed and will be made again.
    case retryScheduled = "retry_scheduled"
    /// A request waits in a delay lane.
    case requestDelayed = "request_delayed"
    /// A large request was divided into parts, or its parts cannot be counted.
    case requestExpanded = "request_expanded"
    /// The outcome of a call that the hub had accepted is known.
    case outcomeKnown = "outcome_known"
    /// The outcome of calls cannot be followed.
    case outcomesUnavailable = "outcomes_unavailable"
    /// A request was cancelled, or orders and cancellations cannot be read.
    case requestCancelled = "request_cancelled"
    /// An order is not obeyed, or the clock by which orders end has jumped.
    case ordersDoubtful = "orders_doubtful"
    /// Requests were held, limited or cancelled, or an order was released. The line says who, which and why.
    case orderGiven = "order_given"
    /// All devices of a user were removed, or could not be. The line says how many, and which key wanted it.
    case devicesErased = "devices_erased"
    /// The hub asked to wait.
    case hubThrottled = "hub_throttled"
    /// The hub does not accept the key.
    case hubUnauthorized = "hub_unauthorized"
    /// The hub cannot be reached, or can again.
    case hubConnection = "hub_connection"
    /// Calls to a hub that is out were stopped, or go on.
    case circuitChanged = "circuit_changed"
    /// A receiver of callbacks has other terms, is paused, disabled or asks to wait, or cannot be called.
    case receiverChanged = "receiver_changed"
    /// Results are gone before a receiver got them.
    case resultsLost = "results_lost"
    /// The file of answers to calls with keys cannot be used, or can again.
    case answerFile = "answer_file"
    /// The file of a hub of one's own cannot be opened or written, or can again.
    case hubFile = "hub_file"
    /// The time for which repeated publishes are found at the topics' present rate.
    case retryReach = "retry_reach"
    /// A health check changed its state.
    case healthChanged = "health_changed"
    /// Lines of an event were left out. The line has their number.
    case suppressed
    /// The program broke a rule of its own.
    case internalFault = "internal_fault"
}

/// The name of a field of a log line, as a closed list.
public enum LogKey: String, Sendable, CaseIterable {
    /// The request's identity.
    case requestID = "request_id"
    /// The hub's name.
    case hub
    /// The name of a receiver of callbacks.
    case receiver
    /// The platform's hub word.
    case platform
    /// The number of the attempt of a call, from 1. With a final result, the attempts of the call that had most.
    case attempt
    /// The error code, or the answer's status.
    case code
    /// The duration, in milliseconds.
    case durationMilliseconds = "duration_ms"
    /// The Kafka topic.
    case topic
    /// The Kafka partition.
    case partition
    /// The Kafka offset.
    case offset
    /// The worker's name.
    case worker
    /// The result's outcome.
    case outcome
    /// The reason, in plain words of our own or of a library, never a peer's text.
    case reason
    /// A number of things.
    case count
    /// The delay ahead, in milliseconds.
    case delayMilliseconds = "delay_ms"
    /// A network address.
    case address
    /// The hub's id for the notification.
    case notificationID = "notification_id"
    /// The service's id for the call.
    case trackingID = "tracking_id"
    /// The name of a setting.
    case setting
    /// The name of a health check.
    case check
    /// A state's word.
    case state
    /// The program's version.
    case version
    /// The event whose lines were left out.
    case suppressedEvent = "suppressed_event"
}
