import CRDKafka

/// A failure: librdkafka's code with its name, a sentence, and what the caller may do about it.
///
/// Codes above zero come from a broker, those below are raised by the library itself (`rd_kafka_resp_err_t`, rdkafka.h).
public struct KafkaError: Error, Sendable, Equatable {
    /// The number of the error, an `rd_kafka_resp_err_t`.
    public let code: Int32
    /// The name of the error, such as `_TRANSPORT` or `TOPIC_ALREADY_EXISTS`. It is bounded, so fit for a metric's label.
    public let name: String
    /// One sentence for a person, which never holds the value of a secret property.
    public let message: String
    /// The configuration property that was refused, if that is what went wrong.
    public let property: String?
    /// The client cannot be used any longer: destroy it and make another.
    public let isFatal: Bool
    /// The same call may be repeated as it is.
    public let isRetriable: Bool
    /// The open transaction must be aborted before anything else.
    public let requiresAbort: Bool
    /// The reason that a connection has failed, if that is what went wrong and the reason is known.
    public let brokerFailure: BrokerFailure?

    /// An error with a code of the library and, if given, a message in place of the library's.
    init(
        _ code: rd_kafka_resp_err_t, message: String? = nil, property: String? = nil, isFatal: Bool = false,
        isRetriable: Bool = false, requiresAbort: Bool = false, brokerFailure: BrokerFailure? = nil
    ) {
        self.code = code.rawValue
        name = String(cString: rd_kafka_err2name(code))
        self.message = message ?? String(cString: rd_kafka_err2str(code))
        self.property = property
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
        self.brokerFailure = brokerFailure
    }

    /// The error that `error` holds, which is destroyed. Nil if there is none.
    init?(consuming error: OpaquePointer?) {
        guard let error else { return nil }
        defer { rd_kafka_error_destroy(error) }
        self.init(
            rd_kafka_error_code(error),
            message: String(cString: rd_kafka_error_string(error)),
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            isRetriable: rd_kafka_error_is_retriable(error) != 0,
            requiresAbort: rd_kafka_error_txn_requires_abort(error) != 0)
    }

    /// Throws unless `code` says that all is well.
    static func check(_ code: rd_kafka_resp_err_t, what: @autoclosure () -> String) throws(KafkaError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw KafkaError(code, message: "\(what()): \(String(cString: rd_kafka_err2str(code)))")
    }

    /// An argument that this module refuses by itself.
    public static func invalidArgument(_ message: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, message: message)
    }

    /// A call on a client that was closed.
    static var closed: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__DESTROY, message: "the Kafka client is closed")
    }

    /// A client with properties, or certificates, of before (`LiveProperties`).
    static var outdated: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__OUTDATED, message: "the Kafka client has outdated properties", isFatal: true)
    }

    /// A record that is not taken because those before it are not written.
    public static var queueFull: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__QUEUE_FULL, message: "records wait to be written, and no broker confirms them in time")
    }

    /// A transaction that was confirmed, and of which the group's positions say that it did not take place.
    public static var lostTransaction: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__STATE, message: "the broker confirmed a transaction and has not carried it out")
    }

    /// A transaction that its own time-out ended, for which brokers fence the producer as if another one had taken its place.
    public static var overlongTransaction: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, message: "the transaction took longer than the broker keeps one open")
    }

    /// Another cluster that answers in the place of the first. No client of the process may go on.
    static func otherCluster(_ change: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__CONFLICT, message: change, isFatal: true)
    }

    /// A topic that is missing at present, or a partition of it.
    public static func unknownTopic(_ name: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, message: "topic '\(name)', or a partition of it, is missing")
    }

    /// A record for a delay lane while there is none.
    public static var noDelayLane: KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__NOENT, message: "no delay lane has a topic")
    }

    /// The same error with another sentence, and the reason for a connection's failure if one is given.
    func saying(_ message: String, brokerFailure: BrokerFailure? = nil) -> KafkaError {
        KafkaError(
            rd_kafka_resp_err_t(code), message: message, property: property, isFatal: isFatal, isRetriable: isRetriable,
            requiresAbort: requiresAbort, brokerFailure: brokerFailure ?? self.brokerFailure)
    }
}

