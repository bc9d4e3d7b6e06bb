import Delivery
import GroupPositions
import Kafka
import PushModel

/// How a record of a delay lane is read: what `DelayRecorder` wrote.
extension DelayedRecord {
    /// The meaning of a record of a delay lane for this worker.
    enum Reading {
        /// A request that waits.
        case request(DelayedRecord)
        /// A call whose outcome must be polled.
        case poll(OutcomePoll)
        /// A record of another group, which shares the lane, with its name, unless it is a poll.
        case foreign(String?)
        /// Nothing that pushfan has written.
        case invalid
    }

    /// The headers that are the delay's own. They are not handed on.
    enum Header: String, CaseIterable {
        case notBefore = "pushfan-not-before-ms"
        case group = "pushfan-group"
        case lane = "pushfan-lane"
        case originTopic = "pushfan-origin-topic"
        case originPartition = "pushfan-origin-partition"
        case originOffset = "pushfan-origin-offset"
        case originTimestamp = "pushfan-origin-timestamp-ms"
        case attempt = "pushfan-attempt"
        case history = "pushfan-history"
        case poll = "pushfan-poll"
        /// Only what pushfan writes itself may say it: of a request that comes from a publisher it is taken away.
        case format = "pushfan-format"

        /// The one of them that a name is, if it is one.
        init?(_ name: Span<UInt8>) {
            // Most headers are none, and the first bytes tell.
            guard name.count > 8, name[0] == UInt8(ascii: "p"), name[7] == UInt8(ascii: "-") else { return nil }
            self.init(rawValue: String(decoding: name.withUnsafeBufferPointer { Array($0) }, as: UTF8.self))
        }
    }

    /// Reads the headers of a record of a delay lane, by its place in `DelayLanes.lengths`, or nil for the topic of held
    /// requests.
    static func read(_ record: borrowing ConsumedRecord, group: String, in delay: Int?, now: Timestamp) -> Reading {
        let poll = WaitingHeaders(record, group: group)
        if poll.isPoll {
            guard poll.isOurs ?? false else { return poll.isOurs == nil ? .invalid : .foreign(nil) }
            return delay.flatMap { OutcomePoll(record, due: poll.due, in: $0, now: now) }.map { .poll($0) } ?? .invalid
        }
        var values: [Header: [UInt8]] = [:]
        record.forEachHeader { name, value in
            guard let header = Header(name), let value else { return }
            values[header] = value.withUnsafeBufferPointer { Array($0) }
        }
        func text(_ header: Header) -> String? { values[header].flatMap { String(validating: $0, as: UTF8.self) } }
        func number(_ header: Header) -> Int64? { text(header).flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } }
        guard let owner = text(.group) else { return .invalid }
        guard owner == group else { return .foreign(owner) }
        guard let due = number(.notBefore), let lane = text(.lane).flatMap({ name in Lane.allCases.first { $0.name == name } }),
            let topic = text(.originTopic), (1...249).contains(topic.utf8.count),
            let partition = number(.originPartition).flatMap({ Int32(exactly: $0) }),
            let offset = number(.originOffset), let timestamp = number(.originTimestamp)
        else { return .invalid }
        let origin = RecordOrigin(
            topic: topic, partition: partition, offset: offset, timestamp: Timestamp(milliseconds: timestamp))
        var report = DeliveryReport()
        guard let bytes = values[.history], let history = try? DeliveryHistory(bytes.span, into: &report) else { return .invalid }
        var text = ByteWriter()
        text.append(bytes.span)
        let moment = Timestamp(milliseconds: due)
        let written = record.timestamp.map { Timestamp(milliseconds: $0) } ?? now
        let recheckTime = delay.map { DelayLanes.recheckTime(in: $0, written: written, due: moment, now: now) }
        return .request(
            DelayedRecord(
                due: moment, lane: lane, origin: origin, history: history, report: report, text: text,
                recheckTime: recheckTime ?? moment, writtenAt: written))
    }
}
