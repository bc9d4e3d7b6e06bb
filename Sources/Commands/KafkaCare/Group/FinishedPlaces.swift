import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel
import ResultQuery

/// The records of some partitions that workers are done with, by the topics that workers write.
///
/// Done is what has a final result or became a dead letter, and what waits elsewhere: in a delay lane, as a held request, or as
/// one that was divided into parts. The continuation of a large request is done when the part that it begins with is a record of
/// its own, because one transaction wrote that and counted the continuation as read. A place counts together with the time of its
/// record, so that the records of a topic that was recreated since do not count for the new one.
struct FinishedPlaces {
    private struct Place {
        let offset: Int64
        /// The time of the record's publication, milliseconds since 1970, or -1 when that is not known.
        let time: Int64
    }

    /// The group whose waiting requests count, and its topics.
    private let terms: GroupTerms
    private let topics: Topics
    /// The state of requests that wait.
    private(set) var copies = DelayedCopies()
    /// The state of large requests.
    private(set) var wholes: WholeStarts
    private var places: [TopicPartition: [Place]] = [:]
    private var lows: [TopicPartition: Int64] = [:]
    private var document = JSONDocument()
    /// True if a newer version wrote some of it, so that this one does not know what is finished.
    private(set) var isNewer = false
    /// The parts that are records of their own, and the continuations.
    private var parts: Set<PartName> = []
    private var continuations: [(part: PartName, place: TopicPartition, offset: Int64, time: Int64?)] = []

    private struct PartName: Hashable {
        /// The digest of its request's key.
        let digest: UInt64
        let chunk: Int64
    }

    /// Nothing is known yet.
    init(of positions: [GroupPosition], group terms: GroupTerms, outcomes topics: Topics) {
        self.terms = terms
        self.topics = topics
        wholes = WholeStarts(of: positions, topic: terms.parents)
        for position in positions {
            places[position.partition] = []
            lows[position.partition] = position.low
        }
    }

    /// Takes a record of a topic that workers write. Those of requests that wait have to be the first.
    mutating func take(_ record: borrowing ConsumedRecord, of topic: String) {
        // A dead letter has the headers of a record that anybody may have written.
        if topic == topics.deadLetters { return takeDeadLetter(record) }
        let kind = terms.kind(of: topic)
        let isWaiting = kind == .delayed || kind == .held
        if RecordFormat.isNewer(record, of: isWaiting ? terms.group : nil) { isNewer = true }
        if isWaiting {
            takeWaiting(record, of: topic)
        } else if kind == .parents {
            takeParent(record)
            wholes.take(record, of: topic)
        } else if topic == topics.results {
            takeResult(record)
        } else {
            takePart(record, of: topic)
        }
    }

    private mutating func takeResult(_ record: borrowing ConsumedRecord) {
        guard let value = record.value, document.readResult(value) else { return }
        let root = document.root
        guard document.text("kind", of: root) == "final", let origin = document.member("origin", of: root) else { return }
        let timings = document.member("timings", of: root)
        let time = timings.flatMap { document.text("published_at", of: $0) }.flatMap { Timestamp($0.utf8.span) }
        finish(
            topic: document.text("topic", of: origin), partition: document.integer("partition", of: origin),
            offset: document.text("offset", of: origin).flatMap { Int64($0) }, time: time?.milliseconds)
    }

    private mutating func takeDeadLetter(_ record: borrowing ConsumedRecord) {
        let headers = OwnHeaders.of(record)
        guard headers["pushfan-dlq-group"] == terms.group else { return }
        // A dead letter in place of a result has the time of the refusal, and in those of earlier versions that is the only one.
        let time = headers[headers["pushfan-dlq-reason"] == "not_taken" ? "pushfan-dlq-published-ms" : "pushfan-dlq-timestamp-ms"]
        finish(
            topic: headers["pushfan-dlq-topic"], partition: headers["pushfan-dlq-partition"].flatMap { Int64($0) },
            offset: headers["pushfan-dlq-offset"].flatMap { Int64($0) }, time: time.flatMap { Int64($0) })
    }

    private mutating func takeWaiting(_ record: borrowing ConsumedRecord, of topic: String) {
        guard let waiting = WaitingRecord(OwnHeaders.of(record), of: terms.group) else { return }
        let place = TopicPartition(topic: topic, partition: record.partition)
        if !waiting.isPoll { copies.take(waiting, at: place, offset: record.offset, written: record.timestamp) }
        guard let origin = waiting.origin else { return }
        add(topic: origin.topic, partition: origin.partition, offset: origin.offset, time: waiting.published, waits: true)
    }

    private mutating func takeParent(_ record: borrowing ConsumedRecord) {
        guard let key = record.key, let role = ParentKey.read(key)?.role, role == .parent, let value = record.value,
            let origin = ParentRecord(value)?.origin
        else { return }
        add(topic: origin.topic, partition: origin.partition, offset: origin.offset, time: origin.timestamp.milliseconds)
    }

    private mutating func takePart(_ record: borrowing ConsumedRecord, of topic: String) {
        guard let value = record.value else { return }
        do { try document.read(value) } catch { return }
        guard let parent = document.member("parent", of: document.root), let key = document.text("key", of: parent),
            let chunk = document.integer("chunk", of: parent)
        else { return }
        let part = PartName(digest: ParentKey(key).digest, chunk: chunk)
        if document.member("remaining", of: parent) == nil {
            parts.insert(part)
        } else {
            let place = TopicPartition(topic: topic, partition: record.partition)
            continuations.append((part, place, record.offset, record.timestamp))
        }
    }

    /// Notes that a request has its result, or became a dead letter.
    private mutating func finish(topic: String?, partition: Int64?, offset: Int64?, time: Int64?) {
        guard let topic, let offset, let partition = partition.flatMap({ Int32(exactly: $0) }) else { return }
        add(topic: topic, partition: partition, offset: offset, time: time)
        wholes.finish(topic: topic, partition: partition, offset: offset, time: time)
    }

    private mutating func add(topic: String, partition: Int32, offset: Int64, time: Int64?, waits: Bool = false) {
        if !waits { copies.finish(topic: topic, partition: partition, offset: offset, time: time) }
        let partition = TopicPartition(topic: topic, partition: partition)
        guard let low = lows[partition], offset >= low else { return }
        places[partition]?.append(Place(offset: offset, time: time ?? -1))
    }

    /// Puts them in order, once all were taken and before the first query.
    mutating func close() {
        for (part, place, offset, time) in continuations where parts.contains(part) {
            add(topic: place.topic, partition: place.partition, offset: offset, time: time)
        }
        for partition in lows.keys { places[partition]?.sort { $0.offset < $1.offset } }
    }

    /// True if workers are done with a record: its place is known as finished, and a known time of publication is the same.
    func contains(_ offset: Int64, of partition: TopicPartition, publishedAt time: Int64?) -> Bool {
        guard let list = places[partition] else { return false }
        var (first, end) = (0, list.count)
        while first < end {
            let middle = first + (end - first) / 2
            if list[middle].offset < offset { first = middle + 1 } else { end = middle }
        }
        while first < list.count, list[first].offset == offset {
            if list[first].time < 0 || time == nil || list[first].time == time { return true }
            first += 1
        }
        return false
    }
}