extension KafkaError {
    /// No broker answered: the address, the network or the cluster is at fault.
    public var isUnreachable: Bool {
        matches(RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__RESOLVE) || isTimeout
    }

    /// True if the call ran out of time. Whether it took effect is not known.
    public var isTimeout: Bool {
        matches(RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
    }

    /// A record ran out of time before a broker confirmed it.
    public var isRecordTimeout: Bool { matches(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT) }

    /// The broker refused who we say we are, or TLS could not be agreed on.
    public var isAuthentication: Bool {
        brokerFailure?.cause == .certificateWanted
            || matches(
                RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR__SSL, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE)
    }

    /// The broker knows who we are and does not allow what was asked.
    public var isAuthorization: Bool {
        matches(
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    }

    /// True if a partition has no leader at present, or another than was asked. Asking again after a moment is worth while.
    var isLeaderUnknown: Bool {
        matches(
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH, RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE)
    }

    /// True if a partition has no leader that answers. Those of other partitions may.
    public var isLeaderAway: Bool { isLeaderUnknown || isUnreachable }

    /// The topic to be created is there already.
    public var isTopicAlreadyExists: Bool { matches(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) }

    /// The topic or partition does not exist.
    public var isUnknownTopicOrPartition: Bool {
        matches(
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
    }

    /// Another process took over our transactional id or our place in the group: this one must stop.
    public var isFenced: Bool {
        matches(
            RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
            RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
    }

    /// The group has gone on without this member: its partitions are others' by now.
    public var isOutOfGroup: Bool {
        matches(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
    }

    /// True if every broker is down, as far as the library knows. This is information only, for it keeps trying.
    public var isAllBrokersDown: Bool { matches(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) }

    /// A configuration property was refused.
    public var isConfiguration: Bool { property != nil }

    /// The commit's metadata is longer than the broker's `offset.metadata.max.bytes`.
    public var isMetadataTooLarge: Bool { matches(RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE) }

    /// A record, or a batch of them, is not taken as it is: for its size, its form, its time, a rule of the broker's, or because no delay
    /// lane has a topic.
    public var refusesRecords: Bool {
        matches(
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG,
            RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
            RD_KAFKA_RESP_ERR_POLICY_VIOLATION, RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
            RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__NOENT)
    }

    /// A record, or all records of a request together, have more bytes than brokers or the client take.
    public var isTooLarge: Bool {
        matches(
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE)
    }

    /// Fewer replicas of a partition are in sync than the topic asks for, so that its leader takes no record.
    public var isNotEnoughReplicas: Bool {
        matches(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    }

    /// As many records wait to be written as the client keeps.
    public var isQueueFull: Bool { matches(RD_KAFKA_RESP_ERR__QUEUE_FULL) }

    /// The client works, and another must replace it: its properties, or the certificates that they name, have changed.
    public var isOutdated: Bool { matches(RD_KAFKA_RESP_ERR__OUTDATED) }

    /// Another cluster answers than the first that the process has seen.
    public var isOtherCluster: Bool { isFatal && matches(RD_KAFKA_RESP_ERR__CONFLICT) }

    /// The client was closed before the call.
    public var isClosed: Bool { matches(RD_KAFKA_RESP_ERR__DESTROY) }

    private func matches(_ codes: rd_kafka_resp_err_t...) -> Bool {
        codes.contains { $0.rawValue == code }
    }
}

extension KafkaError: CustomStringConvertible {
    /// The message with the error's name, unless the message says it all.
    public var description: String { brokerFailure != nil || isAllBrokersDown ? message : "\(message) (\(name))" }
}
