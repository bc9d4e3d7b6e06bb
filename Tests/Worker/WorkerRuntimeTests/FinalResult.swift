import Delivery
import Foundation
import Kafka

/// A final result, with the record that carried it.
struct FinalResult {
    let record: ReadBack
    let json: [String: Any]

    init(_ record: ReadBack) throws {
        self.record = record
        json = try JSONSerialization.jsonObject(with: Data(record.value ?? [])) as? [String: Any] ?? [:]
    }

    var requestID: String { self["request_id"] ?? "" }

    /// The value at a path such as `error.code` or `sends.0.outcome`.
    subscript<Value>(_ path: String) -> Value? {
        var value: Any? = json
        for step in path.split(separator: ".") {
            if let index = Int(step), let list = value as? [Any] {
                value = list.indices.contains(index) ? list[index] : nil
            } else {
                value = (value as? [String: Any])?[String(step)]
            }
        }
        return value as? Value
    }

    /// State, outcome, reason and number of attempts in one line.
    var summary: String {
        let code: String? = self["error.code"]
        let (state, outcome): (String?, String?) = (self["state"], self["outcome"])
        let attempts: Int? = self["attempt_count"]
        return "\(state ?? "-") \(outcome ?? "-") \(code ?? "-") \(attempts ?? -1)"
    }
}

/// A record as it was read.
struct ReadBack {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [(name: String, value: [UInt8]?)] = []
    var partition: Int32
    var offset: Int64
    var mark: RecordMark

    init(_ record: borrowing ConsumedRecord) {
        partition = record.partition
        offset = record.offset
        mark = RecordMark(offset: record.offset, time: record.timestamp, key: record.key, value: record.value)
        if let span = record.key { key = Self.bytes(span) }
        if let span = record.value { value = Self.bytes(span) }
        var list: [(name: String, value: [UInt8]?)] = []
        record.forEachHeader { name, value in
            var copy: [UInt8]?
            if let value { copy = Self.bytes(value) }
            list.append((String(decoding: Self.bytes(name), as: UTF8.self), copy))
        }
        headers = list
    }

    private static func bytes(_ span: Span<UInt8>) -> [UInt8] { span.withUnsafeBufferPointer { Array($0) } }

    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
