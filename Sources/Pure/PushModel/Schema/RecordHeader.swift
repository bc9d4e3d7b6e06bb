/// A header of a result's record, unless a setting leaves all of them out (page Results, "Reading the topic").
public enum ResultHeader: String, Sendable, CaseIterable {
    case contentType = "content-type"
    case specificationVersion = "ce_specversion"
    case id = "ce_id"
    case source = "ce_source"
    case type = "ce_type"
    case time = "ce_time"
    case subject = "ce_subject"
    case dataSchema = "ce_dataschema"
    case traceParent = "traceparent"
    case eventTraceParent = "ce_traceparent"
    case traceState = "tracestate"

    /// The value that it has in every result with headers, or nil where each has its own.
    public var fixedValue: String? {
        switch self {
        case .contentType: "application/json"
        case .specificationVersion: "1.0"
        case .type: "push.result.v1"
        case .dataSchema: MessageSchema.result.identifier
        case .id, .source, .time, .subject, .traceParent, .eventTraceParent, .traceState: nil
        }
    }

    /// True if every result with headers has it.
    public var isAlwaysThere: Bool { self != .eventTraceParent && self != .traceState }
}

/// A header of a dead letter, with text as its value; besides these it has those of the record itself.
public enum DeadLetterHeader: Sendable, CaseIterable {
    case topic, partition, offset, timestamp, group, reason, message, cutBytes, request, published

    /// The header's name.
    public var name: StaticString {
        switch self {
        case .topic: "pushfan-dlq-topic"
        case .partition: "pushfan-dlq-partition"
        case .offset: "pushfan-dlq-offset"
        case .timestamp: "pushfan-dlq-timestamp-ms"
        case .group: "pushfan-dlq-group"
        case .reason: "pushfan-dlq-reason"
        case .message: "pushfan-dlq-message"
        case .cutBytes: "pushfan-dlq-cut-bytes"
        case .request: "pushfan-dlq-request-id"
        case .published: "pushfan-dlq-published-ms"
        }
    }

    /// True if every dead letter has it.
    public var isAlwaysThere: Bool {
        switch self {
        case .cutBytes, .request, .published: false
        default: true
        }
    }
}
