import Basics
package import JobSupport
import PushModel
package import Replay

/// Dead letters, newest first.
package struct DeadLetterPage: Sendable {
    /// The size of a page.
    package struct Terms: Sendable {
        /// The most bytes of rows in a page, 4 MiB, so that answers to many who read slowly have room together. One larger row comes alone.
        package static let byteLimit = 4 << 20

        /// The most rows.
        let limit: Int
        /// The bytes of rows beyond which the page ends, but for the first row.
        let byteLimit: Int
        /// True if rows have their values.
        let withValues: Bool

        /// A page of `limit` rows at most, 1 to 10,000. A number beyond is taken as the nearest of these.
        package init(limit: Int, byteLimit: Int = byteLimit, withValues: Bool = false) {
            self.limit = min(max(1, limit), 10_000)
            self.byteLimit = byteLimit
            self.withValues = withValues
        }

        /// The first rows that have room in a page, at least one of any.
        func fitting(_ rows: [Row]) -> [Row] {
            var byteCount = 0
            let count = rows.prefix { row in
                byteCount += row.jsonByteCount
                return byteCount <= byteLimit
            }.count
            return Array(rows.prefix(max(1, count)))
        }
    }

    /// One dead letter.
    package struct Row: Sendable {
        /// Its place in the dead-letter topic, and the time at which it was written, if the topic keeps times.
        package let record: Original
        /// The topic that it came from, or nil if it names none.
        package let topic: String?
        /// The reason for which it could not be understood, or nil if it names none.
        package let code: String?
        /// The same in a sentence, or nil if it names none.
        package let message: String?
        /// The reason for which it cannot be given back as it is, or nil when it can.
        package let leftover: Leftover?
        /// The bytes of the value.
        package let byteCount: Int
        /// The value, as far as the dead letter holds it, or nil if it has none, or none was asked for.
        package let value: [UInt8]?
        /// The place that it came from, or nil if it does not name all of it.
        package var source: RecordPlace?

        /// The most bytes that its JSON can have.
        var jsonByteCount: Int {
            let texts = [topic, topic, code, message].reduce(0) { $0 + ($1.map { Self.jsonByteCount($0.utf8) } ?? 0) }
            guard let value else { return texts + 512 }
            let isText = String(validating: value, as: UTF8.self) != nil
            return texts + (isText ? Self.jsonByteCount(value) : (value.count + 2) / 3 * 4) + 512
        }

        private static func jsonByteCount(_ text: some Sequence<UInt8>) -> Int {
            text.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
        }

        /// One line of JSON, with the value where it was asked for: as text when it is UTF-8 and else in Base64 (RFC 4648 section 4).
        package var json: [UInt8] {
            var object = JSONObject([
                "id": record.description, "at": record.publishedAt?.text, "topic": topic, "from": source?.description,
                "code": code, "message": message,
                "bytes": byteCount, "can_go_back": leftover == nil, "left": leftover?.rawValue,
            ])
            guard let value else { return object.bytes }
            if let text = String(validating: value, as: UTF8.self) {
                object.add("value", value: text)
            } else {
                object.add("value_base64", value: String(decoding: Base64.encode(value), as: UTF8.self))
            }
            return object.bytes
        }
    }

    /// The letters, newest first.
    package let rows: [Row]
    /// The text with which the next page is asked for, or nil when there is none.
    package let next: String?
    /// The number of records that were read for this page.
    package let searched: Int
}

/// The place of a dead letter in the order of a list: by the times of the records, and among equal ones by partition and offset.
package struct DeadLetterOrder: Comparable {
    package let time: Int64
    package let partition: Int32
    package let offset: Int64

    /// The place in the order.
    package init(time: Int64, partition: Int32, offset: Int64) {
        self.time = time
        self.partition = partition
        self.offset = offset
    }

    /// Reads what `text` has written.
    package init(cursor: String) throws(JobFailure) {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = Int64(parts[0]), let partition = Int32(parts[1]), let offset = Int64(parts[2]),
            (0 ... .max - 1).contains(time), partition >= 0, offset >= 0
        else { throw .cursor }
        self.init(time: time, partition: partition, offset: offset)
    }

    /// The cursor of a page that ends here.
    package var text: String { "\(time).\(partition).\(offset)" }

    package static func < (left: Self, right: Self) -> Bool {
        (left.time, left.partition, left.offset) < (right.time, right.partition, right.offset)
    }
}
