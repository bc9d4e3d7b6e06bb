package import JobSupport
package import Kafka
package import Replay

/// Finds the requests of a plan whose originals are no longer kept since it was made: retention has removed them, or their topic was made
/// again.
package struct GoneOriginals: Sendable {
    /// The number of originals that are shown.
    private static let sampleCount = 10

    /// The number of originals that are gone.
    package private(set) var count = 0
    /// The first of them.
    package private(set) var samples: [ReplayItem] = []
    /// The partitions concerned that begin elsewhere, and where they begin now.
    package private(set) var beginnings: [RecordPlace] = []
    /// The partitions concerned that were made again.
    package private(set) var remade: [TopicPartition] = []

    /// None is gone.
    package init() {}

    /// Queries the present offsets of the originals' topics, for the items from `number` on. Of each partition one record is read: a
    /// plan has seen all originals of it in one log.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - number: The first item that counts.
    ///   - isCancelled: Whether to give up.
    ///   - bounds: The offsets that the partitions of a topic have now.
    ///   - isReplaced: Whether another record than the original stands at its place.
    /// - Throws: The plan cannot be read, the job was cancelled, or Kafka fails.
    package init(
        _ plan: consuming ReplayPlanReader, from number: Int, isCancelled: () -> Bool = { false },
        bounds: (String) throws(JobFailure) -> [Int32: Range<Int64>],
        isReplaced: (ReplayItem) throws(JobFailure) -> Bool = { _ in false }
    ) throws(JobFailure) {
        var known: [String: [Int32: Range<Int64>]] = [:]
        var checked: Set<TopicPartition> = []
        while let item = try plan.nextItem() {
            if item.number & 0xFFF == 0, isCancelled() { throw .cancelled }
            guard item.number >= number else { continue }
            let topic = item.place.topic
            let partition = TopicPartition(topic: topic, partition: item.place.partition)
            if known[topic] == nil { known[topic] = try bounds(topic) }
            let kept = known[topic]?[partition.partition] ?? .max ..< .max
            if item.place.offset < kept.lowerBound {
                add(item, kept.lowerBound)
                continue
            }
            if checked.insert(partition).inserted {
                let isOther = kept.contains(item.place.offset) ? try isReplaced(item) : true
                if isOther { remade.append(partition) }
            }
            if remade.contains(partition) { add(item, nil) }
        }
    }

    private mutating func add(_ item: ReplayItem, _ start: Int64?) {
        count += 1
        if samples.count < Self.sampleCount { samples.append(item) }
        guard let start else { return }
        var place = item.place
        place.offset = start
        if !beginnings.contains(place) { beginnings.append(place) }
    }
}

extension JobContext {
    /// The offsets that each partition of a topic has now, or none of a topic that no longer exists.
    package func bounds(of topic: String) throws(JobFailure) -> [Int32: Range<Int64>] {
        do throws(KafkaError) {
            let reader = try TopicReader(surveying: topic, configuration: kafka, timeout: timeout)
            defer { reader.close() }
            return Dictionary(uniqueKeysWithValues: reader.bounds.enumerated().map { (Int32($0), $1) })
        } catch {
            if error.isUnknownTopicOrPartition { return [:] }
            throw .kafka(error, .findBeginning(of: topic))
        }
    }
}
