import Basics
import HTTPServing
import PushModel
import Publishing

/// How a body of `POST /v1/requests` holds the request.
package enum PublishForm: Sendable, Equatable {
    /// It is the request: `application/json`.
    case request
    /// It is an event whose data is the request (CloudEvents HTTP binding 1.0.2, section 3.2).
    case structuredEvent
    /// It is the request, and headers `ce-…` make it an event (section 3.1).
    case binaryEvent

    /// The form of a body. Nil for one that is not admitted.
    init?(_ mediaType: String?, headers: HTTPFields) {
        switch mediaType {
        case RequestWriter.eventContentType: self = .structuredEvent
        case "application/json": self = headers.count(of: "ce-specversion") == 0 ? .request : .binaryEvent
        default: return nil
        }
    }
}

/// The attributes of a CloudEvent that holds a request (CloudEvents 1.0.2, section 3).
package struct CloudEvent: Sendable, Equatable {
    /// Those that become headers of the record, in their order there.
    private static let kept = ["type", "time", "expirytime", "partitionkey", "traceparent", "tracestate"]
    private static let read = ["specversion", "id", "source"] + kept

    /// The header fields of a binary event that are read.
    package static let fieldNames = read.map { "ce-" + $0 }

    /// The values by the attributes' names.
    private let values: [String: String]
    /// The attributes whose header says no text.
    private var unreadable: [String] = []

    var source: String? { values["source"] }

    /// Reads the headers of a binary event.
    init(_ headers: HTTPFields) {
        var values: [String: String] = [:]
        for name in Self.read {
            guard let field = headers.single("ce-" + name) else { continue }
            values[name] = Self.value(field)
            if values[name] == nil { unreadable.append(name) }
        }
        self.values = values
    }

    /// The text that a header of a binary event says: in quotes or not, and then percent-encoded UTF-8 (HTTP binding, section 3.1.3.2). Nil
    /// for anything else. The replacement character stands for bytes that came, and are no UTF-8: that character itself is encoded.
    static func value(_ field: String) -> String? {
        guard let text = field.unquoted, !text.unicodeScalars.contains("\u{FFFD}"),
            let bytes = PercentEncoding.decode(Array(text.utf8)[...], plusIsBlank: false)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Reads the members of a structured event.
    init(_ document: borrowing JSONDocument) {
        var values: [String: String] = [:]
        var members = document.children(of: document.root)
        while let (key, value) = members.next(in: document) {
            guard document.kind(of: value) == .string else { continue }
            let name = document.string(document.text(of: key))
            if Self.read.contains(name) { values[name] = document.string(document.text(of: value)) }
        }
        self.values = values
    }

    /// The headers that say the same of a record (CloudEvents Kafka binding, section 3.2).
    ///
    /// Its id and source are the request's own, which the writer of records knows.
    package var recordHeaders: [(name: String, value: String)] {
        Self.kept.compactMap { name in values[name].map { ("ce_" + name, $0) } }
    }

    /// All headers of the record that a binary event becomes, as far as a request is read by them.
    package var allHeaders: [(name: String, value: String)] {
        ["id", "source"].compactMap { name in values[name].map { ("ce_" + name, $0) } } + recordHeaders
    }

    /// The faults of the attributes, each named by its place in the body, or by its header.
    func faults(in form: PublishForm) -> [RequestFault] {
        var faults: [RequestFault] = []
        func add(_ name: String, rule: String) {
            faults.append(
                RequestFault(
                    .schemaInvalid, at: form == .structuredEvent ? "/\(name)" : "", message: "The event's \(name) \(rule)"))
        }
        for name in unreadable { add(name, rule: "must be UTF-8 with percent-encoding, in its header ce-\(name).") }
        if values["specversion"] != "1.0" { add("specversion", rule: "must be 1.0.") }
        for name in ["id", "source", "type"] where values[name]?.isEmpty ?? !unreadable.contains(name) {
            add(name, rule: "is missing.")
        }
        if let time = values["time"], Timestamp(time.utf8Span.span) == nil {
            add("time", rule: "must be a date and time such as 2026-11-21T17:00:00Z.")
        }
        return faults
    }
}
