import Delivery
package import Kafka
import PushModel
import Replay

/// A record of the dead-letter topic, and what it was before a worker gave it up (page Requests).
package struct DeadLetter {
    /// The prefixes of the headers that a worker added, in its three spellings.
    private static let added = ["pushfan-dlq-", "__connect.errors.", "kafka_dlt-"]

    /// The topic that it stood in.
    package let topic: String
    /// The partition that it stood in, or nil if it names none.
    package let partition: Int32?
    /// The offset that it had there, or nil if it names none.
    package let offset: Int64?
    /// The reason for which it could not be understood.
    package let reason: String
    /// The same in a sentence, or nil if it names none.
    package let message: String?
    let headers: [(name: [UInt8], value: [UInt8]?)]
    let key: [UInt8]?
    let value: [UInt8]?
    /// It holds the record byte for byte. One that was too large for a dead letter does not, nor one of which only the place is known, and
    /// a record without a value can be no request.
    let isWhole: Bool

    /// Reads a record, or returns nil for one that does not name its origin.
    package init?(_ record: FetchedRecord) {
        var said: [String: String] = [:]
        var own: [(name: [UInt8], value: [UInt8]?)] = []
        for (name, value) in record.headers {
            let text = String(decoding: name, as: UTF8.self)
            if Self.added.contains(where: text.hasPrefix) {
                if let value { said[text] = String(decoding: value, as: UTF8.self) }
            } else {
                own.append((name, value))
            }
        }
        guard let topic = said["pushfan-dlq-topic"], !topic.isEmpty else { return nil }
        self.topic = topic
        partition = said["pushfan-dlq-partition"].flatMap { Int32($0) }
        offset = said["pushfan-dlq-offset"].flatMap { Int64($0) }
        reason = said["pushfan-dlq-reason"] ?? ""
        message = said["pushfan-dlq-message"]
        headers = own
        key = record.key
        value = record.value
        isWhole = value != nil && said["pushfan-dlq-cut-bytes"] == nil && reason != Self.notTaken
    }

    /// The place that it stood at, or nil if it does not name all of it.
    var place: RecordPlace? {
        guard let partition, let offset else { return nil }
        return RecordPlace(topic: topic, partition: partition, offset: offset)
    }

    /// The reason of a letter that stands for a result which brokers do not take.
    package static let notTaken = "not_taken"

    /// True if it came from a lane, and a worker of this version could not understand its value either.
    func isBroken(in topics: Topics) -> Bool {
        guard let lane = topics.lane(of: topic), let value else { return false }
        var request = PushRequest()
        let origin = RecordOrigin(topic: topic, partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reader = RequestReader(from: lane == .own ? .own : .open)
        if case .unreadable = reader.read(value.span, headers: RecordHeaders(), origin: origin, into: &request) { return true }
        return false
    }

    /// The value with changes, or nil when it is no request, before or with them. Without any it stays the same, byte for byte.
    ///
    /// A `replacement` stands in place of the value before the changes.
    func edited(_ edits: [RequestEdit], replacement: [UInt8]? = nil) -> [UInt8]? {
        guard !edits.isEmpty || replacement != nil else { return value }
        return (replacement ?? value).flatMap { Self.edited($0, edits, topic: topic) }
    }

    /// The source that its headers name, as its publisher wrote it.
    var publisher: String? {
        headers.first { $0.name.elementsEqual("ce_source".utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    /// True if the record says that it is of this source: in a header, in its value, or in quotes in a value that is no JSON.
    func names(source: String) -> Bool {
        let text = Array(source.utf8)
        if headers.contains(where: { $0.name.elementsEqual("ce_source".utf8) && $0.value == text }) { return true }
        guard let value else { return false }
        var document = JSONDocument()
        if (try? document.read(value.span)) != nil { return document.text("source", of: document.root) == source }
        var quoted = ByteWriter()
        quoted.append(json: source)
        return value.firstRange(of: quoted.bytes) != nil
    }

    /// A value with changes, or nil when it is no request, before or with them.
    static func edited(_ value: [UInt8], _ edits: [RequestEdit], topic: String) -> [UInt8]? {
        var document = JSONDocument()
        guard (try? document.read(value.span)) != nil, document.kind(of: document.root) == .object else { return nil }
        let json = RequestEdit.apply(edits, to: document)
        var request = PushRequest()
        let origin = RecordOrigin(topic: topic, partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(from: .own).read(
            json.span, headers: RecordHeaders(), origin: origin, into: &request)
        return reading == .request ? json : nil
    }

    /// The reason for which a letter is not given back, or nil when it can be: that it was given back before, or its own fault.
    static func leftover(_ fault: Leftover?, of record: Original, after history: ReplayHistory) -> Leftover? {
        history.replayed(record).isEmpty ? fault : .replayed
    }

    /// The fault for which a letter does not go back as it is, or nil. One without an origin is nil itself.
    static func fault(of letter: DeadLetter?, in topics: Topics) -> Leftover? {
        guard let letter else { return .invalid }
        guard letter.isWhole else { return .cut }
        return letter.isBroken(in: topics) ? .broken : nil
    }
}
