import Kafka
package import Replay

/// Finds the requests of a plan whose originals retention has removed since it was made.
package struct GoneOriginals: Sendable {
    /// The number of originals that are shown.
    private static let sampleCount = 10

    /// The number of originals that are gone.
    package private(set) var count = 0
    /// The first of them.
    package private(set) var samples: [ReplayItem] = []
    /// The partitions concerned, and where they begin now.
    package private(set) var beginnings: [RecordPlace] = []

    /// None is gone.
    package init() {}

    /// Queries the present first offsets of the originals' topics, for the items from `number` on. No record is read.
    package init(
        _ plan: consuming ReplayPlanReader, from number: Int, isCancelled: () -> Bool = { false },
        starts: (String) throws(JobFailure) -> [Int32: Int64]
    ) throws(JobFailure) {
        var known: [String: [Int32: Int64]] = [:]
        while let item = try plan.nextItem() {
            if item.number & 0xFFF == 0, isCancelled() { throw .cancelled }
            guard item.number >= number else { continue }
            let topic = item.place.topic
            if known[topic] == nil { known[topic] = try starts(topic) }
            let start = known[topic]?[item.place.partition] ?? .max
            if item.place.offset < start { add(item, start) }
        }
    }

    private mutating func add(_ item: ReplayItem, _ start: Int64) {
        count += 1
        if samples.count < Self.sampleCount { samples.append(item) }
        var place = item.place
        place.offset = start
        if !beginnings.contains(place) { beginnings.append(place) }
    }
}

extension JobContext {
    /// The first offset of each partition of a topic, or none of a topic that no longer exists.
    package func firstOffsets(of topic: String) throws(JobFailure) -> [Int32: Int64] {
        do throws(KafkaError) {
            // To stop at the very first record is to read nothing.
            let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .time(0), timeout: timeout)
            defer { reader.close() }
            return reader.startOffsets
        } catch {
            if error.isUnknownTopicOrPartition { return [:] }
            throw .kafka(error, .findBeginning(of: topic))
        }
    }
}
