package import Kafka

/// The headers of a record of a delay lane or of the topic of held requests, if it waits for a group.
package struct WaitingRecord {
    /// The record that its request was published with.
    package struct Origin {
        package let topic: String
        package let partition: Int32
        package let offset: Int64
    }

    /// Nil if it names none, or none that there can be.
    package let origin: Origin?
    /// The publication of its request, milliseconds since 1970, or nil when that is not known.
    package let published: Int64?
    /// The due time of its continuation, milliseconds since 1970, or nil if it has none.
    package let due: Int64?
    /// The number of attempts so far of its calls.
    package let attempts: Int64
    /// True if it holds a poll for an outcome, and no request.
    package let isPoll: Bool

    /// Reads pushfan's own headers of a record. Those of another group's record give nil.
    package init?(_ headers: [String: String], of group: String) {
        guard headers["pushfan-group"] == group else { return nil }
        func number(_ name: String) -> Int64? { headers[name].flatMap { Int64($0) } }
        if let topic = headers["pushfan-origin-topic"], let offset = number("pushfan-origin-offset"),
            let partition = number("pushfan-origin-partition").flatMap({ Int32(exactly: $0) })
        {
            origin = Origin(topic: topic, partition: partition, offset: offset)
        } else {
            origin = nil
        }
        published = number("pushfan-origin-timestamp-ms")
        due = number("pushfan-not-before-ms")
        attempts = max(0, number("pushfan-attempt") ?? 0)
        isPoll = headers["pushfan-poll"] != nil
    }
}

/// The texts of a record's headers that are pushfan's own, by their names.
package enum OwnHeaders {
    /// Those of a record that is being read.
    package static func of(_ record: borrowing ConsumedRecord) -> [String: String] {
        var headers: [String: String] = [:]
        record.forEachHeader { name, value in
            guard let value, let title = title(name.withUnsafeBufferPointer { Array($0) }) else { return }
            headers[title] = value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
        return headers
    }

    /// Those of a record that was read.
    package static func of(_ record: FetchedRecord) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in record.headers {
            if let value, let title = title(name) { headers[title] = String(decoding: value, as: UTF8.self) }
        }
        return headers
    }

    private static func title(_ name: [UInt8]) -> String? {
        name.starts(with: "pushfan-".utf8) ? String(decoding: name, as: UTF8.self) : nil
    }
}
